import { describe, expect, it } from 'vitest'
import { edit, Refusal, type Change } from './edit'
import { fits, nothing, partsOf } from './parts'

const change = (query: string, c: Change) => edit(query, partsOf(query)!, c)
const vertex = (query: string, name: string) => ({ vertex: partsOf(query)!.vertices.findIndex(v => v.name === name) })
const id = (query: string, name: string) => vertex(query, name).vertex

describe('vertices', () => {
	it('begin a query', () => {
		expect(edit('', nothing, { kind: 'add vertex' })).toBe('MATCH (a)')
		expect(edit('  // who knows whom', nothing, { kind: 'add vertex' })).toBe('  // who knows whom\nMATCH (a)')
		expect(() => edit('MATCH (', nothing, { kind: 'add vertex' })).toThrow(Refusal)
		expect(() => edit('/* no end', nothing, { kind: 'add vertex' })).toThrow(Refusal)
	})
	it('come with a name that is free', () => {
		expect(change('MATCH (a)--(c) WHERE a.b > 1 RETURN a', { kind: 'add vertex' })).toBe('MATCH (a)--(c), (d) WHERE a.b > 1 RETURN a')
		expect(change('MATCH (a),\n      (b)\nRETURN a', { kind: 'add vertex' })).toBe('MATCH (a),\n      (b),\n      (c)\nRETURN a')
	})
	it.each([
		['MATCH (a)--(b)--(c)', 'b', 'MATCH (a), (c)'],
		['MATCH (a)--(b)--(c)--(a)', 'b', 'MATCH (c)--(a)'],
		['MATCH (a:X)--(b)--(c)--(a)', 'b', 'MATCH (a:X), (c)--(a)'],
		['MATCH (a)--(b), (b)--(c), (c)--(a) /* ring */ RETURN count(*)', 'b', 'MATCH (c)--(a) /* ring */ RETURN count(*)'],
		['MATCH (a)--(c), // first\n  (b)--(c) // second\nWHERE a.x > 1', 'b', 'MATCH (a)--(c) // first\n   // second\nWHERE a.x > 1'],
		['MATCH (b), (a) RETURN a, b, b.x AS y', 'b', 'MATCH (a) RETURN a'],
		['MATCH (b), (a) RETURN b, a', 'b', 'MATCH (a) RETURN a'],
		['MATCH (b), (a) RETURN a, // who\n  b // whom\nLIMIT 3', 'b', 'MATCH (a) RETURN a // who\n // whom\nLIMIT 3'],
		['MATCH (b), (a) RETURN a /* who, */, /* whom, */ b LIMIT 3', 'b', 'MATCH (a) RETURN a /* who, */ /* whom, */ LIMIT 3'],
		['MATCH (b), (a) RETURN /* all */ b /* whom */, // who\n  b.x AS y, a', 'b', 'MATCH (a) RETURN /* all */ /* whom */ // who\n  a'],
		['MATCH (a)-->(b), NOT (b)-->(a)', 'b', 'MATCH (a)'],
		['// all\nMATCH (b)', 'b', '// all\n'],
		['MATCH (a) WHERE EXISTS { (a)--(c)--(d)--(a) WHERE c.x > 1 }', 'd', 'MATCH (a) WHERE EXISTS { (a)--(c) WHERE c.x > 1 }'],
	])('go from %s: %s', (query, name, want) => {
		expect(change(query, { kind: 'delete', of: vertex(query, name) })).toBe(want)
	})
	it.each([
		['MATCH (a)--(b) WHERE b.x > 1', 'b is used in WHERE'],
		['MATCH (a)--(b) RETURN b', 'RETURN has nothing but b'],
		['MATCH (a)--(b) RETURN a, b.x + 1', 'b is used in RETURN'],
		['MATCH (a)-[e]->(b) WHERE e.x > 1', 'e is used in WHERE'],
		['MATCH (a)--(b) WHERE EXISTS { (b)--(c) }', 'b is used in EXISTS'],
		['MATCH (b) RETURN count(*)', 'The query needs a vertex'],
		['MATCH (b)--(a {x: b.x})', 'b is used in a condition in brackets'],
	])('stay where they are used: %s', (query, reason) => {
		expect(() => change(query, { kind: 'delete', of: vertex(query, 'b') })).toThrow(reason)
	})
})

