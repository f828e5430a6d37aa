import { useEffect, useRef, useState } from 'preact/hooks'
import type { Graph, Problem, Schema } from '../api'
import { Canvas } from '../canvas'
import type { Client } from '../client'
import { Editor } from '../editor'
import { Answer, Census, Export, Plan, Progress, Table } from '../results'
import { duration, grouped } from '../results/number'
import { Draft } from './draft'
import { examples } from './examples'
import { Fields } from './Fields'
import { History } from './History'
import { LazyPicture } from './LazyPicture'
import { Names } from './Names'
import { Mistake, Notes } from './Notes'
import { useParts } from './parts'
import { PastQueries } from './past'
import { hashOf, kinds, nothing, requestOf, type Request } from './request'
import { reason, useRun, type Done, type Tab } from './run'
import { tabNames, Tabs } from './Tabs'
import { loadTheme, setTheme, type Theme } from './theme'

interface PageProps {
	api: Client
	/** Who asks; empty on a server without users. */
	user: string
	graphs: Graph[]
	/** Asks for the list of graphs again. */
	onRefresh(): Promise<void>
	/** null: nobody has signed in. */
	onSignOut: (() => void) | null
	onRefused(): void
}

/** How often the page asks for the list of graphs while it is looked at, in milliseconds. */
const refreshing = 30_000

