import type { Parts } from '../api'
import { edgeLines, smallSize, textWidth, vertexWidth } from './texts'

export interface Point {
	x: number
	y: number
}

/** Places of vertices by their keys. */
export type Positions = ReadonlyMap<string, Point>

/** The length of an edge without texts, in pixels. */
export const step = 120

/**
 * vertexKeys returns a key of each vertex that stays while the text changes: its name, or its number among those without one, or among those
 * of the same name, which several conditions can have.
 */
export function vertexKeys(parts: Parts): string[] {
	const seen = new Map<string, number>()
	return parts.vertices.map(({ name }) => {
		const n = seen.get(name) ?? 0
		seen.set(name, n + 1)
		return name && n === 0 ? name : `${name}()${n}`
	})
}

/** edgeKeys returns a key of each edge: its ends, and its number among the edges between these. */
export function edgeKeys(parts: Parts): string[] {
	const keys = vertexKeys(parts)
	const seen = new Map<string, number>()
	return parts.edges.map(e => {
		const ends = [keys[e.from]!, keys[e.to]!].sort().join('--')
		const n = seen.get(ends) ?? 0
		seen.set(ends, n + 1)
		return `${ends}#${n}`
	})
}

/** inTextOrder lists the keys of vertices as they first stand in the text. */
export function inTextOrder(parts: Parts): string[] {
	const keys = vertexKeys(parts)
	const first = (v: number) => parts.vertices[v]!.at[0]?.[0] ?? Infinity
	return [...keys.keys()].sort((a, b) => first(a) - first(b) || a - b).map(v => keys[v]!)
}

/**
 * place returns a place for each vertex. A vertex keeps the place of its name. One whose name is new, or that has none, takes that of a vertex
 * whose name has gone, in the order of the text; before is this order in the text before. Others come near their neighbours. The same input
 * gives the same places.
 */
export function place(parts: Parts, old: Positions, before: string[] = [...old.keys()]): Map<string, Point> {
	const keys = vertexKeys(parts)
	const now = inTextOrder(parts)
	const stays = (k: string) => !k.startsWith('()') && now.includes(k) && before.includes(k)
	const gone = before.filter(k => !stays(k))
	const come = now.filter(k => !stays(k))
	const from = new Map(come.map((k, i) => [k, gone[i]]))
	const points = keys.map(k => old.get(from.has(k) ? (from.get(k) ?? '') : k))
	if (points.every(p => !p)) arrange(parts, points)
	else settle(parts, points)
	return new Map(keys.map((k, i) => [k, points[i]!]))
}

/** neighbours lists the vertices that an edge joins with each vertex. */
export function neighbours(parts: Parts): number[][] {
	const out: Set<number>[] = parts.vertices.map(() => new Set())
	for (const e of parts.edges) {
		if (e.from === e.to) continue
		out[e.from]!.add(e.to)
		out[e.to]!.add(e.from)
	}
	return out.map(s => [...s])
}

/** lengths lists what the length of the longest edge between two vertices should be, so that its texts have room; 0 without an edge. */
function lengths(parts: Parts): number[][] {
	const out = parts.vertices.map(() => parts.vertices.map(() => 0))
	for (const e of parts.edges) {
		if (e.from === e.to) continue
		const ends = (vertexWidth(parts.vertices[e.from]!.name) + vertexWidth(parts.vertices[e.to]!.name)) / 2
		const texts = Math.max(0, ...edgeLines(e).map(l => textWidth(l, smallSize)))
		const length = Math.max(step, ends + 80, ends + texts + 50, out[e.from]![e.to]!)
		out[e.from]![e.to] = out[e.to]![e.from] = length
	}
	return out
}

/** arrange places all vertices: each connected part by its distances. */
function arrange(parts: Parts, points: (Point | undefined)[]) {
	const distances = shortest(lengths(parts))
	const seen = new Set<number>()
	const groups = [...points.keys()].flatMap(v => {
		if (seen.has(v)) return []
		const members = [...points.keys()].filter(w => distances[v]![w]! < Infinity)
		members.forEach(w => seen.add(w))
		const placed = majorize(members, distances)
		const [x, y] = [Math.min(...placed.map(p => p.x)), Math.min(...placed.map(p => p.y))]
		const [width, height] = [Math.max(...placed.map(p => p.x)) - x + step, Math.max(...placed.map(p => p.y)) - y + step]
		return [{ members, placed, x, y, width, height }]
	})
	// They stand in rows, which together are somewhat wider than high.
	const wide = Math.max(...groups.map(g => g.width), 1.6 * Math.sqrt(groups.reduce((sum, g) => sum + g.width * g.height, 0)))
	let [left, top, row] = [0, 0, 0]
	for (const g of groups) {
		if (left > 0 && left + g.width > wide) [left, top, row] = [0, top + row, 0]
		g.members.forEach((w, i) => (points[w] = { x: Math.round(g.placed[i]!.x - g.x + left), y: Math.round(g.placed[i]!.y - g.y + top) }))
		left += g.width
		row = Math.max(row, g.height)
	}
}

