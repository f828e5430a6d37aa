import type { PartEdge, PartGroup, Parts, PartVertex, Span } from '../api'
import { read, type EdgeElement, type Element, type Reading } from './read'

/** A vertex or an edge of a drawing, by its number. */
export type Ref = { vertex: number } | { edge: number }

/** What the inspector shows of a vertex or edge: the texts of all its places. */
export interface Details {
	name: string
	labels: string
	length: string
	entries: { key: string; value: string }[]
	condition: string
}

/**
 * partsOf reads a drawing from a text that an edit has just made, so that it is there before the server has answered.
 * It returns null where the server alone knows the vertices: with calls of named patterns and definitions.
 */
export function partsOf(query: string): Parts | null {
	const reading = read(query)
	if (!reading?.plain) return null
	const parts: Parts = {
		semantics: reading.bodies[0]!.semantics,
		induced: reading.bodies[0]!.induced,
		groups: [],
		vertices: [],
		edges: [],
		where: reading.where ? query.slice(...reading.where) : '',
		rest: [],
		fixed: '',
	}
	const named: Map<string, number>[] = []
	const groupOf: number[] = []
	const cut = (s: Span | null) => (s ? query.slice(...s) : '')

	for (const body of reading.bodies) {
		named.push(new Map())
		groupOf.push(parts.groups.push({ kind: body.kind, parent: groupOf[body.parent] ?? -1, at: body.at } satisfies PartGroup) - 1)
	}
	const vertex = (b: number, group: number, x: Element): number => {
		let v = -1
		for (let around = b; x.name && v < 0 && around >= 0; around = reading.bodies[around]!.parent) v = named[around]!.get(nameOf(x)) ?? -1
		if (v < 0) {
			v = parts.vertices.push({ name: nameOf(x), labels: '', properties: '', group, at: [] }) - 1
			if (nameOf(x)) named[b]!.set(nameOf(x), v)
		}
		parts.vertices[v]!.at.push(x.at)
		return v
	}
	// The names of a body come from all its paths without NOT, wherever they stand.
	for (const not of [false, true]) {
		for (const [b, body] of reading.bodies.entries()) {
			for (const path of body.paths) {
				if ((path.not !== null) !== not) continue
				const group = not ? parts.groups.push({ kind: 'not', parent: groupOf[b]!, at: path.at }) - 1 : groupOf[b]!
				const at = path.nodes.map(n => vertex(b, group, n))
				for (const [i, e] of path.edges.entries()) {
					parts.edges.push({
						name: nameOf(e),
						from: at[e.left ? i + 1 : i]!,
						to: at[e.left ? i : i + 1]!,
						direction: e.left || e.right ? 'out' : 'any',
						labels: cut(e.label),
						properties: propertiesOf(query, [e]),
						length: cut(e.length),
						group,
						at: e.at,
					})
				}
			}
		}
	}
	for (const v of parts.vertices) {
		v.at.sort((a, b) => a[0] - b[0])
		const places = v.at.map(at => elementAt(reading, at)!)
		v.labels = labelsOf(query, places)
		v.properties = propertiesOf(query, places)
	}
	return parts
}

/** nameOf is the name of a node or edge; _ is not one. */
export function nameOf(x: Element): string {
	return x.name && (x.name.text !== '_' || x.name.kind === 'quoted') ? x.name.text : ''
}

/** All labels must hold, so those of several places are joined with &. */
function labelsOf(query: string, places: Element[]): string {
	const labels = [...new Set(places.filter(x => x.label).map(x => query.slice(...x.label!)))]
	return labels.length > 1 ? labels.map(l => (l.includes('|') ? `(${l})` : l)).join('&') : (labels[0] ?? '')
}

function conditionOf(query: string, places: Element[]): string {
	const all = places.filter(x => x.condition).map(x => query.slice(...x.condition!))
	return all.length > 1 ? all.map(c => (/\bor\b/i.test(c) ? `(${c})` : c)).join(' AND ') : (all[0] ?? '')
}

function propertiesOf(query: string, places: Element[]): string {
	const entries = places.flatMap(x => x.entries.map(e => query.slice(...e.at)))
	const condition = conditionOf(query, places)
	return [entries.length ? `{${entries.join(', ')}}` : '', condition && `WHERE ${condition}`].filter(Boolean).join(' ')
}

/** elementAt finds the node or edge that has a place of the text. */
export function elementAt(reading: Reading, at: Span): Element | null {
	for (const body of reading.bodies) {
		for (const path of body.paths) {
			for (const x of [...path.nodes, ...path.edges]) if (x.at[0] === at[0] && x.at[1] === at[1]) return x
		}
	}
	return null
}

/** placesOf lists the places of a vertex or edge. */
export function placesOf(reading: Reading, parts: Parts, of: Ref): Element[] {
	const at = 'vertex' in of ? parts.vertices[of.vertex]!.at : [parts.edges[of.edge]!.at]
	return at.map(a => elementAt(reading, a)).filter(x => x !== null)
}

/** details returns what the inspector shows of a vertex or edge. */
export function details(query: string, reading: Reading, parts: Parts, of: Ref): Details {
	const places = placesOf(reading, parts, of)
	const length = places[0]?.length
	return {
		name: 'vertex' in of ? parts.vertices[of.vertex]!.name : parts.edges[of.edge]!.name,
		labels: labelsOf(query, places),
		length: length ? query.slice(length[0] + 1, length[1]) : '',
		entries: places.flatMap(x => x.entries.map(e => ({ key: e.key.text, value: query.slice(...e.value) }))),
		condition: conditionOf(query, places),
	}
}

/** fits reports whether parts are those of a text: while it is typed, they are those of the text before. */
export function fits(query: string, parts: Parts): boolean {
	const reading = read(query)
	if (!reading) return false
	const same = (x: Element | null, name: string): x is Element => !!x && nameOf(x) === name
	const places = reading.bodies.flatMap(b => b.paths).reduce((n, p) => n + p.nodes.length + p.edges.length, 0)
	return (
		places === parts.vertices.reduce((n, v) => n + v.at.length, 0) + parts.edges.length &&
		parts.vertices.every((v: PartVertex) => v.at.every(at => same(elementAt(reading, at), v.name))) &&
		parts.edges.every((e: PartEdge) => {
			const x = elementAt(reading, e.at) as EdgeElement | null
			if (!same(x, e.name) || (x.left || x.right) !== (e.direction === 'out')) return false
			const [before, after] = neighbours(reading, x)
			const ends = (v: number, n: Element) => parts.vertices[v]?.at.some(at => at[0] === n.at[0])
			return x.left ? ends(e.from, after) && ends(e.to, before) : ends(e.from, before) && ends(e.to, after)
		})
	)
}

/** neighbours returns the nodes before and after an edge of the text. */
function neighbours(reading: Reading, x: EdgeElement): [Element, Element] {
	for (const body of reading.bodies) {
		for (const path of body.paths) {
			const i = path.edges.indexOf(x)
			if (i >= 0) return [path.nodes[i]!, path.nodes[i + 1]!]
		}
	}
	throw new Error('the edge is of another text')
}
