import Graph from 'graphology'
import type { Colours } from './colours'
import type { Drawing } from './drawing'
import { type Point, startOf } from './layout'
import type { Emphasis } from './look'
import type { View } from './scene'

/** What is shown, and how. */
export interface Shown {
	drawing: Drawing
	labels: Map<string, string[]>
	on: Emphasis
	colours: Colours
}

export interface Listener {
	/** A click on a vertex, or on none. */
	vertex(key: string | null): void
	/** Whether the layout runs. */
	running(yes: boolean): void
	/** The stage cannot draw any more. */
	lost(): void
}

/** A stage draws in an element of the page, and has a camera. */
export interface Stage {
	show(shown: Shown): void
	fit(): void
	/** Moves the camera by parts of the view. */
	pan(right: number, down: number): void
	/** Makes things larger by a factor. */
	zoom(factor: number): void
	/** Moves a vertex by pixels, once the layout is at rest. */
	move(key: string, right: number, down: number): void
	/** Moves the camera so that the vertices are in view. */
	look(keys: string[]): void
	view(): View
	kill(): void
}

export const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches

/** graphOf is a graph of the drawing, whose vertices begin where they were. */
export function graphOf(d: Drawing, old: Graph | null): Graph {
	const places = new Map<string, Point>()
	old?.forEachNode((key, a) => places.set(key, { x: a['x'], y: a['y'] }))
	const graph = new Graph({ type: 'undirected', allowSelfLoops: false })
	for (const [key, p] of startOf(d, places)) graph.addNode(key, { x: p.x, y: p.y })
	for (const e of d.edges.values()) graph.addEdgeWithKey(e.key, e.from, e.to)
	return graph
}

/** same tells whether two drawings have the same vertices and edges, so that the layout may stay. */
export function same(a: Drawing | undefined, b: Drawing): boolean {
	if (a === b) return true
	if (!a || a.vertices.size !== b.vertices.size || a.edges.size !== b.edges.size) return false
	for (const k of a.vertices.keys()) if (!b.vertices.has(k)) return false
	for (const [k, e] of a.edges) {
		const f = b.edges.get(k)
		if (!f || e.forward !== f.forward || e.backward !== f.backward) return false
	}
	return true
}