describe('edges', () => {
	it.each([
		['MATCH (a), (b)', 'MATCH (a)--(b)'],
		['MATCH (a:X), (c), (b:Y {k: 1}) RETURN a', 'MATCH (a:X)--(b:Y {k: 1}), (c) RETURN a'],
		['MATCH (c)--(a), (b)', 'MATCH (c)--(a)--(b)'],
		['MATCH (a)--(c), (b)', 'MATCH (b)--(a)--(c)'],
		['MATCH (a), (c)--(b)', 'MATCH (c)--(b)--(a)'],
		['MATCH (b)--(c)--(a)', 'MATCH (b)--(c)--(a)--(b)'],
		['MATCH (c)--(a)--(d), (b)--(c)', 'MATCH (c)--(a)--(d), (b)--(c), (a)--(b)'],
		['MATCH (a), NOT (a)--(a2), (b), (a2)', 'MATCH (a)--(b), NOT (a)--(a2), (a2)'],
	])('come: %s', (query, want) => {
		expect(change(query, { kind: 'add edge', from: id(query, 'a'), to: id(query, 'b'), directed: false })).toBe(want)
	})
	it('come to new vertices', () => {
		expect(change('MATCH (a) RETURN a', { kind: 'add edge', from: 0, to: null, directed: true })).toBe('MATCH (a)-->(b) RETURN a')
		expect(change('MATCH (a)--(b)--(c)', { kind: 'add edge', from: 1, to: null, directed: true })).toBe('MATCH (a)--(b)--(c), (b)-->(d)')
	})
	it('give names to vertices that need one', () => {
		expect(change('MATCH (a)--()--(b)', { kind: 'add edge', from: 1, to: null, directed: false })).toBe('MATCH (a)--(c)--(b), (c)--(d)')
		expect(change('MATCH ()--(:X)--()', { kind: 'add edge', from: 0, to: 2, directed: false })).toBe('MATCH (a)--(:X)--(b), (a)--(b)')
		expect(change('MATCH (a)--()', { kind: 'add edge', from: 0, to: 1, directed: true })).toBe('MATCH (a)--()<--(a)')
	})
	it('go, and their vertices stay', () => {
		const query = 'MATCH (a)-[:X]->(b:P)--(c)--(a) RETURN a'
		expect(change(query, { kind: 'delete', of: { edge: 0 } })).toBe('MATCH (b:P)--(c)--(a) RETURN a')
		expect(change(query, { kind: 'delete', of: { edge: 1 } })).toBe('MATCH (a)-[:X]->(b:P), (c)--(a) RETURN a')
		expect(change('MATCH (a)--(b)', { kind: 'delete', of: { edge: 0 } })).toBe('MATCH (a), (b)')
		expect(change('MATCH (a)--(b), NOT (a)-->(b)', { kind: 'delete', of: { edge: 1 } })).toBe('MATCH (a)--(b)')
		expect(change('MATCH (a) /* x */ --(b)', { kind: 'delete', of: { edge: 0 } })).toBe('MATCH (a), /* x */ (b)')
	})
	it('turn', () => {
		const turn = (query: string, direction: 'any' | 'out' | 'in') => change(query, { kind: 'direction', edge: 0, direction })
		expect(turn('MATCH (a)--(b)', 'out')).toBe('MATCH (a)-->(b)')
		expect(turn('MATCH (a)--(b)', 'in')).toBe('MATCH (a)<--(b)')
		expect(turn('MATCH (a)-[e:X]->(b)', 'in')).toBe('MATCH (a)<-[e:X]-(b)')
		expect(turn('MATCH (a)<-[e:X]-(b)', 'in')).toBe('MATCH (a)-[e:X]->(b)')
		expect(turn('MATCH (a)<--(b)', 'any')).toBe('MATCH (a)--(b)')
	})
	it('become absent, and back', () => {
		expect(change('MATCH (a)-[:X]->(b)--(c)', { kind: 'absent', edge: 0, absent: true })).toBe('MATCH (a), (b)--(c), NOT (a)-[:X]->(b)')
		expect(change('MATCH (a), (b), NOT (a)-->(b)', { kind: 'absent', edge: 0, absent: false })).toBe('MATCH (a), (b), (a)-->(b)')
	})
	it('have lengths', () => {
		const length = (query: string, length: string) => change(query, { kind: 'length', edge: 0, length })
		expect(length('MATCH (a)-->(b)', '1..3')).toBe('MATCH (a)-[*1..3]->(b)')
		expect(length('MATCH (a)-[:X*2]->(b)', '')).toBe('MATCH (a)-[:X]->(b)')
		expect(() => length('MATCH (a)-->(b)', '3..1')).toThrow(Refusal)
	})
})

