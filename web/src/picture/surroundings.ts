import type { Api, Query, Row, Run, Schema, Value } from '../api'
import { type Id, type Pair, keyOf } from './drawing'

/** The most vertices whose neighbours are asked for at once, and the most edges between the vertices in view. */
export const mostVertices = 500
export const mostEdges = 5000

async function rowsOf(api: Api, query: Query, signal?: AbortSignal): Promise<{ rows: Row[]; run: Run }> {
	const rows: Row[] = []
	const run = await api.rows('match', query, { batch: more => void rows.push(...more) }, signal)
	return { rows, run }
}

const quoted = (name: string) => '`' + name.replaceAll('`', '``') + '`'

/** degrees asks for the number of neighbours of vertices in the graph. */
export async function degrees(api: Api, graph: string, ids: Id[], signal?: AbortSignal): Promise<Map<string, number>> {
	const out = new Map<string, number>()
	if (ids.length === 0) return out
	const { rows } = await rowsOf(api, { graph, query: 'MATCH (x) WHERE id(x) IN $ids RETURN x, deg(x) AS degree', params: { ids } }, signal)
	for (const r of rows) out.set(keyOf(r['x'] as Id), r['degree'] as number)
	return out
}

export interface Near {
	pairs: Pair[]
	/** The number of vertices that have more such neighbours than these. */
	more: number
}

/**
 * neighbours asks for at most `per` neighbours of each vertex, without some. Vertices with few neighbours share a query. Each
 * other vertex has a query of its own with a LIMIT, because one vertex with many neighbours would use up the LIMIT of a shared one.
 */
export async function neighbours(api: Api, graph: string, ids: Id[], without: Id[], directed: boolean, per: number, signal?: AbortSignal): Promise<Near> {
	const degree = await degrees(api, graph, ids, signal)
	const isFew = (id: Id) => (degree.get(keyOf(id)) ?? 0) <= 4 * per
	const found = new Map<string, Map<string, Pair[]>>()
	const ask = async (of: Id[], limit?: number) => {
		const take = async (edge: string, pair: (x: Id, y: Id) => Pair) => {
			const query = `MATCH (x)${edge}(y) WHERE id(x) IN $ids${without.length > 0 ? ' AND id(y) NOT IN $without' : ''} RETURN x, y`
			const { rows } = await rowsOf(api, { graph, query, params: without.length > 0 ? { ids: of, without } : { ids: of }, ...(limit ? { limit } : {}) }, signal)
			for (const r of rows) {
				const x = r['x'] as Id
				const y = r['y'] as Id
				const others = found.get(keyOf(x)) ?? new Map<string, Pair[]>()
				found.set(keyOf(x), others.set(keyOf(y), [...(others.get(keyOf(y)) ?? []), pair(x, y)]))
			}
		}
		await take(directed ? '-->' : '--', (from, to) => ({ from, to }))
		if (directed) await take('<--', (to, from) => ({ from, to }))
	}
	const few = ids.filter(isFew)
	if (few.length > 0) await ask(few)
	for (const id of ids) if (!isFew(id)) await ask([id], per + 1)
	const pairs: Pair[] = []
	let more = 0
	for (const others of found.values()) {
		if (others.size > per) more++
		// The first by their ids, so that a picture is the same again.
		const names = [...others.keys()].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
		for (const name of names.slice(0, per)) pairs.push(...others.get(name)!)
	}
	return { pairs, more }
}

/** between asks for the edges among vertices, up to mostEdges. */
export async function between(api: Api, graph: string, ids: Id[], directed: boolean, signal?: AbortSignal): Promise<{ pairs: Pair[]; complete: boolean }> {
	if (ids.length < 2) return { pairs: [], complete: true }
	const query = directed
		? 'MATCH (x)-->(y) WHERE id(x) IN $ids AND id(y) IN $ids RETURN x, y'
		: 'MATCH (x)--(y) WHERE id(x) IN $ids AND id(y) IN $ids AND id(x) < id(y) RETURN x, y'
	const { rows, run } = await rowsOf(api, { graph, query, params: { ids }, limit: mostEdges }, signal)
	return { pairs: rows.map(r => ({ from: r['x'] as Id, to: r['y'] as Id })), complete: run.complete }
}

/**
 * labels asks for the labels of vertices. A query only says which vertices have one of some labels, so the labels are halved until
 * one is left, each time for the vertices that are still there.
 */
export async function labels(api: Api, graph: string, ids: Id[], names: string[], signal?: AbortSignal): Promise<Map<string, string[]>> {
	const out = new Map<string, string[]>()
	const ask = async (of: Id[], some: string[]): Promise<void> => {
		if (of.length === 0 || some.length === 0) return
		const query = `MATCH (x:${some.map(quoted).join('|')}) WHERE id(x) IN $ids RETURN x`
		const { rows } = await rowsOf(api, { graph, query, params: { ids: of } }, signal)
		const have = rows.map(r => r['x'] as Id)
		if (some.length === 1) {
			for (const id of have) out.set(keyOf(id), [...(out.get(keyOf(id)) ?? []), some[0]!])
			return
		}
		const half = some.length >> 1
		await ask(have, some.slice(0, half))
		await ask(have, some.slice(half))
	}
	await ask(ids, names)
	return out
}

export interface About {
	degree: number
	properties: [name: string, value: Value][]
}

/** about asks for what the graph knows of a vertex besides its labels. */
export async function about(api: Api, graph: string, id: Id, schema: Schema | null, signal?: AbortSignal): Promise<About> {
	const names = (schema?.vertex_properties ?? []).map(p => p.name)
	const items = ['deg(x) AS degree', ...names.map((n, i) => `x.${quoted(n)} AS p${i}`)]
	const { rows } = await rowsOf(api, { graph, query: `MATCH (x) WHERE id(x) IN $ids RETURN ${items.join(', ')}`, params: { ids: [id] } }, signal)
	const r = rows[0] ?? {}
	return { degree: typeof r['degree'] === 'number' ? r['degree'] : 0, properties: names.map((n, i) => [n, r[`p${i}`] ?? null]) }
}
