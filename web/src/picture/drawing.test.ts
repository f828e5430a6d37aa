import { expect, test } from 'vitest'
import type { Parts, Row } from '../api'
import { degreesOf, drawingOf, inWords, keyOf, shapeOf, summary, withPairs } from './drawing'

type EdgeOf = [from: number, to: number, more?: Partial<Parts['edges'][number]>]

function partsOf(names: string[], edges: EdgeOf[], more: Partial<Parts> = {}): Parts {
	return {
		semantics: 'iso',
		induced: false,
		groups: [{ kind: 'match', parent: -1, at: [0, 0], inside: [0, 0], where: '' }],
		vertices: names.map(name => ({ name, labels: '', properties: '', where: '', group: 0, at: [], uses: [] })),
		edges: edges.map(([from, to, e]) => ({ name: '', from, to, direction: 'any', labels: '', properties: '', where: '', length: '', group: 0, at: [0, 0], uses: [], ...e })),
		mode: [0, 0],
		paths: [],
		where: '',
		rest: [],
		fixed: '',
		...more,
	}
}

const draw = (query: string, parts: Parts | null, rows: Row[], count = 20, directed = false) => drawingOf(shapeOf(query, parts, Object.keys(rows[0] ?? {})), rows, count, directed)
const triangle = partsOf(['a', 'b', 'c'], [[0, 1], [1, 2], [2, 0]])

test('vertices and edges of several matches are joined once', () => {
	const d = draw('MATCH (a)--(b)--(c)--(a)', triangle, [
		{ a: 1, b: 2, c: 3 },
		{ a: 2, b: 1, c: 4 },
	])
	expect([...d.vertices.keys()]).toEqual(['1', '2', '3', '4'])
	expect(d.edges.size).toBe(5)
	expect(d.vertices.get('1')).toMatchObject({ roles: [0, 1], matches: [0, 1] })
	expect(d.edges.get('1 2')!.matches).toEqual([0, 1])
	expect(d.matches[1]!.vertices).toEqual(['2', '1', '4'])
	expect(d.matches[1]!.edges).toEqual(['1 2', '1 4', '2 4'])
	expect(d.shaped).toBe(true)
})

test('no more matches are drawn than were asked for', () => {
	const rows = Array.from({ length: 100 }, (_, i) => ({ a: i, b: i + 1, c: i + 2 }))
	const d = draw('MATCH (a)--(b)--(c)--(a)', triangle, rows, 7)
	expect(d.matches.length).toBe(7)
	expect(d.vertices.size).toBe(9)
})

test('ids that are texts and ids that are numbers differ', () => {
	const d = draw('MATCH (a)--(b)', partsOf(['a', 'b'], [[0, 1]]), [{ a: 1, b: '1' }])
	expect([...d.vertices.values()].map(v => v.id)).toEqual([1, '1'])
	expect(d.edges.size).toBe(1)
})

test('columns are found by the items of RETURN', () => {
	const d = draw('MATCH (a)--(b)--(c) RETURN id(c), a AS x, b.name AS b', partsOf(['a', 'b', 'c'], [[0, 1], [1, 2]]), [{ 'id(c)': 3, x: 1, b: 'Ann' }])
	expect(d.roles.map(r => r.column)).toEqual(['x', null, 'id(c)'])
	expect([...d.vertices.keys()]).toEqual(['1', '3'])
	expect(d.edges.size).toBe(0)
})

test('vertices without a name have their place as a name', () => {
	const d = draw('MATCH (a)--(), ()--(b)--(a)', partsOf(['a', '', '', 'b'], [[0, 1], [2, 3], [3, 0]]), [{ a: 33, _1: 3, _2: 32, b: 34 }])
	expect(d.roles.map(r => r.name)).toEqual(['a', '_1', '_2', 'b'])
	expect(d.edges.size).toBe(3)
})

test('an edge that the rows have is drawn as it is in the graph', () => {
	const parts = partsOf(['a', 'b'], [[0, 1, { name: 'e' }]])
	const rows: Row[] = [{ a: 'x', b: 'y', e: { src: 'y', dst: 'x', label: 'TX', amount: 5 } }]
	const e = draw('MATCH (a)-[e]-(b)', parts, rows, 20, true).edges.get('"x" "y"')!
	expect(e).toMatchObject({ forward: false, backward: true, labels: ['TX'] })
	const undirected = draw('MATCH (a)-[e]-(b)', parts, rows).edges.get('"x" "y"')!
	expect(undirected).toMatchObject({ forward: false, backward: false })
})

