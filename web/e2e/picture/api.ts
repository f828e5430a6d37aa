import { type Api, type Graph, type Query, type Row, type Run, ProblemError, type Value } from '../../src/api'

/** A small graph, for an Api without a server. Vertices are in a ring, and each third is joined to vertex 0. */
const order = 24
const edges: [number, number][] = []
for (let i = 0; i < order; i++) edges.push([i, (i + 1) % order])
for (let i = 3; i < order - 1; i += 3) edges.push([0, i])
const near = (v: number) => edges.flatMap(([a, b]) => (a === v ? [b] : b === v ? [a] : []))
const labelOf = (v: number) => (v % 2 === 0 ? 'Even' : 'Odd one')

const run = (rows: number): Run => ({ id: 1, complete: true, rows, waited_seconds: 0, seconds: 0 })

/** fakeApi answers the queries that Picture asks. */
export function fakeApi(asked: string[]): Api {
	const answer = (q: Query): Row[] => {
		const query = q.query!
		asked.push(query)
		const ids = ((q.params?.['ids'] ?? []) as number[]).filter(id => id < order)
		const without = (q.params?.['without'] ?? []) as number[]
		const label = /^MATCH \(x:(.*)\) WHERE/.exec(query)
		if (label) {
			const names = label[1]!.split('|').map(n => n.replaceAll('`', ''))
			return ids.filter(id => names.includes(labelOf(id))).map(x => ({ x }))
		}
		if (query.startsWith('MATCH (x) ')) return ids.map(x => ({ x, degree: near(x).length, p0: `name ${x}` }))
		if (query.includes('id(y) IN')) return edges.filter(([a, b]) => ids.includes(a) && ids.includes(b)).map(([x, y]) => ({ x, y }))
		if (query.startsWith('MATCH (x)--(y)')) return ids.flatMap(x => near(x).filter(y => !without.includes(y)).map(y => ({ x, y }))).slice(0, q.limit ?? Infinity)
		return wedges.slice(0, q.limit ?? Infinity)
	}
	return {
		async graphs() {
			return { user: '', graphs: [{ name: 'ring', vertices: order, edges: edges.length, directed: false, vertex_labels: 2, edge_labels: 0, version: 1, queries: 0, replaced: false }] }
		},
		async ask() {
			throw new Error('not asked')
		},
		async rows(_kind, query, reader) {
			const rows = answer(query)
			await reader.batch(rows)
			return run(rows.length)
		},
		async save() {
			throw new Error('not asked')
		},
	}
}

/** The matches of (a)--(b)--(c) around b. */
export const wedges: Row[] = Array.from({ length: order }, (_, b) => ({ a: (b + order - 1) % order, b, c: (b + 1) % order }))

/** httpApi asks a server. */
export function httpApi(): Api {
	const post = async (path: string, body: Query, signal?: AbortSignal) => {
		const r = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), ...(signal ? { signal } : {}) })
		const answer = await r.json()
		if (!r.ok) throw new ProblemError(answer)
		return answer
	}
	return {
		async graphs() {
			return { user: '', ...((await (await fetch('/v1/graphs')).json()) as { graphs: Graph[] }) }
		},
		ask: (kind, query, signal) => post(`/v1/${kind}`, query, signal),
		async rows(kind, query, reader, signal) {
			const answer = (await post(`/v1/${kind}`, query, signal)) as { rows: Record<string, Value>[]; run: Run }
			await reader.batch(answer.rows)
			return answer.run
		},
		async save() {
			throw new Error('not asked')
		},
	}
}

