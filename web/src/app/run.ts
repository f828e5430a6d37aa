import { useEffect, useRef, useState } from 'preact/hooks'
import {
	ProblemError,
	type CountAnswer,
	type ExistsAnswer,
	type ExplainAnswer,
	type Kind,
	type MotifsAnswer,
	type Problem,
	type Query,
	type Run,
	type Saved,
	type Status,
} from '../api'
import type { Client } from '../client'
import { grouped } from '../results/number'
import { most, Rows } from '../results/rows'
import { kindFor, queryOf, type Request } from './request'

/** A query that is being answered. */
export interface Busy {
	request: Request
	/** What is made of the rows: they are shown, or saved as a file. */
	saving: boolean
	begun: number
	status: Status | null
	cancelled: boolean
}

/** The rows of a result and how they ended. */
export interface Listing {
	rows: Rows
	length: number
	run: Run | null
	/** The page has no room for more rows. */
	full: boolean
	query: Query
	kind: Kind
}

/** Answers to a question, of all kinds that were asked about it. */
export interface Results {
	graph: string
	/** The question that the answers except for the census are about. */
	question: string
	answer?: CountAnswer | ExistsAnswer
	plan?: ExplainAnswer
	census?: MotifsAnswer
	table?: Listing
}

export type Tab = 'answer' | 'table' | 'picture' | 'plan' | 'census'

export interface Done {
	request: Request
	tab: Tab
	outcome: string
	run: Run
}

/** A query that is being asked. */
interface Turn {
	query: Query
	signal: AbortSignal
	/** The page shows something else by now, so that nothing may come of the query. */
	left: boolean
	/** Tells the number of the query. */
	begun(id: number): void
}

interface Hooks {
	api: Client
	/** The results of a request begin to be shown, instead of those of another question. */
	onResults(asked: Request): void
	onDone(d: Done): void
	onProblem(p: Problem): void
	/** A file was saved, with what is to tell of it. */
	onSaved(text: string): void
	say(text: string): void
}

/** Asks queries, one at a time, and follows them. */
export function useRun(hooks: Hooks) {
	const [busy, setBusy] = useState<Busy | null>(null)
	const [results, setResults] = useState<Results | null>(null)
	const now = useRef({ hooks, busy: false, stop: null as (() => void) | null, leave: null as (() => void) | null })
	now.current.hooks = hooks

	useEffect(() => () => now.current.stop?.(), [])

	/** Runs a task while the page follows the query with the task's tag. */
	const follow = async (request: Request, query: Query, saving: boolean, task: (turn: Turn) => Promise<void>) => {
		const { api, say, onProblem } = now.current.hooks
		const abort = new AbortController()
		const tag = newTag()
		let id = 0
		let over = false
		now.current.busy = true
		setBusy({ request, saving, begun: performance.now(), status: null, cancelled: false })
		const look = async () => {
			const status = (await api.running()).find(s => s.tag === tag)
			if (!status) return
			id = status.id
			if (!over) setBusy(b => b && { ...b, status })
		}
		const poll = async () => {
			for (let wait = 200; !over; wait = Math.min(wait + 100, 600)) {
				await new Promise(r => setTimeout(r, wait))
				// A look that fails does not end the query, whose own answer tells what is wrong.
				if (!over) await look().catch(() => undefined)
			}
		}
		now.current.stop = () => {
			now.current.stop = null
			setBusy(b => b && { ...b, cancelled: true })
			void (async () => {
				if (!id) await look().catch(() => undefined)
				if (over) return
				if (id) await api.cancel(id).catch(() => undefined)
				// The server ends the search and sends what was found. Where it does not, the page stops waiting.
				setTimeout(() => abort.abort(), id ? 3000 : 0)
			})()
		}
		const turn: Turn = { query: { ...query, tag }, signal: abort.signal, left: false, begun: run => (id = run) }
		const end = () => {
			over = true
			now.current.busy = false
			now.current.stop = now.current.leave = null
			setBusy(null)
		}
		now.current.leave = () => {
			if (saving) return // the file has nothing to do with what the page shows
			turn.left = true
			abort.abort() // the server ends a search whose client is gone
			end()
		}
		void poll()
		try {
			await task(turn)
		} catch (e) {
			if (turn.left) return
			if (e instanceof ProblemError) onProblem(e.problem)
			else if (abort.signal.aborted || (e as Error).name === 'AbortError') say('Cancelled')
			else onProblem(mistake(e))
		} finally {
			if (!turn.left) end() // otherwise another query may be running by now
		}
	}

	const run = (asked: Request) => {
		if (now.current.busy) return
		const request = { ...asked, kind: kindFor(asked) }
		const { api, onProblem } = now.current.hooks
		let query: Query
		try {
			query = queryOf(request)
		} catch (e) {
			onProblem(mistake(e))
			return
		}
		void follow(request, query, false, async turn => {
			const { query: q, signal } = turn
			let first = true
			const keep = (part: Partial<Results>) => {
				if (turn.left) return
				if (first) now.current.hooks.onResults(asked)
				first = false
				setResults(old => ({ ...kept(old, request), ...part }))
			}
			const onDone = (d: Done) => turn.left || now.current.hooks.onDone(d)
			switch (request.kind) {
				case 'count': {
					const answer = await api.ask<CountAnswer>('count', q, signal)
					keep({ answer })
					const { subgraphs, embeddings } = answer.result
					const outcome = subgraphs === null ? `${grouped(embeddings)} embeddings` : `${grouped(subgraphs)} subgraphs`
					return void onDone({ request, tab: 'answer', outcome, run: answer.run })
				}
				case 'exists': {
					const answer = await api.ask<ExistsAnswer>('exists', q, signal)
					keep({ answer })
					const outcome = answer.exists === null ? 'not known' : answer.exists ? 'yes' : 'no'
					return void onDone({ request, tab: 'answer', outcome, run: answer.run })
				}
				case 'explain': {
					const plan = await api.ask<ExplainAnswer>('explain', q, signal)
					keep({ plan })
					return void onDone({ request, tab: 'plan', outcome: `plan for engine ${plan.engine}`, run: plan.run })
				}
				case 'motifs': {
					const census = await api.ask<MotifsAnswer>('motifs', q, signal)
					keep({ census })
					return void onDone({ request, tab: 'census', outcome: `${census.results.length} motifs`, run: census.run })
				}
			}
			const rows = new Rows()
			const table: Listing = { rows, length: 0, run: null, full: false, query, kind: request.kind }
			let run = 0
			let drawn = 0
			let begun = false
			const show = (t: Listing) => {
				begun = true
				drawn = performance.now()
				keep({ table: t })
			}
			try {
				table.run = await api.rows(
					request.kind,
					q,
					{
						run(id) {
							run = id
							turn.begun(id)
						},
						async batch(more) {
							if (table.full) return
							if (!rows.add(more)) {
								table.full = true
								await api.cancel(run)
							}
							if (performance.now() - drawn < 80 && !table.full) return
							show({ ...table, length: rows.length })
							await new Promise(r => setTimeout(r))
						},
					},
					signal,
				)
			} catch (e) {
				if (!begun) throw e
				table.run = { id: run, complete: false, cut: signal.aborted ? 'cancel' : 'error', waited_seconds: 0, seconds: 0 }
				show({ ...table, length: rows.length })
				throw e
			}
			show({ ...table, length: rows.length })
			onDone({ request, tab: 'table', outcome: `${grouped(rows.length)} rows`, run: table.run })
		})
	}

	/** Saves all rows of a listing as a file, which the server makes anew. */
	const save = (request: Request, table: Listing, accept: string, name: string, end: string) => {
		if (now.current.busy) return
		void follow(request, table.query, true, async ({ query, signal, begun }) => {
			const { api, onSaved } = now.current.hooks
			const saved = await api.save(table.kind, query, { accept, name, end, cut: limited(table.run) }, { run: begun }, signal)
			onSaved(toldOf(saved))
		})
	}

	/** Ends the query, and forgets all results. */
	const leave = () => {
		now.current.leave?.()
		setResults(null)
	}

	return { busy, results, run, save, cancel: () => now.current.stop?.(), leave }
}

