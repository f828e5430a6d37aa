import type { Parts } from '../api'

export interface Point {
	x: number
	y: number
}

/** Places of vertices by their keys. */
export type Positions = ReadonlyMap<string, Point>

/** The length of an edge, in pixels. */
export const step = 120

/** vertexKeys returns a key of each vertex that stays while the text changes: its name, or its number among those without one. */
export function vertexKeys(parts: Parts): string[] {
	let unnamed = 0
	return parts.vertices.map(v => v.name || `()${unnamed++}`)
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

/** arrange places all vertices: each connected part by its distances. */
function arrange(parts: Parts, points: (Point | undefined)[]) {
	const near = neighbours(parts)
	const distances = near.map((_, v) => breadthFirst(near, v))
	const seen = new Set<number>()
	const groups = [...near.keys()].flatMap(v => {
		if (seen.has(v)) return []
		const members = [...near.keys()].filter(w => distances[v]![w]! >= 0)
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

function breadthFirst(near: number[][], from: number): number[] {
	const d = near.map(() => -1)
	d[from] = 0
	for (const queue = [from]; queue.length > 0; ) {
		const v = queue.shift()!
		for (const w of near[v]!) {
			if (d[w]! >= 0) continue
			d[w] = d[v]! + 1
			queue.push(w)
		}
	}
	return d
}

/** majorize places vertices so that their distances are near those in the pattern, by stress majorization from a circle. */
function majorize(members: number[], distances: number[][]): Point[] {
	const n = members.length
	const turn = n === 3 ? -Math.PI / 2 : Math.PI - Math.PI / n
	let points = members.map((_, i) => {
		const a = turn + (2 * Math.PI * i) / n
		return { x: Math.cos(a) * step * (n / 6 + 0.3), y: Math.sin(a) * step * (n / 6 + 0.3) }
	})
	for (let round = 0; round < 300; round++) {
		points = points.map((p, i) => {
			let x = 0
			let y = 0
			let sum = 0
			for (const [j, q] of points.entries()) {
				if (i === j) continue
				const want = distances[members[i]!]![members[j]!]! * step
				const w = 1 / (want * want)
				const have = Math.hypot(p.x - q.x, p.y - q.y) || 1e-6
				x += w * (q.x + (want * (p.x - q.x)) / have)
				y += w * (q.y + (want * (p.y - q.y)) / have)
				sum += w
			}
			return sum ? { x: x / sum, y: y / sum } : p
		})
	}
	return upright(points)
}

/** upright turns a long drawing to lie, with its first vertex at the left, and a round one not at all. */
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
	let a = spread > 0.2 * (xx + yy) ? -Math.atan2(2 * xy, xx - yy) / 2 : 0
	const turned = (a: number) => points.map(p => ({ x: (p.x - cx) * Math.cos(a) - (p.y - cy) * Math.sin(a), y: (p.x - cx) * Math.sin(a) + (p.y - cy) * Math.cos(a) }))
	if (a !== 0 && turned(a)[0]!.x > turned(a)[n - 1]!.x) a += Math.PI
	return turned(a)
}

/** settle places the vertices that have no place yet, one after the other, where they are near their neighbours and far from the others. */
function settle(parts: Parts, points: (Point | undefined)[]) {
	const near = neighbours(parts)
	const waiting = new Set([...points.keys()].filter(v => !points[v]))
	while (waiting.size > 0) {
		const placed = (v: number) => near[v]!.filter(w => points[w]).length
		const v = [...waiting].reduce((best, w) => (placed(w) > placed(best) ? w : best))
		waiting.delete(v)
		points[v] = bestPlace(near[v]!.flatMap(w => points[w] ?? []), points.filter(p => p !== undefined))
	}
}

function bestPlace(near: Point[], all: Point[]): Point {
	const right = Math.max(...all.map(p => p.x))
	const middle = all.reduce((s, p) => s + p.y, 0) / all.length
	if (near.length === 0) return { x: Math.round(right + step), y: Math.round(middle) }
	const cx = near.reduce((s, p) => s + p.x, 0) / near.length
	const cy = near.reduce((s, p) => s + p.y, 0) / near.length
	let best = { x: cx + step, y: cy }
	let least = Infinity
	for (const radius of [1, 0.75, 1.4]) {
		for (let k = 0; k < 24; k++) {
			const p = { x: cx + Math.cos((k * Math.PI) / 12) * step * radius, y: cy + Math.sin((k * Math.PI) / 12) * step * radius }
			let cost = k * 1e-4
			for (const q of near) cost += (Math.hypot(p.x - q.x, p.y - q.y) / step - 1) ** 2
			for (const q of all) cost += 0.5 * (step / Math.max(Math.hypot(p.x - q.x, p.y - q.y), 1)) ** 2
			if (cost < least) [least, best] = [cost, p]
		}
	}
	return { x: Math.round(best.x), y: Math.round(best.y) }
}
