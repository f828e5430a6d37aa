import type Graph from 'graphology'
import { inferSettings } from 'graphology-layout-forceatlas2'
import { graphToByteArrays } from 'graphology-layout-forceatlas2/helpers.js'
import iterate from 'graphology-layout-forceatlas2/iterate.js'
import defaults from 'graphology-layout-forceatlas2/defaults.js'
import { type Drawing, type Vertex } from './drawing'

export interface Point {
	x: number
	y: number
}

/** Time for one slice, in milliseconds. A frame has 16. */
const slice = 5
/** Numbers for each vertex in the layout's array. */
const stride = 10
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
	let extent = 1
	for (const p of at.values()) extent = Math.max(extent, Math.hypot(p.x, p.y))
	const step = at.size > 0 ? extent / Math.sqrt(at.size) : 12
	d.matches.forEach((m, i) => {
		const far = step * 2.5 * Math.sqrt(i + 0.5)
		const cx = far * Math.cos(i * golden)
		const cy = far * Math.sin(i * golden)
		const keys = [...new Set([...m.vertices, ...m.edges.flatMap(e => [d.edges.get(e)!.from, d.edges.get(e)!.to])])].filter(k => k !== null)
		keys.forEach((key, k) => {
			if (at.has(key)) return
			const angle = (2 * Math.PI * k) / keys.length + i
			at.set(key, { x: cx + step * Math.cos(angle), y: cy + step * Math.sin(angle) })
		})
	})
	const around = (key: string, other: string, n: number) => {
		const p = at.get(other)
		if (p) at.set(key, { x: p.x + step * 0.8 * Math.cos(n * golden), y: p.y + step * 0.8 * Math.sin(n * golden) })
	}
	let n = 0
	for (const e of d.edges.values()) {
		if (!at.has(e.to)) around(e.to, e.from, n++)
		else if (!at.has(e.from)) around(e.from, e.to, n++)
	}
	d.vertices.forEach((_: Vertex, key) => {
		if (!at.has(key)) at.set(key, { x: extent * Math.cos(n * golden), y: extent * Math.sin(n++ * golden) })
	})
	return at
}

/** Layout moves the vertices of a graph, a slice of time in each frame, until they are settled. */
export class Layout {
	#frame = 0
	#nodes = new Float32Array(0)

	constructor(
		private readonly graph: Graph,
		/** Called after each slice. */
		private readonly moved: (settled: boolean) => void,
		/** Whether vertices are shown while they move. */
		private readonly shown: boolean,
	) {}

	start() {
		this.stop()
		const { nodes, edges } = graphToByteArrays(this.graph, () => 1)
		this.#nodes = nodes
		const order = this.graph.order
		const settings = { ...defaults, ...inferSettings(this.graph), barnesHutOptimize: order > 400, strongGravityMode: false, gravity: 1.2, scalingRatio: 8 }
		const most = Math.max(150, Math.min(900, Math.round(300_000 / Math.max(1, order))))
		let done = 0
		let calm = 0
		const before = new Float32Array(order * 2)
		const step = () => {
			const until = performance.now() + slice
			do {
				for (let i = 0; i < order; i++) {
					before[2 * i] = nodes[i * stride]!
					before[2 * i + 1] = nodes[i * stride + 1]!
				}
				iterate(settings, nodes, edges)
				done++
				let path = 0
				let extent = 1
				for (let i = 0; i < order; i++) {
					const x = nodes[i * stride]!
					const y = nodes[i * stride + 1]!
					path += Math.hypot(x - before[2 * i]!, y - before[2 * i + 1]!)
					extent = Math.max(extent, Math.abs(x), Math.abs(y))
				}
				calm = path / Math.max(1, order) < extent * 0.0004 ? calm + 1 : 0
			} while (done < most && calm < 5 && performance.now() < until)
			const settled = done >= most || calm >= 5
			if (this.shown || settled) this.#place()
			this.#frame = settled ? 0 : requestAnimationFrame(step)
			this.moved(settled)
		}
		this.#frame = requestAnimationFrame(step)
	}

	get running() {
		return this.#frame !== 0
	}

	stop() {
		if (!this.#frame) return
		cancelAnimationFrame(this.#frame)
		this.#frame = 0
		this.#place()
	}

	#place() {
		let i = 0
		this.graph.updateEachNodeAttributes(
			(_, a) => {
				a['x'] = this.#nodes[i]
				a['y'] = this.#nodes[i + 1]
				i += stride
				return a
			},
			{ attributes: ['x', 'y'] },
		)
	}
}
