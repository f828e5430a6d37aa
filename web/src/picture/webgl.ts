import Graph from 'graphology'
import Sigma from 'sigma'
import { EdgeArrowProgram, EdgeDoubleArrowProgram, EdgeRectangleProgram } from 'sigma/rendering'
import { discsOn } from './discs'
import { Layout } from './layout'
import { edgeLook, vertexLook } from './look'
import { type View, beside } from './scene'
import { type Listener, type Shown, type Stage, graphOf, same, still } from './stage'

const font = 'system-ui, sans-serif'
/** Sigma's edges look thinner by this many pixels than their size says, because their sides fade out. */
const thinner = 0.9

/** haloed writes text with a border in the colour of the background, so that edges do not run through it. */
function haloed(context: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string, paper: string) {
	context.lineWidth = 3
	context.lineJoin = 'round'
	context.strokeStyle = paper
	context.strokeText(text, x, y)
	context.fillStyle = colour
	context.fillText(text, x, y)
}

/** WebglStage draws with sigma. */
export class WebglStage implements Stage {
	readonly #sigma: Sigma
	readonly #size: ResizeObserver
	#graph = new Graph({ type: 'undirected' })
	#layout: Layout | null = null

	constructor(
		box: HTMLElement,
		private shown: Shown,
		private readonly listener: Listener,
	) {
		const colours = () => this.shown.colours
		this.#sigma = new Sigma(this.#graph, box, {
			allowInvalidContainer: true,
			defaultNodeType: 'disc',
			nodeProgramClasses: { disc: discsOn(() => colours().paper) },
			edgeProgramClasses: { line: EdgeRectangleProgram, arrow: EdgeArrowProgram, both: EdgeDoubleArrowProgram },
			labelFont: font,
			labelSize: 12,
			edgeLabelSize: 10,
			labelRenderedSizeThreshold: 4.5,
			labelGridCellSize: 64,
			renderEdgeLabels: true,
			stagePadding: 44,
			minCameraRatio: 0.02,
			maxCameraRatio: 4,
			zIndex: true,
			nodeReducer: key => {
				const { drawing, labels, on } = this.shown
				const look = vertexLook(drawing, drawing.vertices.get(key)!, labels.get(key), on, colours())
				const { x, y } = this.#graph.getNodeAttributes(key)
				return { x, y, size: look.radius, label: look.label, forceLabel: look.labelled, zIndex: look.z, color: look.labelColour, type: 'disc', fills: look.fills, border: look.border, borderWidth: look.borderWidth }
			},
			edgeReducer: key => {
				const { drawing, on } = this.shown
				const e = drawing.edges.get(key)!
				const look = edgeLook(drawing, e, on, colours())
				return { size: look.width + thinner, color: look.colour, label: look.label, zIndex: look.z, type: e.forward && e.backward ? 'both' : e.forward || e.backward ? 'arrow' : 'line' }
			},
			defaultDrawNodeLabel: (context, data, settings) => {
				if (!data.label) return
				context.font = `${settings.labelSize}px ${font}`
				haloed(context, data.label, data.x + data.size + 5, data.y + settings.labelSize / 3, data.color, colours().paper)
			},
			defaultDrawNodeHover: (context, data, settings) => {
				if (!data.label) return
				context.font = `600 ${settings.labelSize}px ${font}`
				const width = context.measureText(data.label).width + 12
				context.fillStyle = colours().paper
				context.strokeStyle = colours().line
				context.lineWidth = 1
				context.beginPath()
				context.roundRect(data.x + data.size + 1, data.y - 11, width, 22, 4)
				context.fill()
				context.stroke()
				context.fillStyle = colours().ink
				context.fillText(data.label, data.x + data.size + 7, data.y + settings.labelSize / 3)
			},
			defaultDrawEdgeLabel: (context, edge, from, to, settings) => {
				if (!edge.label) return
				context.font = `${settings.edgeLabelSize}px ${font}`
				const width = context.measureText(edge.label).width
				if (width > Math.hypot(from.x - to.x, from.y - to.y) - from.size - to.size) return
				const p = beside(from.x, from.y, to.x, to.y)
				haloed(context, edge.label, p.x - width / 2, p.y, colours().soft, colours().paper)
			},
		})
		this.#sigma.on('clickNode', e => listener.vertex(e.node))
		this.#sigma.on('clickStage', () => listener.vertex(null))
		let held: { key: string; x: number; y: number; moved: boolean } | null = null
		this.#sigma.on('downNode', e => {
			const { original } = e.event
			if (!this.#layout?.running && !('button' in original && original.button)) held = { key: e.node, x: e.event.x, y: e.event.y, moved: false }
		})
		this.#sigma.on('moveBody', e => {
			if (!held) return
			e.preventSigmaDefault() // the camera stays
			held.moved ||= Math.hypot(e.event.x - held.x, e.event.y - held.y) >= 3
			if (!held.moved) return
			this.#sigma.getMouseCaptor().draggedEvents = Infinity // the end of it is not a click
			this.#put(held.key, this.#sigma.viewportToGraph(e.event))
		})
		for (const up of ['upNode', 'upStage'] as const) this.#sigma.on(up, () => (held = null))
		this.#sigma.on('enterNode', () => void (box.style.cursor = 'pointer'))
		this.#sigma.on('leaveNode', () => void (box.style.cursor = ''))
		for (const canvas of box.querySelectorAll('canvas')) canvas.addEventListener('webglcontextlost', () => listener.lost())
		this.#size = new ResizeObserver(() => {
			this.#sigma.resize()
			this.#sigma.scheduleRefresh()
		})
		this.#size.observe(box)
		this.#take(shown)
	}

	show(shown: Shown) {
		const old = this.shown
		this.shown = shown
		if (same(old.drawing, shown.drawing)) this.#sigma.refresh()
		else this.#take(shown)
	}

	#take(shown: Shown) {
		this.#layout?.stop()
		this.#graph = graphOf(shown.drawing, this.#graph)
		// Sigma draws an arrow at the end of an edge, so edges that go backwards are turned.
		for (const e of shown.drawing.edges.values()) {
			if (!e.backward || e.forward) continue
			this.#graph.dropEdge(e.key)
			this.#graph.addEdgeWithKey(e.key, e.to, e.from)
		}
		this.#sigma.setCustomBBox(null)
		this.#sigma.setGraph(this.#graph)
		this.#sigma.refresh()
		const { width, height } = this.#sigma.getDimensions()
		this.#layout = new Layout(this.#graph, width / Math.max(1, height), settled => this.listener.running(!settled), !still())
		this.listener.running(true)
		this.#layout.start()
	}

	/** Moves a vertex. The others stay where they are in the view. */
	#put(key: string, to: { x: number; y: number }) {
		if (!this.#graph.hasNode(key)) return
		if (!this.#sigma.getCustomBBox()) this.#sigma.setCustomBBox(this.#sigma.getBBox())
		this.#graph.mergeNodeAttributes(key, { x: to.x, y: to.y })
	}

	move(key: string, right: number, down: number) {
		if (this.#layout?.running || !this.#graph.hasNode(key)) return
		const at = this.#sigma.graphToViewport(this.#graph.getNodeAttributes(key) as { x: number; y: number })
		this.#put(key, this.#sigma.viewportToGraph({ x: at.x + right, y: at.y + down }))
	}

	#animate(to: { x?: number; y?: number; ratio?: number }) {
		const camera = this.#sigma.getCamera()
		void camera.animate(to, { duration: still() ? 0 : 150 })
	}

	fit() {
		this.#sigma.setCustomBBox(null)
		this.#sigma.refresh()
		this.#animate({ x: 0.5, y: 0.5, ratio: 1 })
	}

	pan(right: number, down: number) {
		const { width, height } = this.#sigma.getDimensions()
		const a = this.#sigma.viewportToFramedGraph({ x: width / 2, y: height / 2 })
		const b = this.#sigma.viewportToFramedGraph({ x: width * (0.5 + right), y: height * (0.5 + down) })
		const camera = this.#sigma.getCamera()
		this.#animate({ x: camera.x + b.x - a.x, y: camera.y + b.y - a.y })
	}

	zoom(factor: number) {
		const camera = this.#sigma.getCamera()
		this.#animate({ ratio: camera.getBoundedRatio(camera.ratio / factor) })
	}

	look(keys: string[]) {
		const { width, height } = this.#sigma.getDimensions()
		const points = keys.flatMap(k => (this.#graph.hasNode(k) ? [this.#sigma.graphToViewport(this.#graph.getNodeAttributes(k) as { x: number; y: number })] : []))
		if (points.every(p => p.x > 20 && p.y > 20 && p.x < width - 20 && p.y < height - 20)) return
		const shown = points.map(p => this.#sigma.viewportToFramedGraph(p))
		this.#animate({ x: shown.reduce((n, p) => n + p.x, 0) / shown.length, y: shown.reduce((n, p) => n + p.y, 0) / shown.length })
	}

	view(): View {
		const { width, height } = this.#sigma.getDimensions()
		const labels = this.#sigma.getNodeDisplayedLabels()
		const edges = this.#sigma.getEdgeDisplayedLabels()
		return {
			width,
			height,
			place: key => (this.#graph.hasNode(key) ? this.#sigma.graphToViewport(this.#graph.getNodeAttributes(key) as { x: number; y: number }) : null),
			size: this.#sigma.scaleSize(1),
			labelled: key => labels.has(key),
			edgeLabelled: key => edges.has(key),
		}
	}

	kill() {
		this.#layout?.stop()
		this.#size.disconnect()
		this.#sigma.kill()
	}
}