describe('names', () => {
	it('change wherever they are used, and nowhere else', () => {
		const query = "MATCH (a:a {a: a.a})-[e:a]->(b) // a\nWHERE a.a > 'a' AND id(a) = $a AND EXISTS { (a)--(c) WHERE a.x = c.a } RETURN a, b.a AS a"
		expect(change(query, { kind: 'name', of: vertex(query, 'a'), name: 'hub' })).toBe(
			"MATCH (hub:a {a: hub.a})-[e:a]->(b) // a\nWHERE hub.a > 'a' AND id(hub) = $a AND EXISTS { (hub)--(c) WHERE hub.x = c.a } RETURN hub, b.a AS a",
		)
	})
	it('of EXISTS stay inside it', () => {
		const query = 'MATCH (a) WHERE EXISTS { (a)--(c) WHERE c.x > 1 } AND EXISTS { (a)-->(c) }'
		expect(change(query, { kind: 'name', of: { vertex: 1 }, name: 'd' })).toBe('MATCH (a) WHERE EXISTS { (a)--(d) WHERE d.x > 1 } AND EXISTS { (a)-->(c) }')
	})
	it('of edges change in ORDERED', () => {
		expect(change('MATCH (a)-[e]->(b)-[f]->(c) ORDERED e < f ON e WITHIN 1h', { kind: 'name', of: { edge: 0 }, name: 'first' })).toBe(
			'MATCH (a)-[first]->(b)-[f]->(c) ORDERED first < f ON e WITHIN 1h',
		)
	})
	it('come, go and are quoted', () => {
		expect(change('MATCH (:X)--()', { kind: 'name', of: { vertex: 0 }, name: 'match' })).toBe('MATCH (`match`:X)--()')
		expect(change('MATCH (WHERE _.x > 1)', { kind: 'name', of: { vertex: 0 }, name: 'a' })).toBe('MATCH (a WHERE _.x > 1)')
		expect(change('MATCH (a)-[e]->(b)', { kind: 'name', of: { edge: 0 }, name: '' })).toBe('MATCH (a)-->(b)')
		expect(change('MATCH (a)-->(b)', { kind: 'name', of: { edge: 0 }, name: 'e f' })).toBe('MATCH (a)-[`e f`]->(b)')
	})
	it('are refused where they are taken or needed', () => {
		expect(() => change('MATCH (a)--(b)', { kind: 'name', of: { vertex: 0 }, name: 'b' })).toThrow('b is already a name')
		expect(() => change('MATCH (a)--(b) RETURN a', { kind: 'name', of: { vertex: 0 }, name: '' })).toThrow('a needs its name')
		expect(() => change('MATCH (a)--(b)--(a)', { kind: 'name', of: { vertex: 0 }, name: '' })).toThrow('a needs its name')
	})
})

