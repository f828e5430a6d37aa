import { describe, expect, it } from 'vitest'
import { figure } from './figure'
import { edgeKeys, inTextOrder, place, step, vertexKeys, type Positions } from './layout'
import { partsOf } from './parts'
import { patternSVG } from './svg'
import { inUnits } from './units'

const arranged = (query: string) => place(partsOf(query)!, new Map())
const distance = (at: Positions, a: string, b: string) => Math.hypot(at.get(a)!.x - at.get(b)!.x, at.get(a)!.y - at.get(b)!.y)

describe('places', () => {
	it('are the same for the same text', () => {
		const query = 'MATCH (a)--(b)--(c)--(d)--(a), (c)--(e), (x)-->(y)'
		expect(arranged(query)).toEqual(arranged(query))
	})
	it('have edges of equal length where that is possible', () => {
		const ring = arranged('MATCH (a)--(b)--(c)--(d)--(e)--(a)')
		for (const [a, b] of ['ab', 'bc', 'cd', 'de', 'ea']) expect(distance(ring, a!, b!) / distance(ring, 'a', 'b')).toBeCloseTo(1, 1)
		const path = arranged('MATCH (a)-->(b)-->(c)-->(d)')
		expect([...path.values()].map(p => Math.round(p.x / 10))).toEqual([0, 12, 24, 36])
		expect(Math.max(...[...path.values()].map(p => Math.abs(p.y)))).toBeLessThan(3)
	})
	it('leave room for the texts of edges', () => {
		expect(distance(arranged('MATCH (a)-[:A_LONG_LABEL_OF_AN_EDGE]->(b)'), 'a', 'b')).toBeGreaterThan(distance(arranged('MATCH (a)-->(b)'), 'a', 'b') + 50)
	})
	it('stay when the text changes', () => {
		const before = partsOf('MATCH (a)--(b)--(c)')!
		const old = place(before, new Map())
		const after = partsOf('MATCH (z)--(c), (a)--(b)--(c:X) WHERE a.x > 1')!
		const now = place(after, old, inTextOrder(before))
		for (const v of ['a', 'b', 'c']) expect(now.get(v)).toEqual(old.get(v))
		expect(distance(now, 'z', 'c')).toBeGreaterThan(step / 2)
		expect(distance(now, 'z', 'c')).toBeLessThan(step * 1.5)
	})
	it('go over to a new name, and to vertices without one', () => {
		const before = partsOf('MATCH (a)--()--(b)')!
		const old = place(before, new Map())
		const renamed = place(partsOf('MATCH (a)--()--(bob)')!, old, inTextOrder(before))
		expect(renamed.get('bob')).toEqual(old.get('b'))
		const named = place(partsOf('MATCH (a)--(m)--(b)')!, old, inTextOrder(before))
		expect(named.get('m')).toEqual(old.get('()0'))
	})
	it('of one name in two conditions are two', () => {
		const parts = partsOf('MATCH (a) WHERE EXISTS { (a)--(c) } OR EXISTS { (a)-->(c) }')!
		expect(vertexKeys(parts)).toEqual(['a', 'c', 'c()1'])
		expect(new Set(edgeKeys(parts)).size).toBe(2)
	})
})

describe('shapes', () => {
	const shapes = (query: string) => figure(partsOf(query)!, arranged(query))
	it('keep parallel edges apart, and loops beside their vertex', () => {
		const f = shapes('MATCH (a)-[:X]->(b), (b)-[:Y]->(a), (a)--(b), (a)-[*2]-(a)')
		expect(new Set(f.edges.map(e => e.path)).size).toBe(4)
		for (const e of f.edges) for (const g of f.edges) if (e !== g) expect(Math.hypot(e.at.x - g.at.x, e.at.y - g.at.y)).toBeGreaterThan(14)
		expect(f.edges.map(e => e.head !== '')).toEqual([true, true, false, false])
		expect(f.edges[3]!.path).toContain('C')
	})
	it('mark what is absent or in a condition', () => {
		const f = shapes('MATCH (a)--(b), NOT (a)-->(b) WHERE EXISTS { (b)--(c:X)--(a) }')
		expect(f.edges.map(e => [e.dashed, e.word])).toEqual([
			[false, ''],
			[true, 'NOT'],
			[true, ''],
			[true, ''],
		])
		expect(f.hulls.map(h => h.word)).toEqual(['EXISTS'])
		expect(f.vertices.map(v => v.inner)).toEqual([false, false, true])
	})
	it('are all in their bounds', () => {
		const { bounds, vertices } = shapes('MATCH (a:`A label that is longer than there is room for`)-->(b {x: 1} WHERE _.y > 2)')
		for (const v of vertices) {
			expect(v.at.x - v.width / 2).toBeGreaterThanOrEqual(bounds.x)
			expect(v.at.x + v.width / 2).toBeLessThanOrEqual(bounds.x + bounds.width)
		}
		expect(vertices[0]!.lines[0]!.text).toMatch(/…$/)
		expect(vertices[1]!.lines.map(l => l.kind)).toEqual(['properties', 'where'])
	})
})

describe('the file', () => {
	it('is SVG with all texts', () => {
		const parts = partsOf('MATCH (a:X&Y {k: "<&>"})-[e:Z]->(b), NOT (b)-->(a)')!
		const svg = patternSVG(parts, new Map())
		expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="[-\d]+ [-\d]+ \d+ \d+"/)
		expect(svg).toContain('>X&amp;Y<')
		expect(svg).toContain('{k: &quot;&lt;&amp;&gt;&quot;}')
		expect(svg).toContain('>e :Z<')
		expect(svg).toContain('>NOT<')
		expect(svg).not.toContain('style=')
	})
	it('takes positions and colours', () => {
		const parts = partsOf('MATCH (a)')!
		const svg = patternSVG(parts, new Map([['a', { x: 500, y: 300 }]]), { ink: '#111111', paper: '#222222', soft: '#333333', accent: '#444444' })
		expect(svg).toContain('x="480" y="280"')
		expect(svg).toContain('fill="#222222" stroke="#111111"')
	})
})

it('places in bytes become places in the string', () => {
	const query = "/* ä€😀 */ MATCH (größe)--(b)"
	const parts = partsOf(query)!
	const bytes = (n: number) => new TextEncoder().encode(query.slice(0, n)).length
	const answer = JSON.parse(JSON.stringify(parts), (_, v) => (Array.isArray(v) && v.length === 2 && typeof v[0] === 'number' && typeof v[1] === 'number' ? v.map(bytes) : v))
	expect(answer).not.toEqual(parts)
	expect(inUnits(query, answer)).toEqual(parts)
})
