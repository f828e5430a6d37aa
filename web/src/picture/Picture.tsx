import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Api, type Parameter, type Parts, ProblemError, type Query, type Row, type Schema, type Value } from '../api'
import { fileName } from '../results/file'
import { type Colours, fillOf } from './colours'
import { Count } from './count'
import { type Drawing, type Id, type Pair, degreesOf, drawingOf, inWords, plain, shapeOf, summary, withPairs } from './drawing'
import type { Emphasis } from './look'
import './picture.css'
import { returned, whole } from './returned'
import { sceneOf } from './scene'
import type { Shown, Stage } from './stage'
import { type About, about, between, labels as askLabels, mostEdges, mostVertices, neighbours } from './surroundings'
import { svgOf, written } from './svg'
import { Swatch } from './swatch'
import { onTheme, pageColours } from './theme'
import { Vertices } from './vertices'

const mostMatches = 500
const mostNear = 50
/** Neighbours that are added to a vertex on a click. */
const added = 25

function webgl(): boolean {
	const canvas = document.createElement('canvas')
	const context = canvas.getContext('webgl2') ?? canvas.getContext('webgl')
	context?.getExtension('WEBGL_lose_context')?.loseContext()
	return context !== null
}

/** useFirst is the first rows, and the same array as long as they are the same rows, while more rows come. */
function useFirst(rows: Row[], count: number): Row[] {
	const kept = useRef<Row[]>([])
	const first = rows.slice(0, count)
	if (first.length !== kept.current.length || first.some((r, i) => r !== kept.current[i])) kept.current = first
	return kept.current
}

const saying = (e: unknown) => (e instanceof ProblemError ? e.problem.detail : e instanceof Error ? e.message : String(e))

function save(name: string, type: string, text: string) {
	const a = document.createElement('a')
	a.href = URL.createObjectURL(new Blob([text], { type }))
	a.download = name
	a.click()
	setTimeout(() => URL.revokeObjectURL(a.href), 10_000)
}

