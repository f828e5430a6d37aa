import type Graph from 'graphology'
import { inferSettings } from 'graphology-layout-forceatlas2'
import defaults from 'graphology-layout-forceatlas2/defaults.js'
import iterate from 'graphology-layout-forceatlas2/iterate.js'
import type { Drawing } from './drawing'

export interface Point {
	x: number
	y: number
}

/** Time for one slice, in milliseconds. A frame has 16. */
const slice = 8
/** Numbers for each vertex in the arrays of ForceAtlas2. */
const perVertex = 10
/** The length of an edge at the start, which is about that of an edge of a small part at the end. */
const unit = 12
const golden = Math.PI * (3 - Math.sqrt(5))

/**
 * startOf places new vertices: those of a match around the match's own place on a spiral, and neighbours around the vertex that they
 * are joined to. No chance is involved, so the same matches give the same picture.
 */
export function startOf(d: Drawing, old: Map<string, Point>): Map<string, Point> {
	const at = new Map<string, Point>()
	for (const key of d.vertices.keys()) {
		const p = old.get(key)
		if (p) at.set(key, p)
	}
	d.matches.forEach((m, i) => {
		const far = unit * 2.5 * Math.sqrt(i + 0.5)
		const cx = far * Math.cos(i * golden)
		const cy = far * Math.sin(i * golden)
		const keys = [...new Set([...m.vertices, ...m.edges.flatMap(e => [d.edges.get(e)!.from, d.edges.get(e)!.to])])].filter(k => k !== null)
		keys.forEach((key, k) => {
			if (at.has(key)) return
			const angle = (2 * Math.PI * k) / keys.length + i
			at.set(key, { x: cx + unit * Math.cos(angle), y: cy + unit * Math.sin(angle) })
		})
	})
	let n = 0
	const around = (key: string, p: Point) => at.set(key, { x: p.x + unit * Math.cos(n * golden), y: p.y + unit * Math.sin(n++ * golden) })
	for (const e of d.edges.values()) {
		const from = at.get(e.from)
		const to = at.get(e.to)
		if (from && !to) around(e.to, from)
		else if (to && !from) around(e.from, to)
	}
	for (const key of d.vertices.keys()) if (!at.has(key)) around(key, { x: 0, y: 0 })
	return at
}

/** A part of the graph that no edge joins to another. */
interface Part {
	keys: string[]
	nodes: Float32Array
	edges: Float32Array
	calm: number
	done: number
}

/** partsOf splits the graph into its connected components. */
function partsOf(graph: Graph): Part[] {
	const seen = new Set<string>()
	const parts: Part[] = []
	graph.forEachNode(start => {
		if (seen.has(start)) return
		seen.add(start)
		const keys = [start]
		for (let i = 0; i < keys.length; i++) {
			graph.forEachNeighbor(keys[i]!, other => {
				if (seen.has(other)) return
				seen.add(other)
				keys.push(other)
			})
		}
		const place = new Map(keys.map((k, i) => [k, i * perVertex]))
		const nodes = new Float32Array(keys.length * perVertex)
		const edges: number[] = []
		keys.forEach((k, i) => {
			const a = graph.getNodeAttributes(k)
			// x, y, forces now and before, mass, convergence, size, fixed
			nodes.set([a['x'], a['y'], 0, 0, 0, 0, 1 + graph.degree(k), 1, 1, 0], i * perVertex)
			graph.forEachNeighbor(k, other => {
				if (place.get(other)! > place.get(k)!) edges.push(place.get(k)!, place.get(other)!, 1)
			})
		})
		parts.push({ keys, nodes, edges: Float32Array.from(edges), calm: 0, done: 0 })
	})
	return parts
}

/** A rectangle that is to be placed. */
export interface Box {
	width: number
	height: number
}

/** skyline places boxes one after the other, each as low as the ones before leave room in the width, and returns the height. */
function skyline(boxes: Box[], order: number[], width: number, out: Point[]): number {
	// The skyline: from each x on, the height up to which there are boxes.
	let sky = [{ x: 0, y: 0 }]
	let height = 0
	for (const i of order) {
		const b = boxes[i]!
		let best = { x: 0, y: Infinity }
		for (const s of sky) {
			if (s.x > 0 && s.x + b.width > width) break
			let y = 0
			sky.forEach((t, n) => {
				const end = sky[n + 1]?.x ?? Infinity
				if (t.x < s.x + b.width && end > s.x) y = Math.max(y, t.y)
			})
			if (y < best.y) best = { x: s.x, y }
		}
		out[i] = best
		const right = best.x + b.width
		const after = sky.findLast(s => s.x <= right)!.y
		sky = [...sky.filter(s => s.x < best.x), { x: best.x, y: best.y + b.height }, { x: right, y: after }, ...sky.filter(s => s.x > right)]
		height = Math.max(height, best.y + b.height)
	}
	return height
}

