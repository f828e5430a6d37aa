import type { Colours, Fill } from './colours'
import type { Drawing } from './drawing'
import { type Emphasis, edgeLook, vertexLook } from './look'

/** A scene is what is shown, in pixels. It becomes SVG. */
export interface Scene {
	width: number
	height: number
	colours: Colours
	title: string
	lines: SceneLine[]
	discs: SceneDisc[]
	key: { name: string; fill: Fill }[]
}

export interface SceneLine {
	x1: number
	y1: number
	x2: number
	y2: number
	width: number
	colour: string
	/** Arrow heads as outlines, of 3 points each. */
	heads: string[]
	label: string
}

export interface SceneDisc {
	key: string
	x: number
	y: number
	radius: number
	fills: Fill[]
	border: string
	borderWidth: number
	label: string
	labelColour: string
}

export interface View {
	width: number
	height: number
	/** A vertex's place in pixels. */
	place(key: string): { x: number; y: number } | null
	/** What sizes are multiplied by. */
	size: number
	/** Whether the label of a vertex or an edge is shown at this zoom. */
	labelled(key: string): boolean
	edgeLabelled(key: string): boolean
}

/** beside is where the label of a line stands: above its middle, or left of it. */
export function beside(x1: number, y1: number, x2: number, y2: number): { x: number; y: number } {
	const length = Math.hypot(x2 - x1, y2 - y1) || 1
	const side = x2 < x1 ? -1 : 1
	const far = 9 * side
	return { x: (x1 + x2) / 2 + ((y2 - y1) / length) * far, y: (y1 + y2) / 2 - ((x2 - x1) / length) * far + 3 }
}

const round = (n: number) => Math.round(n * 100) / 100

/** headAt is an arrow head whose tip touches a disc. */
function headAt(x: number, y: number, fromX: number, fromY: number, radius: number, width: number) {
	const length = Math.hypot(x - fromX, y - fromY) || 1
	const ux = (x - fromX) / length
	const uy = (y - fromY) / length
	const long = Math.max(9, width * 3)
	const half = long * 0.42
	const tipX = x - ux * radius
	const tipY = y - uy * radius
	const baseX = tipX - ux * long
	const baseY = tipY - uy * long
	const points = [tipX, tipY, baseX - uy * half, baseY + ux * half, baseX + uy * half, baseY - ux * half]
	return { points: points.map(round).join(' '), baseX, baseY }
}

/** sceneOf places all that is in view, the faint below and the emphasised above. */
export function sceneOf(d: Drawing, labels: Map<string, string[]>, on: Emphasis, c: Colours, view: View, title: string, key: Scene['key']): Scene {
	const margin = 40
	const lines: (SceneLine & { z: number })[] = []
	const discs: (SceneDisc & { z: number })[] = []
	for (const v of d.vertices.values()) {
		const p = view.place(v.key)
		if (!p || p.x < -margin || p.y < -margin || p.x > view.width + margin || p.y > view.height + margin) continue
		const look = vertexLook(d, v, labels.get(v.key), on, c)
		discs.push({
			key: v.key,
			x: round(p.x),
			y: round(p.y),
			radius: round(look.radius * view.size),
			fills: look.fills,
			border: look.border,
			borderWidth: look.borderWidth,
			label: look.labelled || view.labelled(v.key) ? look.label : '',
			labelColour: look.labelColour,
			z: look.z,
		})
	}
	for (const e of d.edges.values()) {
		const a = view.place(e.from)
		const b = view.place(e.to)
		if (!a || !b) continue
		if (Math.max(a.x, b.x) < 0 || Math.max(a.y, b.y) < 0 || Math.min(a.x, b.x) > view.width || Math.min(a.y, b.y) > view.height) continue
		const look = edgeLook(d, e, on, c)
		const radius = (k: string) => vertexLook(d, d.vertices.get(k)!, undefined, on, c).radius * view.size
		const width = round(look.width * view.size)
		let [x1, y1, x2, y2] = [a.x, a.y, b.x, b.y]
		const heads: string[] = []
		if (e.forward) {
			const head = headAt(b.x, b.y, a.x, a.y, radius(e.to), width)
			heads.push(head.points)
			x2 = head.baseX
			y2 = head.baseY
		}
		if (e.backward) {
			const head = headAt(a.x, a.y, b.x, b.y, radius(e.from), width)
			heads.push(head.points)
			x1 = head.baseX
			y1 = head.baseY
		}
		lines.push({ x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2), width, colour: look.colour, heads, label: view.edgeLabelled(e.key) ? look.label : '', z: look.z })
	}
	lines.sort((x, y) => x.z - y.z)
	discs.sort((x, y) => x.z - y.z)
	return { width: view.width, height: view.height, colours: c, title, lines, discs, key }
}
