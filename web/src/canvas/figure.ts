import type { Parts } from '../api'
import { edgeKeys, neighbours, vertexKeys, type Point, type Positions } from './layout'
import { edgeLines, shorten, smallSize, textWidth, vertexWidth } from './texts'

/** A drawing as shapes, for the page and for a file. Coordinates are pixels. */
export interface Figure {
	vertices: VertexShape[]
	edges: EdgeShape[]
	hulls: HullShape[]
	bounds: Box
}

export interface Box {
	x: number
	y: number
	width: number
	height: number
}

export interface VertexShape {
	key: string
	at: Point
	/** A circle is as wide as it is high; longer names widen it to a capsule. */
	width: number
	height: number
	name: string
	/** What stands beside it. */
	lines: Line[]
	/** Bound only inside a condition. */
	inner: boolean
}

export interface Line {
	kind: 'labels' | 'properties' | 'where'
	text: string
	/** The base of the text at its anchor. */
	at: Point
	anchor: 'start' | 'middle' | 'end'
}

export interface EdgeShape {
	key: string
	path: string
	head: string
	/** The middle, where the texts stand. */
	at: Point
	lines: string[]
	/** The word of an absent or conditional edge. */
	word: string
	dashed: boolean
}

export interface HullShape {
	path: string
	word: string
	at: Point
}

const radius = 20

/** words are what the groups are called in a drawing. */
const words = { match: '', not: 'NOT', exists: 'EXISTS', condition: 'CONDITION' }

/** figure makes the shapes of a drawing. All vertices need a position. */
export function figure(parts: Parts, positions: Positions): Figure {
	const keys = vertexKeys(parts)
	const vertices = parts.vertices.map((v, i): VertexShape => {
		return {
			key: keys[i]!,
			at: positions.get(keys[i]!)!,
			width: vertexWidth(v.name),
			height: 2 * radius,
			name: shorten(v.name),
			lines: [],
			inner: v.group > 0,
		}
	})
	for (const [i, v] of parts.vertices.entries()) {
		const texts = (['labels', 'properties', 'where'] as const).filter(k => v[k]).map(kind => ({ kind, text: shorten(v[kind]) }))
		vertices[i]!.lines = beside(vertices[i]!, texts, neighbours(parts)[i]!.map(w => vertices[w]!.at))
	}
	const hulls: HullShape[] = []
	const hulled = new Set<number>()
	for (const [g, group] of parts.groups.entries()) {
		const members = vertices.filter((_, v) => g > 0 && isIn(parts, parts.vertices[v]!.group, g))
		if (members.length === 0) continue
		hulled.add(g)
		hulls.push(hull(members, vertices.filter(v => !members.includes(v)).map(v => v.at), words[group.kind]))
	}
	const edges = edgeShapes(parts, vertices, hulled)
	return { vertices, edges, hulls, bounds: bounds(vertices, edges, hulls) }
}

/** beside places texts at the side of a vertex that edges use least; below it if they leave it free. */
function beside(v: VertexShape, texts: Pick<Line, 'kind' | 'text'>[], near: Point[]): Line[] {
	const blocked = (x: number, y: number) => near.reduce((sum, p) => sum + Math.max(0, ((p.x - v.at.x) * x + (p.y - v.at.y) * y) / (Math.hypot(p.x - v.at.x, p.y - v.at.y) || 1) - 0.4), 0)
	const sides = [
		{ x: 0, y: 1, cost: blocked(0, 1) },
		{ x: 0, y: -1, cost: blocked(0, -1) + 0.05 },
		{ x: 1, y: 0, cost: blocked(1, 0) + 0.1 },
		{ x: -1, y: 0, cost: blocked(-1, 0) + 0.15 },
	]
	const side = sides.reduce((best, s) => (s.cost < best.cost ? s : best))
	const first = side.y > 0 ? v.height / 2 + 14 : side.y < 0 ? -v.height / 2 - 6 - 14 * (texts.length - 1) : 4 - 7 * (texts.length - 1)
	return texts.map((t, i) => ({
		...t,
		at: { x: v.at.x + side.x * (v.width / 2 + 10), y: v.at.y + first + 14 * i },
		anchor: side.x > 0 ? 'start' : side.x < 0 ? 'end' : 'middle',
	}))
}