/** shortest lists the lengths of shortest paths between all vertices (Floyd and Warshall). */
function shortest(lengths: number[][]): number[][] {
	const d = lengths.map((row, v) => row.map((l, w) => (v === w ? 0 : l || Infinity)))
	for (const k of d.keys()) for (const v of d.keys()) for (const w of d.keys()) d[v]![w] = Math.min(d[v]![w]!, d[v]![k]! + d[k]![w]!)
	return d
}

/** majorize places vertices so that their distances are near those in the pattern, by stress majorization from a circle. */
function majorize(members: number[], distances: number[][]): Point[] {
	const n = members.length
	const turn = n === 3 ? -Math.PI / 2 : Math.PI - Math.PI / n
	const points = members.map((_, i) => {
		const a = turn + (2 * Math.PI * i) / n
		return { x: Math.cos(a) * step * (n / 6 + 0.3), y: Math.sin(a) * step * (n / 6 + 0.3) }
	})
	for (let round = 0; round < 500; round++) {
		let moved = 0
		for (const [i, p] of points.entries()) {
			let [x, y, sum] = [0, 0, 0]
			for (const [j, q] of points.entries()) {
				if (i === j) continue
				const want = distances[members[i]!]![members[j]!]!
				const weight = 1 / (want * want)
				const have = Math.hypot(p.x - q.x, p.y - q.y) || 1e-6
				x += weight * (q.x + (want * (p.x - q.x)) / have)
				y += weight * (q.y + (want * (p.y - q.y)) / have)
				sum += weight
			}
			if (!sum) continue
			const next = { x: x / sum, y: y / sum }
			moved = Math.max(moved, Math.hypot(next.x - p.x, next.y - p.y))
			points[i] = next
		}
		if (moved < 0.01) break
	}
	return upright(points)
}

/** upright turns a long drawing to lie, with its first vertex at the left, and makes it straight if it nearly is; a round one it does not turn. */
function upright(points: Point[]): Point[] {
	const n = points.length
	const cx = points.reduce((s, p) => s + p.x, 0) / n
	const cy = points.reduce((s, p) => s + p.y, 0) / n
	let xx = 0
	let yy = 0
	let xy = 0
	for (const p of points) {
		xx += (p.x - cx) ** 2
		yy += (p.y - cy) ** 2
		xy += (p.x - cx) * (p.y - cy)
	}
	const spread = Math.hypot(xx - yy, 2 * xy)
	const long = spread > 0.2 * (xx + yy)
	let a = long ? -Math.atan2(2 * xy, xx - yy) / 2 : 0
	const turned = (a: number) => points.map(p => ({ x: (p.x - cx) * Math.cos(a) - (p.y - cy) * Math.sin(a), y: (p.x - cx) * Math.sin(a) + (p.y - cy) * Math.cos(a) }))
	if (long && turned(a)[0]!.x > turned(a)[n - 1]!.x) a += Math.PI
	const out = turned(a)
	const level = out.map(p => ({ x: p.x, y: 0 }))
	const nearest = Math.min(...level.flatMap((p, i) => level.slice(i + 1).map(q => Math.abs(p.x - q.x))))
	return Math.max(...out.map(p => Math.abs(p.y))) < step / 4 && nearest > step / 2 ? level : out
}

/** settle places the vertices that have no place yet, one after the other, where they are near their neighbours and far from the others. */
function settle(parts: Parts, points: (Point | undefined)[]) {
	const near = neighbours(parts)
	const want = lengths(parts)
	const waiting = new Set([...points.keys()].filter(v => !points[v]))
	while (waiting.size > 0) {
		const placed = (v: number) => near[v]!.filter(w => points[w])
		const v = [...waiting].reduce((best, w) => (placed(w).length > placed(best).length ? w : best))
		waiting.delete(v)
		points[v] = bestPlace(
			placed(v).map(w => ({ ...points[w]!, want: want[v]![w]! })),
			points.filter(p => p !== undefined),
		)
	}
}

/** bestPlace is the best of many places around the middle of the neighbours. */
function bestPlace(near: (Point & { want: number })[], all: Point[]): Point {
	if (near.length === 0) return { x: Math.max(...all.map(p => p.x)) + step, y: Math.round(all.reduce((s, p) => s + p.y, 0) / all.length) }
	const cx = near.reduce((s, p) => s + p.x, 0) / near.length
	const cy = near.reduce((s, p) => s + p.y, 0) / near.length
	const reach = Math.max(...near.map(p => p.want))
	let best = { x: cx + reach, y: cy }
	let least = Infinity
	for (const radius of [1, 0.75, 1.3]) {
		for (let k = 0; k < 24; k++) {
			const p = { x: cx + Math.cos((k * Math.PI) / 12) * reach * radius, y: cy + Math.sin((k * Math.PI) / 12) * reach * radius }
			let cost = k * 1e-4
			for (const q of near) cost += (Math.hypot(p.x - q.x, p.y - q.y) / q.want - 1) ** 2
			for (const q of all) cost += 0.2 * (step / Math.max(Math.hypot(p.x - q.x, p.y - q.y), 1)) ** 2
			if (cost < least) [least, best] = [cost, p]
		}
	}
	return { x: Math.round(best.x), y: Math.round(best.y) }
}
