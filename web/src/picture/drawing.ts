import type { Parts, Row, Value } from '../api'
import { returned } from './returned'

export type Id = number | string

/** A vertex of the pattern, and the column that has its id. */
export interface Role {
	name: string
	labels: string
	/** null if the rows do not have it. */
	column: string | null
}

export interface Vertex {
	key: string
	id: Id
	/** What it is in matches, as places in Drawing.roles; none for a neighbour. */
	roles: number[]
	matches: number[]
}

/** All edges between two vertices are one line. */
export interface Edge {
	key: string
	from: string
	to: string
	/** Whether there is an arrow at to, and at from. */
	forward: boolean
	backward: boolean
	labels: string[]
	matches: number[]
}

export interface Match {
	row: Row
	/** The vertex of each role, or null. */
	vertices: (string | null)[]
	edges: string[]
}

export interface Drawing {
	roles: Role[]
	vertices: Map<string, Vertex>
	edges: Map<string, Edge>
	matches: Match[]
	/** Whether edges of the pattern are known. If not, only edges in the rows are edges of matches. */
	shaped: boolean
	directed: boolean
}

/** An edge of the graph between two vertices. */
export interface Pair {
	from: Id
	to: Id
}

export const keyOf = (id: Id) => JSON.stringify(id)
const isId = (v: Value | undefined): v is Id => typeof v === 'number' || typeof v === 'string'

interface EdgeValue {
	src: Id
	dst: Id
	label?: Value
}

const isEdge = (v: Value | undefined): v is { [key: string]: Value } & EdgeValue =>
	typeof v === 'object' && v !== null && !Array.isArray(v) && isId(v['src']) && isId(v['dst'])

interface Line {
	from: number
	to: number
	directed: boolean
	column: string | null
}

/** The roles of a query, and the edges of the pattern between them. */
export interface Shape {
	roles: Role[]
	lines: Line[]
	/** Columns with edges that are not in lines. */
	loose: string[]
	shaped: boolean
}

/** shapeOf says which column of the rows is which vertex and which edge of the pattern. */
export function shapeOf(query: string, parts: Parts | null, columns: string[]): Shape {
	const r = returned(query)
	const has = new Set(columns)
	const taken = new Set<string>()
	const columnOf = (name: string): string | null => {
		const column = r ? r.items.find(it => it.name === name && has.has(it.column))?.column : has.has(name) ? name : undefined
		if (column === undefined) return null
		taken.add(column)
		return column
	}
	const roles: Role[] = []
	const place = new Map<number, number>()
	const drawn = (group: number) => (parts?.groups[group]?.kind ?? 'match') === 'match'
	parts?.vertices.forEach((v, i) => {
		if (!drawn(v.group)) return
		place.set(i, roles.length)
		// A vertex without a name has one of its place in rows without RETURN.
		roles.push({ name: v.name || `_${i}`, labels: v.labels, column: columnOf(v.name || `_${i}`) })
	})
	const lines: Line[] = []
	for (const e of parts?.edges ?? []) {
		const from = place.get(e.from)
		const to = place.get(e.to)
		if (!drawn(e.group) || from === undefined || to === undefined || e.length) continue
		lines.push({ from, to, directed: e.direction === 'out', column: e.name ? columnOf(e.name) : null })
	}
	const shaped = lines.length > 0
	const loose: string[] = []
	for (const column of columns) {
		if (taken.has(column)) continue
		const item = r?.items.find(it => it.column === column)
		if (r && !item?.name) continue
		loose.push(column)
	}
	return { roles, lines, loose, shaped }
}

/** drawingOf joins the first matches to one drawing. */
export function drawingOf(shape: Shape, rows: Row[], count: number, directed: boolean): Drawing {
	// A column that no part of the pattern explains is a vertex, or an edge, by its first value.
	const first = (column: string) => rows.find(row => row[column] !== null && row[column] !== undefined)?.[column]
	const extra = shape.loose.filter(c => isEdge(first(c)))
	const known = shape.roles.some(r => r.column !== null)
	const roles = known ? shape.roles : [...shape.roles, ...shape.loose.filter(c => isId(first(c))).map(c => ({ name: c, labels: '', column: c }))]
	const d: Drawing = { roles, vertices: new Map(), edges: new Map(), matches: [], shaped: shape.shaped && known, directed }
	for (const row of rows.slice(0, count)) {
		const at = d.matches.length
		const match: Match = { row, vertices: [], edges: [] }
		roles.forEach((role, i) => {
			const id = role.column === null ? undefined : row[role.column]
			if (!isId(id)) {
				match.vertices.push(null)
				return
			}
			const v = vertexIn(d, id)
			if (!v.roles.includes(i)) v.roles.push(i)
			if (v.matches.at(-1) !== at) v.matches.push(at)
			match.vertices.push(v.key)
		})
		const edge = (value: Value | undefined) => {
			if (!isEdge(value)) return false
			for (const id of [value.src, value.dst]) {
				const v = vertexIn(d, id)
				if (v.matches.at(-1) !== at) v.matches.push(at)
			}
			edgeIn(d, value, directed, at, match, typeof value.label === 'string' ? value.label : '')
			return true
		}
		for (const line of shape.lines) {
			if (line.column !== null && edge(row[line.column])) continue
			const from = match.vertices[line.from]
			const to = match.vertices[line.to]
			if (!from || !to || from === to) continue
			edgeIn(d, { from: d.vertices.get(from)!.id, to: d.vertices.get(to)!.id }, directed && line.directed, at, match)
		}
		for (const column of extra) edge(row[column])
		d.matches.push(match)
	}
	for (const v of d.vertices.values()) v.roles.sort((a, b) => a - b)
	return d
}