/** Asks questions about the graphs of a server. */
export function Page(p: PageProps) {
	const { api, graphs, user } = p
	const [draft] = useState(() => new Draft(user))
	const [request, setRequest] = useState<Request>(() => withGraph(begin(draft, user), graphs))
	const [schema, setSchema] = useState<Schema | null>(null)
	const [problem, setProblem] = useState<Problem | null>(null)
	const [past] = useState(() => new PastQueries(user))
	const [list, setList] = useState(past.list)
	const [side, setSide] = useState(false)
	const [tab, setTab] = useState<Tab>('answer')
	const [done, setDone] = useState<Done | null>(null)
	const [said, setSaid] = useState('')
	const [saved, setSaved] = useState('') // what is to tell of the last file
	const [runs, setRuns] = useState(0)
	const [theme, setThemeState] = useState<Theme>(loadTheme)

	const [drawing, setDrawing] = useState(true)

	const read = useParts(api, request.query)
	const graph = graphs.find(g => g.name === request.graph)
	const first = useRef(request)

	useEffect(() => {
		let current = true
		setSchema(null)
		if (graph) api.schema(graph.name).then(s => current && setSchema(s), () => undefined)
		return () => {
			current = false
		}
	}, [api, graph?.name, graph?.version])

	const changePast = (f: () => void) => {
		f()
		setList(past.list)
	}
	useEffect(() => {
		const onStorage = (e: StorageEvent) => {
			if (e.key === past.key || e.key === null) changePast(() => past.reload())
		}
		addEventListener('storage', onStorage)
		return () => removeEventListener('storage', onStorage)
	}, [])

	useEffect(() => {
		const refresh = () => document.visibilityState === 'visible' && void now.current.refresh()
		const timer = setInterval(refresh, refreshing)
		addEventListener('visibilitychange', refresh)
		return () => {
			clearInterval(timer)
			removeEventListener('visibilitychange', refresh)
		}
	}, [])

	// A draft is kept when the user pauses, and when the page goes.
	const keepDraft = () => {
		const { request } = now.current
		if (request !== first.current) draft.keep(request, location.hash)
	}
	useEffect(() => {
		const timer = setTimeout(keepDraft, 300)
		return () => clearTimeout(timer)
	}, [request])
	useEffect(() => {
		addEventListener('pagehide', keepDraft)
		return () => {
			removeEventListener('pagehide', keepDraft)
			keepDraft()
		}
	}, [])

	const { busy, results, run, save, cancel, leave } = useRun({
		api,
		onResults(asked) {
			go(hashOf(asked))
			draft.keep(now.current.request, location.hash)
		},
		onDone(d) {
			setDone(d)
			setTab(d.tab)
			const cut = d.run.complete ? '' : `, cut short: ${reason(d.run.cut)}`
			setSaid(`${d.outcome}${cut}`)
			changePast(() => past.add({ request: d.request, at: Date.now(), outcome: d.outcome + (d.run.complete ? '' : ', cut short') }))
		},
		onProblem(x) {
			if (x.status === 401) return p.onRefused()
			if (x.kind === 'unknown_graph') void p.onRefresh()
			setProblem(x)
			setSaid('')
		},
		onSaved(text) {
			setSaved(text)
			setSaid(text)
		},
		say: setSaid,
	})

	const change = (part: Partial<Request>) => {
		setRequest(r => ({ ...r, ...part }))
		setProblem(null)
	}

	const open = (r: Request) => {
		change(withGraph(r, graphs))
		setSide(false)
	}

	/** Forgets what the address was about before. */
	const clear = () => {
		leave()
		setDone(null)
		setProblem(null)
		setSaid('')
		setSaved('')
	}

	const start = () => {
		if (busy) return
		setProblem(null)
		setSaid('Running')
		setSaved('')
		setRuns(runs + 1)
		run(request)
	}

	// The address names the query that the results are of: it changes when they come, and stays where a query fails. Its entries in the browser's history say whose they are.
	const address = useRef(location.hash)
	const go = (hash: string) => {
		address.current = hash
		if (hash !== location.hash) history.pushState({ user }, '', hash)
	}
	const onAddress = () => {
		if (location.hash === address.current) return
		address.current = location.hash
		const r = linked(user)
		history.replaceState({ user }, '', r ? location.hash : location.pathname + location.search)
		address.current = location.hash
		clear()
		open(r ?? { ...nothing, graph: request.graph })
	}

	// Keys and links act on what is there when they come.
	const now = useRef({ start, cancel, onAddress, busy, request, refresh: p.onRefresh })
	now.current = { start, cancel, onAddress, busy, request, refresh: p.onRefresh }
	useEffect(() => {
		const onKey = (e: KeyboardEvent) => {
			if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
				e.preventDefault()
				now.current.start()
			} else if (e.key === 'Escape' && !e.defaultPrevented && now.current.busy) {
				now.current.cancel()
			}
		}
		const onHash = () => now.current.onAddress()
		history.replaceState({ user }, '', location.href)
		addEventListener('keydown', onKey)
		addEventListener('hashchange', onHash)
		addEventListener('popstate', onHash)
		return () => {
			removeEventListener('keydown', onKey)
			removeEventListener('hashchange', onHash)
			removeEventListener('popstate', onHash)
		}
	}, [])

	const copyLink = async () => {
		const hash = hashOf(request)
		try {
			await navigator.clipboard.writeText(new URL(hash, location.href).href)
			setSaid('Copied the link')
		} catch {
			if (hash !== location.hash) clear() // the address is then of another query than the results
			go(hash)
			setSaid('The link is in the address bar: the browser does not allow copying')
		}
	}

	const tabs = (Object.keys(tabNames) as Tab[]).filter(t => (t === 'picture' ? results?.table?.kind === 'match' && results.table.length : results?.[t]))
	const shown = tabs.includes(tab) ? tab : tabs[0]
	const table = results?.table
	const listed = useParts(api, table?.query.query ?? '')
	const shownRun = shown && results && (shown === 'table' || shown === 'picture' ? table!.run : results[shown]!.run)
	const name = results?.graph || request.graph || 'weft'

	return (
		<div class="page">
			<header class="top">
				<h1>weft</h1>
				<button type="button" class="side-switch" aria-expanded={side} aria-controls="side" onClick={() => setSide(!side)}>
					Graphs<span> and history</span>
				</button>
				<span class="top-graph">
					{graph && (
						<>
							<strong>{graph.name}</strong> {sizes(graph)}
						</>
					)}
				</span>
				<label class="theme">
					<span class="hidden">Colours</span>
					<select
						value={theme}
						onChange={e => {
							const next = e.currentTarget.value as Theme
							setThemeState(next)
							setTheme(next)
						}}
					>
						<option value="system">As the system</option>
						<option value="light">Light</option>
						<option value="dark">Dark</option>
					</select>
				</label>
				{p.onSignOut && (
					<button type="button" onClick={p.onSignOut} title={`Signed in as ${user}`}>
						Sign out
					</button>
				)}
			</header>
			<aside id="side" class={side ? 'side side-open' : 'side'} aria-label="Graphs and history">
				<section aria-labelledby="graphs-title" onFocusIn={() => void p.onRefresh()} onMouseEnter={() => void p.onRefresh()}>
					<h2 id="graphs-title">Graphs</h2>
					{!graphs.length && <p class="soft">This server has no graphs that you may read.</p>}
					<ul class="graphs">
						{graphs.map(g => (
							<li key={g.name}>
								<button type="button" aria-pressed={g.name === request.graph} onClick={() => change({ graph: g.name })}>
									<span class="graphs-name">{g.name}</span>
									<span class="graphs-sizes">{sizes(g)}</span>
								</button>
							</li>
						))}
					</ul>
				</section>
				{schema && <Names schema={schema} />}
				<History list={list} onRequest={open} onRemove={x => changePast(() => past.remove(x))} onClear={() => changePast(() => past.clear())} />
			</aside>
			<main class="main">
				<section class="ask" aria-label="Question">
					<div class="ask-head">
						<fieldset class="choice">
							<legend class="hidden">Kind of question</legend>
							{kinds.map(k => (
								<label key={k.kind} title={k.says}>
									<input type="radio" name="kind" checked={request.kind === k.kind} onChange={() => change({ kind: k.kind })} />
									<span>{k.name}</span>
								</label>
							))}
						</fieldset>
						<div class="ask-tools">
							<button type="button" aria-pressed={drawing} onClick={() => setDrawing(!drawing)}>
								Drawing
							</button>
							<button type="button" onClick={() => void copyLink()}>
								Copy link
							</button>
						</div>
					</div>
					<div class="ask-text">
						<Editor text={request.query} onText={query => change({ query })} schema={schema} problem={problem} runs={runs} />
						{drawing && <Canvas parts={read.parts} problem={read.problem} schema={schema} query={request.query} onText={query => change({ query })} />}
					</div>
					<Fields request={request} directed={graph?.directed ?? false} onRequest={change} />
					<div class="ask-run">
						{busy ? (
							<button type="button" class="primary" onClick={cancel} disabled={busy.cancelled} aria-keyshortcuts="Escape">
								{busy.cancelled ? 'Cancelling' : 'Cancel'} <kbd>Esc</kbd>
							</button>
						) : (
							<button type="button" class="primary" onClick={start} disabled={!graph} aria-keyshortcuts="Control+Enter">
								Run <kbd>Ctrl Enter</kbd>
							</button>
						)}
						{busy ? (
							<Progress status={busy.status} rows={busy.saving ? 0 : (table?.length ?? 0)} begun={busy.begun} />
						) : (
							done && !problem && <span class="soft">{`${done.outcome} in ${duration(done.run.seconds)}`}</span>
						)}
					</div>
					{problem && <Mistake problem={problem} />}
					{!graph && request.graph && !problem && (
						<p class="mistake" role="alert">
							This server has no graph {request.graph}, or you may not read it. {graphs.length > 0 && 'Choose one of the list of graphs; the query stays as it is.'}
						</p>
					)}
				</section>
				<section class="results" aria-label="Results">
					{results && shown ? (
						<>
							<div class="results-head">
								<Tabs tabs={tabs} shown={shown} onTab={setTab} />
								{shown === 'table' && table && (
									<>
										<span class="results-count">
											{grouped(table.length)} {table.length === 1 ? 'row' : 'rows'}
										</span>
										<Export disabled={!!busy} onSave={(accept, end) => save(request, table, accept, name, end)} />
									</>
								)}
							</div>
							{shownRun && <Notes run={shownRun} full={shown === 'table' && table!.full} />}
							{saved && <p class="soft">{saved}</p>}
							<div class="results-body" role="tabpanel" id="panel" aria-labelledby={`tab-${shown}`}>
								{shown === 'answer' && <Answer answer={results.answer!} />}
								{shown === 'table' && table && (
									<Table rows={table.rows} length={table.length} growing={!table.run} say={setSaid} />
								)}
								{shown === 'picture' && table && (
									<LazyPicture
										api={api}
										graph={results.graph}
										schema={results.graph === request.graph ? schema : null}
										query={table.query.query!}
										options={{ semantics: table.query.semantics, induced: table.query.induced, allow_product: table.query.allow_product }}
										params={table.query.params ?? noParams}
										rows={table.rows.first}
										columns={table.rows.names}
										parts={listed.parts}
										cut={table.run?.complete === false}
									/>
								)}
								{shown === 'plan' && <Plan answer={results.plan!} name={name} />}
								{shown === 'census' && (
									<Census answer={results.census!} name={name} onPattern={query => change({ kind: 'count', query })} />
								)}
							</div>
						</>
					) : (
						graph &&
						!busy && (
							<div class="examples">
								<h2>Examples for {graph.name}</h2>
								<ul>
									{examples(graph, schema).map(e => (
										<li key={e.says}>
											<button type="button" onClick={() => open({ ...nothing, ...e.request, graph: graph.name })}>
												<span>{e.says}</span>
												<code>{e.request.query}</code>
											</button>
										</li>
									))}
								</ul>
							</div>
						)
					)}
				</section>
			</main>
			<div class="hidden" role="status">
				{said}
			</div>
		</div>
	)
}

const noParams = {}

/** The request of the address; null if it has none, or the browser's history has it from another user. */
function linked(user: string): Request | null {
	const state = history.state as { user?: string } | null
	return state?.user === undefined || state.user === user ? requestOf(location.hash) : null
}

/** What the page opens with: the link's request, or what the user had not asked yet. */
function begin(draft: Draft, user: string): Request {
	const link = linked(user)
	if (!link) {
		if (location.hash) history.replaceState(null, '', location.pathname + location.search)
		return draft.load('') ?? nothing
	}
	const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
	return (navigation?.type === 'reload' && draft.load(location.hash)) || link
}

/** The request about a graph that there is: the first one, if it names none. */
function withGraph(r: Request, graphs: Graph[]): Request {
	return r.graph ? r : { ...r, graph: graphs[0]?.name ?? '' }
}

function sizes(g: Graph): string {
	return `${grouped(g.vertices)} vertices · ${grouped(g.edges)} edges · ${g.directed ? 'directed' : 'undirected'}`
}
