import Graph from 'graphology'
import { Layout } from './layout'
import { type View, sceneOf } from './scene'
import { type Listener, type Shown, type Stage, graphOf, same, still } from './stage'
import { type Element, svgOf } from './svg'

const namespace = 'http://www.w3.org/2000/svg'
const padding = 44
/** Labels of more vertices than this are shown when the camera is near. */
const mostLabels = 80

function nodeOf(e: Element | string): Node {
	if (typeof e === 'string') return document.createTextNode(e)
	const node = document.createElementNS(namespace, e.tag)
	for (const [k, v] of Object.entries(e.attributes)) if (k !== 'xmlns') node.setAttribute(k, String(v))
	node.append(...e.children.map(nodeOf))
	return node
}

interface Extent {
	left: number
	right: number
	top: number
	bottom: number
}

/** FlatStage draws with SVG, for browsers without WebGL. */
export class FlatStage implements Stage {
	readonly #size: ResizeObserver
	#graph: Graph
	#layout: Layout | null = null
	/** The middle of the view in parts of the graph's extent, and how much larger than fitted things are. */
	#camera = { x: 0.5, y: 0.5, near: 1 }
	#frame = 0
	/** The extent of the graph that the camera looks at. It stays while a vertex is moved. */
	#extent: Extent | null = null
	#held: { key: string; x: number; y: number; moved: boolean } | null = null

	constructor(
		private readonly box: HTMLElement,
		private shown: Shown,
		private readonly listener: Listener,
	) {
		this.#graph = graphOf(shown.drawing, null)
		this.#size = new ResizeObserver(() => this.#draw())
		this.#size.observe(box)
		box.addEventListener('pointerdown', this.#down)
		box.addEventListener('pointermove', this.#drag)
		box.addEventListener('click', this.#click)
		this.#settle()
	}

	show(shown: Shown) {
		const old = this.shown
		this.shown = shown
		if (same(old.drawing, shown.drawing)) {
			this.#draw()
			return
		}
		this.#layout?.stop()
		this.#graph = graphOf(shown.drawing, this.#graph)
		this.#settle()
	}

	#settle() {
		this.#extent = this.#held = null
		// SVG is slow to draw many times, so the vertices are shown when they have settled.
		this.#layout = new Layout(
			this.#graph,
			this.box.clientWidth / Math.max(1, this.box.clientHeight),
			settled => {
				if (settled) this.#draw()
				this.listener.running(!settled)
			},
			!still() && this.#graph.order < 150,
		)
		this.listener.running(true)
		this.#draw()
		this.#layout.start()
	}

	/** The vertex under a pointer. */
	#at(event: MouseEvent): string | null {
		const at = this.box.getBoundingClientRect()
		const view = this.view()
		let best: string | null = null
		let least = 14
		for (const key of this.shown.drawing.vertices.keys()) {
			const p = view.place(key)
			if (!p) continue
			const far = Math.hypot(p.x - (event.clientX - at.left), p.y - (event.clientY - at.top))
			if (far < least) [best, least] = [key, far]
		}
		return best
	}