/** packed places boxes, the largest first, so that they look as large as possible in a view of the ratio of width to height. */
export function packed(boxes: Box[], ratio: number): Point[] {
	const order = boxes.map((_, i) => i).sort((a, b) => boxes[b]!.width * boxes[b]!.height - boxes[a]!.width * boxes[a]!.height || a - b)
	const area = boxes.reduce((n, b) => n + b.width * b.height, 0)
	const widest = Math.max(...boxes.map(b => b.width))
	let best: Point[] = []
	let least = Infinity
	for (let part = 0.8; part < 3; part *= 1.12) {
		const width = Math.max(widest, Math.sqrt(area * ratio) * part)
		const places = boxes.map(() => ({ x: 0, y: 0 }))
		const height = skyline(boxes, order, width, places)
		const right = places.reduce((n, p, i) => Math.max(n, p.x + boxes[i]!.width), 0)
		const extent = Math.max(right / ratio, height)
		if (extent < least) [best, least] = [places, extent]
	}
	return best
}

/** turned turns an elongated part so that it is wider than high, or higher than wide, as the view is. */
function turned(part: Part, ratio: number): Point[] {
	const points: Point[] = []
	const middle = { x: 0, y: 0 }
	for (let i = 0; i < part.nodes.length; i += perVertex) {
		const p = { x: part.nodes[i]!, y: part.nodes[i + 1]! }
		points.push(p)
		middle.x += p.x / part.keys.length
		middle.y += p.y / part.keys.length
	}
	let [xx, xy, yy] = [0, 0, 0]
	for (const p of points) {
		p.x -= middle.x
		p.y -= middle.y
		xx += p.x * p.x
		xy += p.x * p.y
		yy += p.y * p.y
	}
	const spread = Math.hypot((xx - yy) / 2, xy)
	const mean = (xx + yy) / 2
	// A round part has no direction, and would turn to and fro.
	if (mean + spread < 1.7 * (mean - spread)) return points
	const angle = Math.atan2(2 * xy, xx - yy) / 2 - (ratio < 1 ? Math.PI / 2 : 0)
	const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
	return points.map(p => ({ x: p.x * cos + p.y * sin, y: p.y * cos - p.x * sin }))
}

/** Layout moves the vertices of a graph, a slice of time in each frame, until they are settled. */
export class Layout {
	#frame = 0

	constructor(
		private readonly graph: Graph,
		/** Width by height of where the graph is shown. */
		private readonly ratio: number,
		/** Called after each slice. */
		private readonly moved: (settled: boolean) => void,
		/** Whether vertices are shown while they move. */
		private readonly shown: boolean,
	) {}

	start() {
		this.stop()
		const parts = partsOf(this.graph)
		// A graph of several parts is shown when it is settled, because the parts would jump while they grow.
		const shown = this.shown && parts.length === 1
		let at = 0
		const step = () => {
			const until = performance.now() + slice
			while (at < parts.length && performance.now() < until) if (this.#iterate(parts[at]!)) at++
			const settled = at >= parts.length
			if (settled || shown) this.#place(parts)
			this.#frame = settled ? 0 : requestAnimationFrame(step)
			this.moved(settled)
		}
		this.#frame = requestAnimationFrame(step)
	}

	get running() {
		return this.#frame !== 0
	}

	stop() {
		cancelAnimationFrame(this.#frame)
		this.#frame = 0
	}

	/** Moves the vertices of a part once. It returns true when the part is settled. */
	#iterate(part: Part): boolean {
		const { nodes, edges } = part
		const order = part.keys.length
		if (order === 1) return true
		const before = nodes.slice()
		iterate({ ...defaults, ...inferSettings(order), barnesHutOptimize: order > 400, strongGravityMode: false, gravity: 1, scalingRatio: 8 }, nodes, edges)
		part.done++
		let path = 0
		let extent = 1
		for (let i = 0; i < nodes.length; i += perVertex) {
			path += Math.hypot(nodes[i]! - before[i]!, nodes[i + 1]! - before[i + 1]!)
			extent = Math.max(extent, Math.abs(nodes[i]!), Math.abs(nodes[i + 1]!))
		}
		part.calm = path / order < extent * 0.0005 ? part.calm + 1 : 0
		return part.calm >= 5 || part.done >= Math.max(150, Math.min(800, Math.round(300_000 / order)))
	}

	#place(parts: Part[]) {
		const gap = 1.6 * unit
		const to = new Map<string, Point>()
		const places = parts.map(p => turned(p, this.ratio))
		const corners = places.map(points => {
			let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity]
			for (const p of points) {
				left = Math.min(left, p.x)
				right = Math.max(right, p.x)
				bottom = Math.min(bottom, p.y)
				top = Math.max(top, p.y)
			}
			return { left, top, width: right - left + gap, height: top - bottom + gap }
		})
		// Boxes go downwards from the top, and y goes upwards.
		packed(corners, this.ratio).forEach((at, n) => {
			const { left, top } = corners[n]!
			parts[n]!.keys.forEach((k, i) => to.set(k, { x: at.x + places[n]![i]!.x - left, y: -at.y + places[n]![i]!.y - top }))
		})
		this.graph.updateEachNodeAttributes((key, a) => ({ ...a, ...to.get(key)! }), { attributes: ['x', 'y'] })
	}
}