/** isIn reports whether a group is another or inside it. */
function isIn(parts: Parts, inner: number, outer: number): boolean {
	for (let g = inner; g >= 0; g = parts.groups[g]?.parent ?? -1) if (g === outer) return true
	return false
}

function edgeShapes(parts: Parts, vertices: VertexShape[], hulled: Set<number>): EdgeShape[] {
	const keys = edgeKeys(parts)
	const beside = new Map<string, number[]>()
	for (const [i, e] of parts.edges.entries()) {
		const ends = [Math.min(e.from, e.to), Math.max(e.from, e.to)].join()
		beside.set(ends, [...(beside.get(ends) ?? []), i])
	}
	return parts.edges.map((e, i) => {
		const all = beside.get([Math.min(e.from, e.to), Math.max(e.from, e.to)].join())!
		const nth = all.indexOf(i)
		const a = vertices[e.from]!
		const b = vertices[e.to]!
		const lines = edgeLines(e)
		const word = e.group > 0 && !hulled.has(e.group) ? words[parts.groups[e.group]!.kind] : ''
		const width = Math.max(...[word, ...lines].map(l => textWidth(l, smallSize)))
		const line = a === b ? loop(a, nth) : curve(a, b, (nth - (all.length - 1) / 2) * 40 * (e.from < e.to ? 1 : -1), width)
		return {
			key: keys[i]!,
			path: line.path,
			head: e.direction === 'out' ? line.head : '',
			at: line.middle,
			lines,
			word,
			dashed: e.group > 0,
		}
	})
}

const n = (x: number) => String(Math.round(x * 10) / 10)
const xy = (p: Point) => `${n(p.x)} ${n(p.y)}`

/**
 * curve joins two vertices by a line that is bent to its side by a number of pixels, and ends at their borders. The middle of a text of a
 * width is aside of a bent line, so that it does not touch that of the line beside it.
 */
function curve(a: VertexShape, b: VertexShape, bend: number, width: number) {
	const dx = b.at.x - a.at.x
	const dy = b.at.y - a.at.y
	const d = Math.hypot(dx, dy) || 1
	const control = { x: (a.at.x + b.at.x) / 2 - (dy / d) * bend * 2, y: (a.at.y + b.at.y) / 2 + (dx / d) * bend * 2 }
	const begin = border(a, control)
	const end = border(b, control)
	const middle = { x: begin.x / 4 + control.x / 2 + end.x / 4 - (dy / d) * Math.sign(bend) * (width / 2), y: begin.y / 4 + control.y / 2 + end.y / 4 }
	const path = bend === 0 ? `M${xy(begin)}L${xy(end)}` : `M${xy(begin)}Q${xy(control)} ${xy(end)}`
	return { path, head: arrow(control, end), middle }
}

/** loop leaves a vertex and comes back to it from above. */
function loop(v: VertexShape, nth: number) {
	const reach = 62 + 24 * nth
	const left = { x: v.at.x - reach * 0.6, y: v.at.y - reach }
	const right = { x: v.at.x + reach * 0.6, y: v.at.y - reach }
	const begin = border(v, left)
	const end = border(v, right)
	return { path: `M${xy(begin)}C${xy(left)} ${xy(right)} ${xy(end)}`, head: arrow(right, end), middle: { x: v.at.x, y: v.at.y - reach * 0.84 } }
}

/** border is where the line from the middle of a vertex to a point leaves its shape. */
function border(v: VertexShape, to: Point): Point {
	const dx = to.x - v.at.x
	const dy = to.y - v.at.y
	const d = Math.hypot(dx, dy) || 1
	const half = v.width / 2 - v.height / 2
	const gap = v.height / 2 + 2
	let inside = 0
	let outside = v.width + v.height
	for (let k = 0; k < 20; k++) {
		const m = (inside + outside) / 2
		const x = Math.max(Math.abs((dx / d) * m) - half, 0)
		if (Math.hypot(x, (dy / d) * m) < gap) inside = m
		else outside = m
	}
	return { x: v.at.x + (dx / d) * inside, y: v.at.y + (dy / d) * inside }
}