test('arrows of the pattern are drawn in directed graphs alone, and both ways between two vertices', () => {
	const parts = partsOf(['a', 'b'], [[0, 1, { direction: 'out' }], [1, 0, { direction: 'out' }]])
	const rows = [{ a: 1, b: 2 }]
	expect(draw('MATCH (a)-->(b)-->(a)', parts, rows, 20, true).edges.get('1 2')).toMatchObject({ forward: true, backward: true })
	expect(draw('MATCH (a)-->(b)-->(a)', parts, rows).edges.get('1 2')).toMatchObject({ forward: false, backward: false })
})

test('absent paths and edges of variable length are not drawn', () => {
	const parts = partsOf(['a', 'b', 'c'], [[0, 1], [1, 2, { group: 1 }], [0, 1, { length: '*1..3' }]], {
		groups: [
			{ kind: 'match', parent: -1, at: [0, 0], inside: [0, 0], where: '' },
			{ kind: 'not', parent: 0, at: [0, 0], inside: [0, 0], where: '' },
		],
	})
	parts.vertices[2]!.group = 1
	const d = draw('MATCH (a)--(b), NOT (b)--(c)', parts, [{ a: 1, b: 2 }])
	expect(d.roles.map(r => r.name)).toEqual(['a', 'b'])
	expect(d.edges.size).toBe(1)
})

test('without parts, bare columns are vertices and objects with src and dst are edges', () => {
	const d = draw('MATCH p RETURN a, b.age AS age, e', null, [{ a: 1, age: 30, e: { src: 1, dst: 2 } }], 20, true)
	expect([...d.vertices.keys()]).toEqual(['1', '2'])
	expect(d.edges.get('1 2')).toMatchObject({ forward: true, matches: [0] })
	expect(d.shaped).toBe(false)
})

test('a match may have a vertex twice, and rows may have null', () => {
	const path = partsOf(['a', 'b', 'c'], [[0, 1], [1, 2]])
	const d = draw('MATCH REPEATABLE ELEMENTS (a)--(b)--(c)', path, [
		{ a: 1, b: 2, c: 1 },
		{ a: null, b: 5, c: 6 },
	])
	expect(d.vertices.get('1')!.roles).toEqual([0, 2])
	expect(d.matches[0]!.edges).toEqual(['1 2'])
	expect(d.matches[1]!.vertices).toEqual([null, '5', '6'])
})

test('pairs of the graph are added without changing the matches', () => {
	const d = draw('MATCH (a)--(b)--(c)--(a)', triangle, [{ a: 1, b: 2, c: 3 }])
	const more = withPairs(d, [
		{ from: 1, to: 9 },
		{ from: 2, to: 1 },
		{ from: 9, to: 1 },
	])
	expect(more.vertices.get(keyOf(9))).toEqual({ key: '9', id: 9, roles: [], matches: [] })
	expect(more.edges.get('1 9')!.matches).toEqual([])
	expect(d.edges.has('1 9')).toBe(false)
	expect(withPairs(d, [])).toBe(d)
	expect(degreesOf(more).get('1')).toBe(3)
	expect(summary(more)).toBe('1 match with 3 vertices and 3 edges, 1 neighbour, 1 edge besides.')
})

test('arrows of pairs do not change the edges of the drawing that they are added to', () => {
	const d = draw('MATCH (a)--(b)', partsOf(['a', 'b'], [[0, 1]]), [{ a: 1, b: 2 }], 20, true)
	expect(withPairs(d, [{ from: 2, to: 1 }]).edges.get('1 2')).toMatchObject({ forward: false, backward: true })
	expect(d.edges.get('1 2')).toMatchObject({ backward: false })
})

test('a match is told in words', () => {
	const d = draw('MATCH (a)-[e]->(b) RETURN a, b, e, a.x', partsOf(['a', 'b'], [[0, 1, { name: 'e' }]]), [
		{ a: 'ann', b: 'bob', e: { src: 'ann', dst: 'bob', label: 'TX' }, 'a.x': null },
	])
	expect(inWords(d, 0)).toBe('Match 1 of 1: a is ann, b is bob, e is ann to bob (label TX), a.x is null.')
	expect(inWords(d, -1)).toBe('')
})