/** Picture draws the first matches with their vertices and edges and, on wish, what is around them. */
export function Picture(p: {
	api: Api
	graph: string
	schema: Schema | null
	query: string
	/** What else the question says of matches. */
	options?: Pick<Query, 'semantics' | 'induced' | 'allow_product'>
	params: Record<string, Parameter>
	rows: Row[]
	columns: string[]
	parts: Parts | null
	/** Whether the result was cut short, so that there may be more matches. */
	cut?: boolean
}) {
	const id = useId()
	const frame = useRef<HTMLDivElement>(null)
	const box = useRef<HTMLDivElement>(null)
	const stage = useRef<Stage | null>(null)
	const [flat, setFlat] = useState(() => !webgl())
	const [colours, setColours] = useState<Colours | null>(null)
	const [directed, setDirected] = useState(false)
	const [count, setCount] = useState(20)
	const [near, setNear] = useState(false)
	const [per, setPer] = useState(5)
	const [wishBetween, setWishBetween] = useState<boolean | null>(null)
	const [extra, setExtra] = useState<Id[]>([])
	const [pairs, setPairs] = useState<Pair[]>([])
	const [labels, setLabels] = useState(new Map<string, string[]>())
	const [on, setOn] = useState<Emphasis>({ match: -1, vertex: null })
	const [known, setKnown] = useState<{ key: string; about: About } | null>(null)
	const [full, setFull] = useState<{ rows: Row[]; columns: string[] } | null>(null)
	const [running, setRunning] = useState(false)
	const [busy, setBusy] = useState('')
	const [note, setNote] = useState('')
	const [told, setTold] = useState('')

	// The picture of another query begins anew.
	const begin = p.rows[0]
	useLayoutEffect(() => {
		setExtra([])
		setPairs([])
		setFull(null)
		setOn({ match: -1, vertex: null })
		setNote('')
	}, [p.graph, p.query, begin])

	useEffect(() => {
		let gone = false
		p.api.graphs().then(
			({ graphs }) => gone || setDirected(graphs.find(g => g.name === p.graph)?.directed ?? false),
			e => gone || setNote(saying(e)),
		)
		return () => void (gone = true)
	}, [p.api, p.graph])

	const rows = useFirst(full?.rows ?? p.rows, count)
	const columns = full?.columns ?? p.columns
	const query = full ? whole(p.query) : p.query
	const base = useMemo(() => drawingOf(shapeOf(query, p.parts, columns), rows, count, directed), [rows, columns.join('\n'), query, p.parts, directed, count])
	const drawing = useMemo(() => withPairs(base, pairs), [base, pairs])
	const degrees = useMemo(() => degreesOf(drawing), [drawing])
	const missing = useMemo(() => (returned(query) ? shapeOf(query, p.parts, columns).roles.filter(r => r.column === null) : []), [query, p.parts, columns.join('\n')])
	// Without edges of a pattern the vertices would lie about alone.
	const wantsBetween = wishBetween ?? (!base.shaped && base.vertices.size > 1)

	useEffect(() => {
		if (!near && !wantsBetween && extra.length === 0) {
			setPairs([])
			setNote('')
			setBusy('') // what was asked before is not waited for
			return
		}
		const stop = new AbortController()
		const fetch = async () => {
			const notes: string[] = []
			const found: Pair[] = []
			const all = [...base.vertices.values()].map(v => v.id)
			const add = async (ids: Id[], without: Id[], most: number) => {
				const r = await neighbours(p.api, p.graph, ids, without, directed, most, stop.signal)
				found.push(...r.pairs)
				return r.more
			}
			if (near) {
				const more = await add(all.slice(0, mostVertices), all, per)
				if (more > 0) notes.push(`${more.toLocaleString('en')} ${more === 1 ? 'vertex has' : 'vertices have'} more neighbours.`)
				if (all.length > mostVertices) notes.push(`Only the first ${mostVertices} vertices have their neighbours.`)
			}
			if (extra.length > 0 && (await add(extra, [], added)) > 0) notes.push(`At most ${added} neighbours of a vertex are added.`)
			if (wantsBetween) {
				const r = await between(p.api, p.graph, [...withPairs(base, found).vertices.values()].map(v => v.id), directed, stop.signal)
				found.push(...r.pairs)
				if (!r.complete) notes.push(`Only ${mostEdges.toLocaleString('en')} edges are drawn.`)
			}
			setPairs(found)
			setNote(notes.join(' '))
		}
		setBusy('Asking the graph…')
		fetch()
			.catch(e => stop.signal.aborted || setNote(saying(e)))
			.finally(() => stop.signal.aborted || setBusy(''))
		return () => stop.abort()
	}, [base, near, per, extra, wantsBetween, directed, p.api, p.graph])

	useEffect(() => {
		const names = p.schema?.vertex_labels ?? []
		if (names.length === 0 || drawing.vertices.size === 0) {
			setLabels(new Map())
			return
		}
		const stop = new AbortController()
		askLabels(p.api, p.graph, [...drawing.vertices.values()].map(v => v.id), names, stop.signal).then(
			m => stop.signal.aborted || setLabels(m),
			e => stop.signal.aborted || setNote(saying(e)),
		)
		return () => stop.abort()
	}, [drawing, p.schema, p.api, p.graph])

	const chosen = on.vertex === null ? undefined : drawing.vertices.get(on.vertex)
	useEffect(() => {
		setKnown(null)
		if (!chosen) return
		const stop = new AbortController()
		about(p.api, p.graph, chosen.id, p.schema, stop.signal).then(
			a => stop.signal.aborted || setKnown({ key: chosen.key, about: a }),
			e => stop.signal.aborted || setNote(saying(e)),
		)
		return () => stop.abort()
	}, [chosen?.key, p.api, p.graph, p.schema])

	useEffect(() => {
		const read = () => frame.current && setColours(pageColours(frame.current))
		read()
		return onTheme(read)
	}, [])

	const shown: Shown | null = colours && { drawing, labels, on, colours }
	const latest = useRef(shown)
	latest.current = shown
	const empty = drawing.vertices.size === 0
	const ready = colours !== null && !empty
	useEffect(() => {
		if (!ready) return
		setRunning(true) // until the stage is there and the layout at rest
		let gone = false
		const listener = {
			vertex: (key: string | null) => setOn(o => ({ ...o, vertex: key })),
			running: (yes: boolean) => gone || setRunning(yes),
			lost: () => gone || setFlat(true),
		}
		const open = async () => {
			const made = flat ? (await import('./flat')).FlatStage : (await import('./webgl')).WebglStage
			if (!gone) stage.current = new made(box.current!, latest.current!, listener)
		}
		open().catch(e => {
			if (gone) return
			if (!flat) return setFlat(true)
			setNote(saying(e))
			setRunning(false)
		})
		return () => {
			gone = true
			stage.current?.kill()
			stage.current = null
		}
	}, [ready, flat])
	useEffect(() => {
		if (shown) stage.current?.show(shown)
	}, [drawing, labels, on, colours])

	const matches = drawing.matches.length
	const choose = (key: string | null) => {
		setOn(o => ({ ...o, vertex: key }))
		if (key !== null) stage.current?.look([key])
	}
	const step = (by: number) => {
		if (matches === 0) return
		const match = on.match < 0 ? (by > 0 ? 0 : matches - 1) : (on.match + by + matches) % matches
		setOn({ match, vertex: null })
		setTold(inWords(drawing, match))
		stage.current?.look(drawing.matches[match]!.vertices.filter(k => k !== null))
	}
	const all = () => {
		setOn({ match: -1, vertex: null })
		setTold('All matches.')
	}

	const keys: Record<string, () => void> = {
		ArrowLeft: () => stage.current?.pan(-0.1, 0),
		ArrowRight: () => stage.current?.pan(0.1, 0),
		ArrowUp: () => stage.current?.pan(0, -0.1),
		ArrowDown: () => stage.current?.pan(0, 0.1),
		'+': () => stage.current?.zoom(1.3),
		'=': () => stage.current?.zoom(1.3),
		'-': () => stage.current?.zoom(1 / 1.3),
		f: () => stage.current?.fit(),
		n: () => step(1),
		p: () => step(-1),
		Escape: all,
	}
	const steps: Record<string, [right: number, down: number]> = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] }
	const onKeyDown = (e: KeyboardEvent) => {
		const step = e.shiftKey && on.vertex !== null ? steps[e.key] : undefined
		const act = step ? () => stage.current?.move(on.vertex!, ...step) : keys[e.key]
		if (!act || e.ctrlKey || e.altKey || e.metaKey) return
		e.preventDefault()
		act()
	}

	const saveSvg = () => {
		if (!stage.current || !colours) return
		const key = roles.map(r => ({ name: r.name, fill: fillOf(colours, r.at) }))
		const title = on.match < 0 ? summary(drawing) : inWords(drawing, on.match)
		const name = fileName('matches', 'svg', p.cut ?? false)
		save(name, 'image/svg+xml', written(svgOf(sceneOf(drawing, labels, on, colours, stage.current.view(), title, key))))
		setTold(`The picture is saved as ${name}.`)
	}
	const fetchWhole = () => {
		setBusy('Asking for whole matches…')
		const found: Row[] = []
		p.api
			.rows('match', { ...p.options, graph: p.graph, query: whole(p.query), params: p.params, limit: count }, { batch: more => void found.push(...more) })
			.then(
				() => {
					setFull({ rows: found, columns: Object.keys(found[0] ?? {}) })
					setTold('The picture shows whole matches.')
				},
				e => setNote(saying(e)),
			)
			.finally(() => setBusy(''))
	}
	const copy = (text: string) =>
		navigator.clipboard?.writeText(text).then(
			() => setTold(`${text} is copied.`),
			() => setTold('The browser does not allow copying.'),
		) ?? setTold('The browser allows copying on pages of https and of this machine alone.')

	const roles = drawing.roles.map((r, at) => ({ ...r, at })).filter(r => r.column !== null)
	const match = drawing.matches[on.match]
	const text = `${summary(drawing)} ${match ? inWords(drawing, on.match) : ''}`.trim()

	return (
		<section class="picture" aria-label="Picture of the matches" ref={frame}>
			<div class="picture-tools" role="toolbar" aria-label="Picture">
				<label>
					Matches <Count value={count} most={mostMatches} onChange={setCount} />
				</label>
				<span class="picture-steps">
					<button type="button" onClick={() => step(-1)} disabled={matches === 0} title="Previous match (p)">
						Previous
					</button>
					<span class="picture-at">{match ? `${on.match + 1} of ${matches}` : `all ${matches}`}</span>
					<button type="button" onClick={() => step(1)} disabled={matches === 0} title="Next match (n)">
						Next
					</button>
					<button type="button" onClick={all} disabled={!match} title="All matches (Escape)">
						All
					</button>
				</span>
				<label>
					<input type="checkbox" checked={near} onChange={e => setNear(e.currentTarget.checked)} /> Neighbours
				</label>
				<label>
					up to <Count value={per} most={mostNear} disabled={!near} label="Neighbours of each vertex" onChange={setPer} />
				</label>
				<label>
					<input type="checkbox" checked={wantsBetween} onChange={e => setWishBetween(e.currentTarget.checked)} /> Edges between
				</label>
				<span class="picture-space" />
				<button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => stage.current?.zoom(1 / 1.3)}>
					−
				</button>
				<button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => stage.current?.zoom(1.3)}>
					+
				</button>
				<button type="button" title="Show all (f)" onClick={() => stage.current?.fit()}>
					Fit
				</button>
				<button type="button" onClick={saveSvg} disabled={empty}>
					Save SVG
				</button>
			</div>
			{missing.length > 0 && (
				<p class="picture-hint">
					{missing.length === 1 ? `The rows do not have ${missing[0]!.name}.` : `The rows do not have ${missing.map(r => r.name).join(', ')}.`}{' '}
					<button type="button" onClick={fetchWhole}>
						Show whole matches
					</button>
				</p>
			)}
			{flat && <p class="picture-hint">This browser has no WebGL, so the picture is drawn with SVG. Large pictures are slow.</p>}
			<div class="picture-body">
				<div class="picture-stage" tabIndex={0} role="group" aria-label="Picture" aria-describedby={`${id}-keys`} aria-busy={running || busy !== ''} onKeyDown={onKeyDown}>
					{empty ? <p class="picture-empty">{p.rows.length === 0 ? 'There are no matches to draw.' : 'The rows have no vertices to draw.'}</p> : <div class="picture-box" role="img" aria-label={text} ref={box} />}
				</div>
				<div class="picture-side">
					{colours && roles.length > 0 && (
						<table class="picture-legend">
							<caption>{match ? `Match ${on.match + 1} of ${matches}` : 'Vertices of the pattern'}</caption>
							<tbody>
								{roles.map(r => (
									<tr key={r.at}>
										<th scope="row">
											<span class="picture-role">
												<Swatch fill={fillOf(colours, r.at)} colours={colours} />
												<span>
													{r.name}
													{r.labels && <span class="picture-soft">:{r.labels}</span>}
												</span>
											</span>
										</th>
										<td>
											{match ? (
												<VertexButton drawing={drawing} at={match.vertices[r.at] ?? null} chosen={on.vertex} onChoose={choose} />
											) : (
												<span class="picture-soft">{new Set(drawing.matches.map(m => m.vertices[r.at]).filter(k => k)).size} different</span>
											)}
										</td>
									</tr>
								))}
								{match &&
									others(drawing, match.row).map(([column, v]) => (
										<tr key={column}>
											<th scope="row">{column}</th>
											<td>{plain(v)}</td>
										</tr>
									))}
								{drawing.vertices.size > base.vertices.size && (
									<tr>
										<th scope="row">
											<span class="picture-role">
												<Swatch fill={{ colour: colours.near, hole: 0 }} colours={colours} />
												<span>neighbour</span>
											</span>
										</th>
										<td class="picture-soft">{drawing.vertices.size - base.vertices.size}</td>
									</tr>
								)}
							</tbody>
						</table>
					)}
					{chosen && (
						<div class="picture-vertex" role="region" aria-label={`Vertex ${plain(chosen.id)}`}>
							<h3>Vertex {plain(chosen.id)}</h3>
							<dl>
								{labels.has(chosen.key) && <Fact name="Labels" value={labels.get(chosen.key)!.join(', ')} />}
								<Fact name="In matches" value={chosen.matches.length === 0 ? 'none: a neighbour' : `${chosen.matches.length}, as ${chosen.roles.map(r => drawing.roles[r]!.name).join(', ')}`} />
								<Fact name="Degree" value={`${degrees.get(chosen.key) ?? 0} in view${known?.key === chosen.key ? `, ${known.about.degree.toLocaleString('en')} in the graph` : ''}`} />
								{known?.key === chosen.key && known.about.properties.map(([n, v]) => <Fact key={n} name={n} value={plain(v)} />)}
							</dl>
							<div class="picture-acts">
								<button type="button" disabled={extra.includes(chosen.id)} onClick={() => setExtra([...extra, chosen.id])}>
									Add neighbours
								</button>
								<button type="button" onClick={() => copy(plain(chosen.id))}>
									Copy id
								</button>
								<button type="button" onClick={() => choose(null)}>
									Close
								</button>
							</div>
						</div>
					)}
					{!empty && <Vertices drawing={drawing} labels={labels} degrees={degrees} chosen={on.vertex} onChoose={choose} />}
				</div>
			</div>
			<div class="picture-foot">
				<p>
					{summary(drawing)} {p.rows.length > matches && !full && 'The table has more.'} {note} {busy || (running ? 'Arranging…' : '')}
				</p>
				<p id={`${id}-keys`}>In the picture: arrows move, + − zoom, f shows all, n p step through the matches, Escape ends. Vertices can be dragged, and Shift with arrows moves the chosen one.</p>
			</div>
			<p class="picture-told" role="status">
				{told}
			</p>
		</section>
	)
}

function others(d: Drawing, row: Row): [string, Value][] {
	const vertices = new Set(d.roles.map(r => r.column))
	return Object.entries(row).filter(([column]) => !vertices.has(column))
}

function VertexButton(p: { drawing: Drawing; at: string | null; chosen: string | null; onChoose(key: string): void }) {
	const v = p.at === null ? undefined : p.drawing.vertices.get(p.at)
	if (!v) return <>null</>
	return (
		<button type="button" class="picture-link" aria-pressed={p.chosen === v.key} onClick={() => p.onChoose(v.key)}>
			{plain(v.id)}
		</button>
	)
}

function Fact(p: { name: string; value: string }) {
	return (
		<>
			<dt>{p.name}</dt>
			<dd>{p.value}</dd>
		</>
	)
}