function arrow(from: Point, tip: Point): string {
	const d = Math.hypot(tip.x - from.x, tip.y - from.y) || 1
	const ux = (tip.x - from.x) / d
	const uy = (tip.y - from.y) / d
	const back = { x: tip.x - ux * 10, y: tip.y - uy * 10 }
	return `M${xy(tip)}L${xy({ x: back.x - uy * 4.5, y: back.y + ux * 4.5 })}L${xy({ x: back.x + uy * 4.5, y: back.y - ux * 4.5 })}Z`
}

/** hull is the outline around vertices, with their texts. */
function hull(members: VertexShape[], others: Point[], word: string): HullShape {
	const texts = members.flatMap(v => v.lines.flatMap(l => corners(l)))
	const around = members.flatMap(v =>
		[...Array(24).keys()].map(k => {
			const a = (k * Math.PI) / 12
			const wide = v.width / 2 - v.height / 2
			return { x: v.at.x + Math.sign(Math.round(Math.cos(a) * 1e6)) * wide + Math.cos(a) * (radius + 14), y: v.at.y + Math.sin(a) * (radius + 14) }
		}),
	)
	const outline = convex([...around, ...texts])
	const middle = (y: number) => {
		const xs = outline.filter(p => Math.abs(p.y - y) < 2).map(p => p.x)
		return (Math.min(...xs) + Math.max(...xs)) / 2
	}
	const top = Math.min(...outline.map(p => p.y))
	const bottom = Math.max(...outline.map(p => p.y))
	// The word stands at the side on which fewer other vertices are, because edges to them would cross it.
	const above = others.filter(p => p.y < (top + bottom) / 2).length
	const at = above * 2 <= others.length ? { x: middle(top), y: top - 8 } : { x: middle(bottom), y: bottom + 8 }
	return { path: 'M' + outline.map(xy).join('L') + 'Z', word, at }
}

/** corners are those of the box of a text. */
function corners(l: Line): Point[] {
	const width = textWidth(l.text, smallSize)
	const left = l.at.x - (l.anchor === 'start' ? 0 : l.anchor === 'end' ? width : width / 2) - 6
	const right = left + width + 12
	return [l.at.y - 14, l.at.y + 8].flatMap(y => [
		{ x: left, y },
		{ x: right, y },
	])
}

/** convex is the convex hull of points, in order (monotone chain). */
function convex(points: Point[]): Point[] {
	const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y)
	const half = (ps: Point[]) => {
		const out: Point[] = []
		for (const p of ps) {
			for (let a, b; out.length > 1 && ((b = out.at(-1)!), (a = out.at(-2)!), (b.x - a.x) * (p.y - a.y) <= (b.y - a.y) * (p.x - a.x)); ) out.pop()
			out.push(p)
		}
		return out.slice(0, -1)
	}
	return [...half(sorted), ...half(sorted.reverse())]
}

function bounds(vertices: VertexShape[], edges: EdgeShape[], hulls: HullShape[]): Box {
	const xs: number[] = []
	const ys: number[] = []
	const add = (x: number, y: number, width: number, height: number) => {
		xs.push(x - width, x + width)
		ys.push(y - height, y + height)
	}
	for (const v of vertices) {
		add(v.at.x, v.at.y, v.width / 2, v.height / 2)
		for (const c of v.lines.flatMap(corners)) add(c.x, c.y, 0, 0)
	}
	for (const e of edges) add(e.at.x, e.at.y, Math.max(...e.lines.concat(e.word).map(l => textWidth(l, smallSize) / 2)), 8 + 7 * e.lines.length)
	for (const h of hulls) {
		for (const m of h.path.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)) add(Number(m[1]), Number(m[2]), 2, 2)
		add(h.at.x, h.at.y, textWidth(h.word, smallSize) / 2 + 4, 8)
	}
	if (xs.length === 0) return { x: 0, y: 0, width: 0, height: 0 }
	const [x, y] = [Math.min(...xs), Math.min(...ys)]
	return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y }
}
