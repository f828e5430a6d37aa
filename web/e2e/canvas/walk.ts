import type { Parts } from '../../src/api'
import { edit, Refusal, type Change } from '../../src/canvas/edit'
import { nothing, partsOf, type Ref } from '../../src/canvas/parts'

/** generator is a small generator of random numbers (mulberry32), so that a test that fails can be run again. */
function generator(seed: number) {
	const next = () => {
		seed = (seed + 0x6d2b79f5) | 0
		let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296
	}
	const below = (n: number) => Math.floor(next() * n)
	return { below, pick: <T>(list: readonly T[]) => list[below(list.length)]! }
}

type Random = ReturnType<typeof generator>

/** Texts from which random edits begin. */
export const beginnings = [
	'',
	'  // nothing yet',
	'MATCH (a)--(b)--(c)--(a) RETURN count(DISTINCT SUBGRAPHS)',
	'/* ä */ MATCH INDUCED (a:Person {name: "Bjørn 😀"})-[e:FOLLOWS|LIKES WHERE _.w >= 5]->(b:Person), // two\n   NOT (b)-[:FOLLOWS]->(a)\nWHERE a.x > 1 AND id(b) < 7\nRETURN a, b.name AS who, e.w LIMIT 10 // end',
	'MATCH REPEATABLE ELEMENTS ()-->(:X|Y)<--(`odd name`), (`odd name`)-[*1..3]-(c) RETURN c',
	'MATCH (a)--(b) WHERE NOT EXISTS { (a)--(c)--(b), (c)-->(d) WHERE c.year < a.year } AND EXISTS { (b)-->(c) } RETURN a, b',
	'MATCH (a)-[e]->(b)-[f]->(c) WHERE a.k = 1 OR EXISTS { (c)-->(x) } ORDERED e < f ON ts WITHIN 24h RETURN a, e, f',
	'DEFINE mutual(a, b) AS { (a)-->(b), (b)-->(a) }\nMATCH (a)-->(b), !(b)-->()-->(a)',
	'MATCH (a {x: b.x})--(b WHERE _.y = a.y AND NOT (EXISTS { (a)-->(z) })), (a:P), (a:Q|R) ;',
	'EXPLAIN MATCH (hub)--(l1), (hub)--(l2),\n      (hub)--(l3)\nRETURN participation(hub) GROUP BY hub.kind',
	'CREATE WATCH ring AS MATCH (a)-[e1]->(b)-[e2]->(a) WITHIN 7d EMIT ADDED',
]

const labels = ['', 'Person', 'X|Y', '!A&(B|`odd label`)', '%', '10', 'a b']
const names = ['', 'a', 'd', 'x', 'match', 'two words', 'größe', 'c']
const conditions = ['', '_.x > 1', "_.name = 'it''s' OR _.y IS NULL", 'EXISTS { (a)--(q) }', '(']
const values = ['1', "'t'", '[1, 2]', '-2.5', '$p', '24h', 'x y', '']

function randomChange(r: Random, parts: Parts): Change {
	const vertex = () => r.below(parts.vertices.length)
	const edge = () => r.below(parts.edges.length)
	if (parts.vertices.length === 0) return { kind: 'add vertex' }
	const of: Ref = parts.edges.length > 0 && r.below(2) ? { edge: edge() } : { vertex: vertex() }
	const ofEdge = parts.edges.length > 0 ? r.below(10) : r.below(7)
	switch (ofEdge) {
		case 0:
			return { kind: 'add vertex' }
		case 1:
			return { kind: 'add edge', from: vertex(), to: r.below(4) ? vertex() : null, directed: r.below(2) === 0 }
		case 2:
			return { kind: 'delete', of }
		case 3:
			return { kind: 'name', of, name: r.pick(names) }
		case 4:
			return { kind: 'labels', of, labels: r.pick(labels) }
		case 5:
			return r.below(3) ? { kind: 'property', of, entry: r.below(3), key: r.pick(['x', 'odd key', 'y']), value: r.pick(values) } : { kind: 'property', of, entry: 0, key: '', value: '' }
		case 6:
			return { kind: 'condition', of, condition: r.pick(conditions) }
		case 7:
			return { kind: 'length', edge: edge(), length: r.pick(['', '2', '1..3']) }
		case 8:
			return { kind: 'direction', edge: edge(), direction: r.pick(['any', 'out', 'in'] as const) }
		default:
			return { kind: 'absent', edge: edge(), absent: r.below(2) === 0 }
	}
}

/** walk makes random edits of a text one after the other, and calls f with each text and the drawing that it should have. */
export async function walk(seed: number, steps: number, f: (query: string, parts: Parts, change: Change, before: string) => void | Promise<void>) {
	const r = generator(seed)
	let query = r.pick(beginnings)
	let parts = partsOf(query) ?? nothing
	let made = 0
	for (let i = 0; i < steps; i++) {
		const change = randomChange(r, parts)
		let next
		try {
			next = edit(query, parts, change)
		} catch (e) {
			if (!(e instanceof Refusal)) throw e
			continue
		}
		const after = partsOf(next) ?? nothing
		if (next.includes('MATCH') !== (after !== nothing)) throw new Error(`cannot be read: ${JSON.stringify(change)}\n${query}\n${next}`)
		await f(next, after, change, query)
		made++
		;[query, parts] = [next, after]
	}
	return made
}