function vertexIn(d: Drawing, id: Id): Vertex {
	const key = keyOf(id)
	let v = d.vertices.get(key)
	if (!v) d.vertices.set(key, (v = { key, id, roles: [], matches: [] }))
	return v
}

function edgeIn(d: Drawing, pair: Pair | EdgeValue, arrow: boolean, at = -1, match?: Match, label = '') {
	const a = keyOf('src' in pair ? pair.src : pair.from)
	const b = keyOf('src' in pair ? pair.dst : pair.to)
	if (a === b) return
	const [from, to] = a < b ? [a, b] : [b, a]
	const key = `${from} ${to}`
	let e = d.edges.get(key)
	if (!e) d.edges.set(key, (e = { key, from, to, forward: false, backward: false, labels: [], matches: [] }))
	if (arrow && a === from) e.forward = true
	if (arrow && a === to) e.backward = true
	if (label && !e.labels.includes(label)) e.labels.push(label)
	if (match) {
		if (e.matches.at(-1) !== at) e.matches.push(at)
		if (!match.edges.includes(key)) match.edges.push(key)
	}
}

/** withPairs returns the drawing with more edges of the graph, and the vertices at their ends. */
export function withPairs(d: Drawing, pairs: Pair[]): Drawing {
	if (pairs.length === 0) return d
	const out: Drawing = { ...d, vertices: new Map(d.vertices), edges: new Map() }
	for (const [key, e] of d.edges) out.edges.set(key, { ...e })
	for (const p of pairs) {
		vertexIn(out, p.from)
		vertexIn(out, p.to)
		edgeIn(out, p, d.directed)
	}
	return out
}

/** degreesOf counts the neighbours in view of each vertex. */
export function degreesOf(d: Drawing): Map<string, number> {
	const out = new Map<string, number>()
	for (const key of d.vertices.keys()) out.set(key, 0)
	for (const e of d.edges.values()) {
		out.set(e.from, out.get(e.from)! + 1)
		out.set(e.to, out.get(e.to)! + 1)
	}
	return out
}

/** plain writes a value of a row as text. */
export function plain(v: Value | undefined): string {
	if (v === null || v === undefined) return 'null'
	if (isEdge(v)) {
		const rest = Object.entries(v).filter(([k]) => k !== 'src' && k !== 'dst')
		return `${v.src} to ${v.dst}${rest.length ? ` (${rest.map(([k, x]) => `${k} ${plain(x)}`).join(', ')})` : ''}`
	}
	if (Array.isArray(v)) return v.map(plain).join(', ')
	return typeof v === 'object' ? JSON.stringify(v) : String(v)
}

const plural = (n: number, one: string, many: string) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`

/** inWords tells one match. */
export function inWords(d: Drawing, at: number): string {
	const m = d.matches[at]
	if (!m) return ''
	const told = new Set<string>()
	const vertices = d.roles.flatMap(r => {
		if (r.column === null) return []
		told.add(r.column)
		return [`${r.name} is ${plain(m.row[r.column])}`]
	})
	const others = Object.entries(m.row).filter(([column]) => !told.has(column))
	const rest = others.map(([column, v]) => `${column} is ${plain(v)}`)
	return `Match ${at + 1} of ${d.matches.length}: ${[...vertices, ...rest].join(', ')}.`
}

/** summary tells the picture. */
export function summary(d: Drawing): string {
	const near = [...d.vertices.values()].filter(v => v.matches.length === 0).length
	const edges = [...d.edges.values()]
	const strong = edges.filter(e => e.matches.length > 0).length
	const parts = [`${plural(d.matches.length, 'match', 'matches')} with ${plural(d.vertices.size - near, 'vertex', 'vertices')} and ${plural(strong, 'edge', 'edges')}`]
	if (near > 0) parts.push(plural(near, 'neighbour', 'neighbours'))
	if (edges.length > strong) parts.push(plural(edges.length - strong, 'edge besides', 'edges besides'))
	return `${parts.join(', ')}.`
}