describe('brackets', () => {
	const labels = (query: string, labels: string, of: { vertex: number } | { edge: number } = { vertex: 0 }) => change(query, { kind: 'labels', of, labels })
	it('get and lose labels', () => {
		expect(labels('MATCH (a)', 'X|Y')).toBe('MATCH (a:X|Y)')
		expect(labels('MATCH ()', 'X')).toBe('MATCH (:X)')
		expect(labels('MATCH (WHERE _.x > 1)', 'X')).toBe('MATCH (:X WHERE _.x > 1)')
		expect(labels('MATCH (a :X {k: 1})', '')).toBe('MATCH (a {k: 1})')
		expect(labels('MATCH (a:X)--(b)--(a:Y)', 'X&Y&Z')).toBe('MATCH (a:X&Y&Z)--(b)--(a)')
		expect(labels('MATCH (a)--(b)', 'X', { edge: 0 })).toBe('MATCH (a)-[:X]-(b)')
		expect(labels('MATCH (a)<-[:X]-(b)', '', { edge: 0 })).toBe('MATCH (a)<--(b)')
		for (const bad of ['X)', 'a b', '{}', 'X //', 'X {k: 1}', '|']) expect(() => labels('MATCH (a)', bad)).toThrow(Refusal)
	})
	it('get and lose properties', () => {
		const property = (query: string, entry: number, key: string, value: string) => change(query, { kind: 'property', of: { vertex: 0 }, entry, key, value })
		expect(property('MATCH (a)', 0, 'x', '1')).toBe('MATCH (a {x: 1})')
		expect(property('MATCH ()', 0, 'odd key', "'t'")).toBe("MATCH ({`odd key`: 't'})")
		expect(property('MATCH (a:X {x:1} WHERE a.z > 1)', 1, 'y', '[1, 2]')).toBe('MATCH (a:X {x:1, y: [1, 2]} WHERE a.z > 1)')
		expect(property('MATCH (a {x:1, y: 2})', 0, 'x', '3')).toBe('MATCH (a {x:3, y: 2})')
		expect(property('MATCH (a {x:1, y: 2})', 0, '', '')).toBe('MATCH (a {y: 2})')
		expect(property('MATCH (a {x:1, y: 2})', 1, '', '')).toBe('MATCH (a {x:1})')
		expect(property('MATCH (a {x:1})', 0, '', '')).toBe('MATCH (a)')
		for (const bad of ['', '1, y: 2', '1}', 'a b', 'text with words', '1 +', 'a > 1', '/* no end', '1 // end']) expect(() => property('MATCH (a)', 0, 'x', bad)).toThrow(Refusal)
	})
	it('get and lose conditions', () => {
		const condition = (query: string, condition: string) => change(query, { kind: 'condition', of: { vertex: 0 }, condition })
		expect(condition('MATCH (a)', '_.x > 1')).toBe('MATCH (a WHERE _.x > 1)')
		expect(condition('MATCH (a {x: 1} WHERE _.x > 1)', 'a.y = 2')).toBe('MATCH (a {x: 1} WHERE a.y = 2)')
		expect(condition('MATCH (a WHERE _.x > 1)', '')).toBe('MATCH (a)')
		for (const bad of ['x > 1) (', 'a.x >', 'a.x > 1 a.y', 'a.x IS', 'AND']) expect(() => condition('MATCH (a)', bad)).toThrow(Refusal)
		for (const good of ['NOT a.x IS NOT NULL', 'a.x IN [1, -2] OR id(a) NOT IN $ids', "a.t >= timestamp '2024-01-01'", 'EXISTS { (a)--(b) } AND (a.x + 1) * 2 = 4', 'ALL_DIFFERENT(a, b)', 'a.y < 24h']) {
			expect(condition('MATCH (a)', good)).toBe(`MATCH (a WHERE ${good})`)
		}
	})
})

it('what is written beside a word keeps apart from it', () => {
	const e = { edge: 0 }
	expect(change('MATCH (a)-[e:(TX|FEE)WHERE e.amount>1]->(b)', { kind: 'labels', of: e, labels: 'TX' })).toBe('MATCH (a)-[e:TX WHERE e.amount>1]->(b)')
	expect(change('MATCH (a WHERE(a.x=1))--(b)', { kind: 'condition', of: { vertex: 0 }, condition: 'a.x=2' })).toBe('MATCH (a WHERE a.x=2)--(b)')
})

it('a text that has changed is not edited at old places', () => {
	const parts = partsOf('MATCH (a)--(b)')!
	expect(fits('MATCH (a)--(b) RETURN a', parts)).toBe(true)
	expect(fits(' MATCH (a)--(b)', parts)).toBe(false)
	expect(fits('MATCH (a)--(c)', parts)).toBe(false)
	expect(() => edit('MATCH (b)--(a)', parts, { kind: 'delete', of: { vertex: 0 } })).toThrow(Refusal)
})
