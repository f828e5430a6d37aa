import { expect, test } from 'vitest'
import type { Api, Query, Row } from '../api'
import { about, between, labels, mostEdges, neighbours } from './surroundings'

const none = () => Promise.reject(new Error('not asked'))

/** An Api whose rows a function gives. */
function apiOf(answer: (q: Query) => Row[]): { api: Api; asked: Query[] } {
	const asked: Query[] = []
	const api: Api = {
		graphs: none,
		ask: none,
		save: none,
		async rows(_kind, query, reader) {
			asked.push(query)
			const all = answer(query)
			const rows = all.slice(0, query.limit ?? all.length)
			await reader.batch(rows)
			return { id: 1, complete: rows.length === all.length, rows: rows.length, waited_seconds: 0, seconds: 0 }
		},
	}
	return { api, asked }
}

test('a vertex with many neighbours does not use up the room of others', async () => {
	const degree = new Map([[1, 1000], [2, 2]])
	const near = new Map([[1, Array.from({ length: 1000 }, (_, i) => 100 + i)], [2, [7, 8]]])
	const { api, asked } = apiOf(q => {
		const ids = q.params!['ids'] as number[]
		if (q.query!.includes('deg(x)')) return ids.map(x => ({ x, degree: degree.get(x)! }))
		return ids.flatMap(x => near.get(x)!.map(y => ({ x, y })))
	})
	const r = await neighbours(api, 'g', [1, 2], [1, 2], false, 3)
	expect(r.pairs).toEqual([
		{ from: 2, to: 7 },
		{ from: 2, to: 8 },
		{ from: 1, to: 100 },
		{ from: 1, to: 101 },
		{ from: 1, to: 102 },
	])
	expect(r.more).toBe(1)
	expect(asked.map(q => q.limit)).toEqual([undefined, undefined, 4])
	expect(asked[1]!.query).toBe('MATCH (x)--(y) WHERE id(x) IN $ids AND id(y) NOT IN $without RETURN x, y')
	await neighbours(api, 'g', [2], [], false, 3)
	expect(asked.at(-1)!.query).toBe('MATCH (x)--(y) WHERE id(x) IN $ids RETURN x, y')
})

test('in a directed graph neighbours come with their directions, and one in both directions counts once', async () => {
	const { api } = apiOf(q => {
		if (q.query!.includes('deg(x)')) return [{ x: 'a', degree: 2 }]
		return q.query!.includes('-->') ? [{ x: 'a', y: 'b' }] : [{ x: 'a', y: 'b' }, { x: 'a', y: 'c' }]
	})
	const r = await neighbours(api, 'g', ['a'], ['a'], true, 2)
	expect(r).toEqual({
		pairs: [
			{ from: 'a', to: 'b' },
			{ from: 'b', to: 'a' },
			{ from: 'c', to: 'a' },
		],
		more: 0,
	})
})

test('edges among vertices are asked for once in an undirected graph, and told if there are more', async () => {
	const { api, asked } = apiOf(() => Array.from({ length: mostEdges + 1 }, (_, i) => ({ x: i, y: i + 1 })))
	const r = await between(api, 'g', [1, 2], false)
	expect(r.complete).toBe(false)
	expect(r.pairs).toHaveLength(mostEdges)
	expect(asked[0]!.query).toContain('id(x) < id(y)')
	expect((await between(api, 'g', [1], false)).pairs).toEqual([])
})

test('labels are found by halves, also several of one vertex', async () => {
	const names = Array.from({ length: 300 }, (_, i) => `L${i}`)
	const has = new Map([[1, ['L3', 'L200']], [2, ['L3']], [3, []]])
	const { api, asked } = apiOf(q => {
		const some = /\(x:(.*?)\)/.exec(q.query!)![1]!.split('|').map(t => t.replaceAll('`', ''))
		return (q.params!['ids'] as number[]).filter(id => has.get(id)!.some(l => some.includes(l))).map(x => ({ x }))
	})
	expect(await labels(api, 'g', [1, 2, 3], names)).toEqual(new Map([['1', ['L3', 'L200']], ['2', ['L3']]]))
	expect(asked.length).toBeLessThan(40)
})

test('names of labels and properties stand in back quotes', async () => {
	const { api, asked } = apiOf(() => [{ degree: 3, p0: 'x' }])
	await labels(api, 'g', [1], ['a`b'])
	expect(asked[0]!.query).toContain('(x:`a``b`)')
	const schema = { vertex_labels: [], edge_labels: [], vertex_properties: [{ name: 'odd key', type: 'string' }], edge_properties: [], edge_times: false }
	expect(await about(api, 'g', 1, schema)).toEqual({ degree: 3, properties: [['odd key', 'x']] })
	expect(asked[1]!.query).toContain('x.`odd key` AS p0')
})