	#down = (event: PointerEvent) => {
		const key = event.button === 0 && !this.#layout?.running ? this.#at(event) : null
		this.#held = key === null ? null : { key, x: event.clientX, y: event.clientY, moved: false }
		if (key === null) return
		event.preventDefault() // no text is selected
		this.box.setPointerCapture(event.pointerId)
	}

	#drag = (event: PointerEvent) => {
		const held = this.#held
		if (!held || !event.buttons) return
		const [right, down] = [event.clientX - held.x, event.clientY - held.y]
		if (!held.moved && Math.hypot(right, down) < 3) return
		this.#held = { key: held.key, x: event.clientX, y: event.clientY, moved: true }
		this.move(held.key, right, down)
	}

	#click = (event: MouseEvent) => {
		const moved = this.#held?.moved
		this.#held = null
		if (!moved) this.listener.vertex(this.#at(event))
	}

	move(key: string, right: number, down: number) {
		if (this.#layout?.running || !this.#graph.hasNode(key)) return
		this.#extent ??= this.#bounds()
		const scale = this.#scale(this.#extent)
		this.#graph.updateNodeAttributes(key, a => ({ ...a, x: (a['x'] as number) + right / scale, y: (a['y'] as number) - down / scale }))
		this.#draw()
	}

	#bounds(): Extent {
		const out = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity }
		this.#graph.forEachNode((_, a) => {
			out.left = Math.min(out.left, a['x'])
			out.right = Math.max(out.right, a['x'])
			out.top = Math.min(out.top, a['y'])
			out.bottom = Math.max(out.bottom, a['y'])
		})
		return out
	}

	/** Pixels for a unit of the graph. */
	#scale({ left, right, top, bottom }: Extent): number {
		const width = Math.max(1, this.box.clientWidth)
		const height = Math.max(1, this.box.clientHeight)
		return this.#camera.near * Math.min((width - 2 * padding) / Math.max(1e-6, right - left), (height - 2 * padding) / Math.max(1e-6, bottom - top))
	}

	#draw() {
		if (this.#frame) return
		this.#frame = requestAnimationFrame(() => {
			this.#frame = 0
			if (this.#layout?.running && this.#graph.order < 150 && !still()) this.#draw()
			const { drawing, labels, on, colours } = this.shown
			this.box.replaceChildren(nodeOf(svgOf(sceneOf(drawing, labels, on, colours, this.view(), '', []))))
		})
	}

	fit() {
		this.#extent = null
		this.#camera = { x: 0.5, y: 0.5, near: 1 }
		this.#draw()
	}

	pan(right: number, down: number) {
		this.#camera.x += right / this.#camera.near
		this.#camera.y += down / this.#camera.near
		this.#draw()
	}

	zoom(factor: number) {
		this.#camera.near = Math.min(50, Math.max(0.25, this.#camera.near * factor))
		this.#draw()
	}

	look(keys: string[]) {
		const view = this.view()
		const points = keys.map(k => view.place(k)).filter(p => p !== null)
		if (points.every(p => p.x > 20 && p.y > 20 && p.x < view.width - 20 && p.y < view.height - 20)) return
		const x = points.reduce((n, p) => n + p.x, 0) / points.length
		const y = points.reduce((n, p) => n + p.y, 0) / points.length
		this.pan(x / view.width - 0.5, y / view.height - 0.5)
	}

	view(): View {
		const width = Math.max(1, this.box.clientWidth)
		const height = Math.max(1, this.box.clientHeight)
		const extent = this.#extent ?? this.#bounds()
		const { left, right, top, bottom } = extent
		const { x, y, near } = this.#camera
		const scale = this.#scale(extent)
		const few = this.#graph.order <= mostLabels || near > 2
		return {
			width,
			height,
			// The camera is in parts of the view, so that panning does not depend on the graph. Graphs have y upwards.
			place: key => {
				if (!this.#graph.hasNode(key)) return null
				const a = this.#graph.getNodeAttributes(key)
				return {
					x: width / 2 + (a['x'] - (left + right) / 2) * scale - (x - 0.5) * width * near,
					y: height / 2 - (a['y'] - (top + bottom) / 2) * scale - (y - 0.5) * height * near,
				}
			},
			size: Math.min(2, Math.sqrt(near)),
			labelled: () => few,
			edgeLabelled: () => few,
		}
	}

	kill() {
		this.#layout?.stop()
		if (this.#frame) cancelAnimationFrame(this.#frame)
		this.#size.disconnect()
		this.box.removeEventListener('pointerdown', this.#down)
		this.box.removeEventListener('pointermove', this.#drag)
		this.box.removeEventListener('click', this.#click)
		this.box.replaceChildren()
	}
}