/** Whether limits cut a result short, which will cut it again. */
function limited(run: Run | null): boolean {
	return !!run && !run.complete && ['limit', 'rows', 'time', 'memory'].includes(run.cut ?? '')
}

/** What the page tells of a file. */
function toldOf({ name, run }: Saved): string {
	if (run?.complete) return `Saved ${name}`
	return run ? `Saved ${name}, cut short: ${reason(run.cut)}` : `Saved ${name}. It is not known whether it has all rows`
}

/** The results that stay when a request has an answer: those about the same graph and, except for the census, the same question. */
function kept(old: Results | null, r: Request): Results {
	const { semantics, induced, engine, allow_product } = r.options
	const question = JSON.stringify([r.query, r.params, semantics, induced, engine, allow_product])
	if (old?.graph !== r.graph) return { graph: r.graph, question }
	if (r.kind === 'motifs' || old.question === question) return old
	return { graph: r.graph, question, census: old.census }
}

function newTag(): string {
	return [...crypto.getRandomValues(new Uint32Array(4))].map(n => n.toString(36)).join('-')
}

/** A mistake that is not one of the server. */
function mistake(e: unknown): Problem {
	let detail = (e as Error).message
	if (e instanceof TypeError) detail = 'The server cannot be reached, or the connection broke.'
	if (e instanceof SyntaxError) detail = 'The answer is not one of weft.'
	return { type: 'about:blank', title: '', status: 0, detail, kind: 'page' }
}

/** Why a result is not complete. */
export function reason(cut: string | undefined): string {
	switch (cut) {
		case 'limit':
			return 'the limit of this request'
		case 'rows':
			return 'a limit on rows, of the query, the user or the server'
		case 'time':
			return 'the limit on time'
		case 'cancel':
			return 'it was cancelled'
		case 'drain':
			return 'the server is stopping'
		case 'memory':
			return 'memory was short'
		case 'full':
			return `the page keeps about ${grouped(most.rows)} rows at most`
		case 'error':
			return 'there was an error'
	}
	return cut ?? 'not known'
}
