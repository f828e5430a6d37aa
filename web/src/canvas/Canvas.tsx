import { useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import type { Parts, Schema } from '../api'
import './canvas.css'
import { called, describeEdge, describePattern, describeVertex } from './describe'
import { edit, Refusal, type Change } from './edit'
import { figure } from './figure'
import { History, type Snapshot } from './history'
import { Inspector } from './Inspector'
import { edgeKeys, inTextOrder, place, vertexKeys, type Point, type Positions } from './layout'
import { lex } from './lex'
import { nothing, partsOf, type Ref } from './parts'
import { patternSVG } from './svg'
import { edgeItem, EdgeView, HullView, isVertexItem, vertexItem, VertexView } from './Shapes'
import { fontSize, lines } from './texts'
import { useView } from './view'

interface Props {
	/** The pattern of the text, or of an earlier text while this one is read or has an error. */
	parts: Parts | null
	problem: string
	schema: Schema | null
	query: string
	onText(query: string): void
}

/** A drawing with its text, and the order in which its vertices stand there. */
interface Layout extends Snapshot {
	order: string[]
}

/** An edge that is being drawn: by pointer to a place, or by keyboard to a vertex. */
interface Joining {
	from: string
	to: Point | null
}

/** Canvas draws a pattern, and writes the text of the query when the drawing is edited. */
export function Canvas({ parts, problem, schema, query, onText }: Props) {
	const [, redraw] = useReducer((n: number) => n + 1, 0)
	const svg = useRef<SVGSVGElement>(null)
	const history = useRef(new History()).current
	const layout = useRef<Layout>({ query, parts: nothing, positions: new Map(), order: [] })
	// Where an edit puts vertices, until the text that it makes has come back.
	const made = useRef<Layout | null>(null)
	const wrote = useRef('')
	const write = (text: string) => {
		wrote.current = text
		onText(text)
	}
	const [selected, select] = useState<string | null>(null)
	const [joining, join] = useState<Joining | null>(null)
	const [over, setOver] = useState<string | null>(null)
	const [message, say] = useState('')
	// What the inspector shows: a new name does not make it another one.
	const subject = useRef({ item: null as string | null, id: 0 })
	const focus = useRef<string | null>(null)

	// The canvas reads the text as the server does, so that an edit is drawn at once. The server alone knows the vertices of named patterns.
	const own = useMemo(() => drawable(query), [query])
	const shown = own ?? (parts?.fixed ? parts : layout.current.parts)
	if (layout.current.parts !== shown) {
		const { positions, order } = made.current?.query === query ? made.current : layout.current
		layout.current = { query, parts: shown, positions: place(shown, positions, order), order: inTextOrder(shown) }
		made.current = null
	}
	const { positions } = layout.current
	const shapes = figure(shown, positions)
	const fixed = shown.fixed || (problem && !own ? 'The text has an error, so the drawing is that of the text before it' : '')

	const vertices = vertexKeys(shown)
	const edges = edgeKeys(shown)
	const items = [...vertices.map(vertexItem), ...edges.map(edgeItem)]
	const current = selected !== null && items.includes(selected) ? selected : null
	if (subject.current.item !== current) subject.current = { item: current, id: subject.current.id + 1 }
	const refOf = (item: string): Ref => (isVertexItem(item) ? { vertex: vertices.indexOf(item.slice(2)) } : { edge: edges.indexOf(item.slice(2)) })
	const describe = (item: string) => {
		const of = refOf(item)
		return 'vertex' in of ? describeVertex(shown, of.vertex) : describeEdge(shown, of.edge)
	}
	const view = useView(svg, shapes.bounds)

	useLayoutEffect(() => {
		if (focus.current === null) return
		const to = focus.current ? svg.current!.querySelector<SVGElement>(`[data-item="${CSS.escape(focus.current)}"]`) : svg.current
		focus.current = null
		to?.focus()
	})
	// What was said of an edit of the drawing does not hold for a text that is written elsewhere.
	useLayoutEffect(() => {
		if (query !== wrote.current) say(fixed || problem)
	}, [query, fixed, problem])

	/** goTo selects an item and moves the focus to it. */
	const goTo = (item: string | null) => {
		select(item)
		focus.current = item ?? ''
		redraw(0)
	}

	const setPositions = (positions: Positions) => {
		layout.current = { ...layout.current, positions }
		redraw(0)
	}

	/** change makes an edit, draws it, and reports whether it was made. */
	const change = (c: Change, at?: Point, stay = false): boolean => {
		if (fixed) {
			say(fixed)
			return false
		}
		let text
		try {
			text = edit(query, shown, c)
		} catch (e) {
			if (!(e instanceof Refusal)) throw e
			say(e.message)
			return false
		}
		if (text === query) return true
		const now = partsOf(text) ?? nothing
		const keys = vertexKeys(now)
		const next = place(now, positions, layout.current.order)
		const come = keys.filter(k => !vertices.includes(k) && c.kind.startsWith('add'))[0]
		if (at && come) next.set(come, at)
		history.add({ query, parts: shown, positions }, { query: text, parts: now, positions: next })
		made.current = { query: text, parts: now, positions: next, order: inTextOrder(now) }

		let item = current
		if (c.kind === 'add vertex' || (c.kind === 'add edge' && c.to === null)) item = vertexItem(come ?? keys.at(-1)!)
		else if (c.kind === 'add edge') item = edgeItem(edgeKeys(now).find(k => !edges.includes(k)) ?? edges[0]!)
		else if (c.kind === 'delete') item = 'edge' in c.of && !shown.fixed ? vertexItem(vertices[shown.edges[c.of.edge]!.from]!) : null
		else if (c.kind === 'name' && 'vertex' in c.of) item = vertexItem(c.name.trim() || keys.find(k => !vertices.includes(k)) || keys[0]!)
		if (item && ![...keys.map(vertexItem), ...edgeKeys(now).map(edgeItem)].includes(item)) item = null
		if (stay) {
			subject.current.item = item
			select(item)
		} else goTo(item ?? (c.kind === 'delete' && keys.length > 0 ? vertexItem(keys[0]!) : null))
		say(told(c, shown, now, item))
		write(text)
		return true
	}

	const restore = (redo: boolean) => {
		const s = redo ? history.redo(query) : history.undo(query)
		if (!s) {
			say(redo ? 'There is nothing to redo in the drawing' : 'There is nothing to undo in the drawing')
			return
		}
		say(`${redo ? 'Redone' : 'Undone'}: ${describePattern(s.parts)}`)
		if (s.query === query) return setPositions(s.positions)
		made.current = { ...s, order: inTextOrder(s.parts) }
		write(s.query)
	}

	const move = (from: Positions, to: Positions) => {
		history.add({ query, parts: shown, positions: from }, { query, parts: shown, positions: to })
		setPositions(to)
	}

	const addVertex = (at?: Point) => change({ kind: 'add vertex' }, at)
	const directed = shown.edges.length > 0 && shown.edges.every(e => e.direction === 'out')
	const addEdge = (from: string, to: string | null, at?: Point) => {
		join(null)
		setOver(null)
		return change({ kind: 'add edge', from: vertices.indexOf(from), to: to === null ? null : vertices.indexOf(to), directed }, at)
	}
	const remove = () => {
		if (current) change({ kind: 'delete', of: refOf(current) })
		else say('Nothing is selected')
	}
	const beginEdge = () => {
		if (fixed) say(fixed)
		else if (!current || !isVertexItem(current)) say('Select the vertex from which the edge goes')
		else {
			join({ from: current.slice(2), to: null })
			say(`Edge from ${called(shown, vertices.indexOf(current.slice(2)))}: go to a vertex and press Enter, or N for a new vertex; Escape ends it`)
			focus.current = current
		}
	}
	const tidy = () => {
		move(positions, place(shown, new Map(), []))
		view.fit()
		say('The drawing is arranged anew')
	}
	const save = () => {
		const url = URL.createObjectURL(new Blob([patternSVG(shown, positions)], { type: 'image/svg+xml' }))
		const a = document.createElement('a')
		a.href = url
		a.download = 'pattern.svg'
		a.click()
		URL.revokeObjectURL(url)
	}

	const placeOf = (item: string): Point => (isVertexItem(item) ? positions.get(item.slice(2))! : shapes.edges[edges.indexOf(item.slice(2))]!.at)

	const onKeyDown = (e: KeyboardEvent) => {
		const arrow = arrows[e.key]
		if ((e.ctrlKey || e.metaKey) && !e.altKey && (e.key.toLowerCase() === 'z' || e.key.toLowerCase() === 'y')) restore(e.shiftKey || e.key.toLowerCase() === 'y')
		else if (e.ctrlKey || e.metaKey || e.altKey) return
		else if (arrow && e.shiftKey) {
			if (current && isVertexItem(current)) {
				const p = placeOf(current)
				move(positions, new Map(positions).set(current.slice(2), { x: p.x + 12 * arrow.x, y: p.y + 12 * arrow.y }))
			}
		} else if (arrow) {
			const among = joining ? items.filter(isVertexItem) : items
			goTo(current ? (toward(placeOf(current), arrow, among, placeOf) ?? current) : (among[0] ?? null))
		} else if (e.key === 'Escape') {
			if (joining) say('No edge was added')
			join(null)
		} else if (e.key === 'Enter' || e.key === ' ') {
			if (joining && current && isVertexItem(current)) addEdge(joining.from, current.slice(2))
			else if (current) svg.current!.closest('.canvas')!.querySelector<HTMLElement>('.canvas-inspector input')?.focus()
		} else if (e.key === 'Delete' || e.key === 'Backspace') remove()
		else if (e.key.toLowerCase() === 'n') joining ? addEdge(joining.from, null) : addVertex()
		else if (e.key.toLowerCase() === 'e') beginEdge()
		else if (e.key.toLowerCase() === 't') tidy()
		else return
		e.preventDefault()
	}

	/** vertexAt is the vertex under a point. */
	const vertexAt = (p: Point, except: string): string | null =>
		shapes.vertices.find(v => v.key !== except && Math.abs(v.at.x - p.x) <= v.width / 2 + 4 && Math.abs(v.at.y - p.y) <= v.height / 2 + 4)?.key ?? null

	/** drag follows the pointer from a vertex: the vertex moves, or, from its handle, an edge is drawn. */
	const drag = (e: PointerEvent, key: string, edge: boolean) => {
		if (e.button !== 0) return
		e.preventDefault()
		e.stopPropagation()
		goTo(vertexItem(key))
		if (edge && fixed) return say(fixed)
		const target = e.currentTarget as SVGElement
		target.setPointerCapture(e.pointerId)
		const begin = view.point(e)
		const before = positions
		const old = before.get(key)!
		let moved = false
		let to: string | null = null
		let at = begin
		view.hold(true)
		target.onpointermove = e => {
			at = view.point(e)
			if (!moved && Math.hypot(at.x - begin.x, at.y - begin.y) < 4) return
			moved = true
			to = fixed ? null : vertexAt(at, key)
			setOver(to)
			if (edge) join({ from: key, to: at })
			else setPositions(new Map(before).set(key, { x: Math.round(old.x + at.x - begin.x), y: Math.round(old.y + at.y - begin.y) }))
		}
		const end = (done: boolean) => {
			target.onpointermove = target.onpointerup = target.onpointercancel = null
			view.hold(false)
			setOver(null)
			join(null)
			if (!edge && moved) {
				const after = layout.current.positions
				// A vertex that is dropped on another one goes back, and an edge joins them.
				setPositions(before)
				if (done && to) addEdge(key, to)
				else if (done) move(before, after)
			} else if (edge && moved && done) addEdge(key, to, to ? undefined : rounded(at))
		}
		target.onpointerup = () => end(true)
		target.onpointercancel = () => end(false)
	}

	const shownAt = joining && (joining.to ?? (current && isVertexItem(current) && current.slice(2) !== joining.from ? placeOf(current) : null))
	return (
		<section class="canvas" aria-label="Pattern">
			<div class="canvas-bar" role="toolbar" aria-label="Drawing">
				<button type="button" onClick={() => (joining ? addEdge(joining.from, null) : addVertex())} disabled={!!fixed} aria-keyshortcuts="n" title="Add a vertex (N)">
					Vertex
				</button>
				<button type="button" onClick={beginEdge} disabled={!!fixed || !current || !isVertexItem(current)} aria-pressed={!!joining} aria-keyshortcuts="e" title="Add an edge from the selected vertex (E)">
					Edge
				</button>
				<button type="button" onClick={remove} disabled={!!fixed || !current} aria-keyshortcuts="Delete" title="Delete what is selected (Del)">
					Delete
				</button>
				<span class="canvas-gap" />
				<button type="button" onClick={() => restore(false)} disabled={!history.canUndo(query)} aria-keyshortcuts="Control+z" title="Undo (Ctrl-Z)">
					Undo
				</button>
				<button type="button" onClick={() => restore(true)} disabled={!history.canRedo(query)} aria-keyshortcuts="Control+y" title="Redo (Ctrl-Y)">
					Redo
				</button>
				<span class="canvas-gap" />
				<button type="button" onClick={tidy} disabled={shown.vertices.length === 0} aria-keyshortcuts="t" title="Arrange the drawing anew (T)">
					Arrange
				</button>
				<button type="button" onClick={save} disabled={shown.vertices.length === 0} title="Save the drawing as an SVG file">
					SVG
				</button>
			</div>
			<div class="canvas-body">
				<svg
					ref={svg}
					class={joining ? 'canvas-drawing canvas-joining' : 'canvas-drawing'}
					viewBox={view.box}
					role={items.length > 0 ? 'listbox' : 'group'}
					aria-label={items.length > 0 ? `Drawing: ${describePattern(shown)}` : 'Drawing: empty. Press N for a vertex'}
					tabindex={items.length > 0 ? -1 : 0}
					onKeyDown={onKeyDown}
					onPointerDown={e => {
						if (e.target !== svg.current) return
						join(null)
						goTo(null)
					}}
					onDblClick={e => e.target === svg.current && addVertex(rounded(view.point(e)))}
				>
					{shapes.hulls.map((h, i) => (
						<HullView key={i} shape={h} />
					))}
					{shapes.edges.map(e => (
						<EdgeView key={e.key} shape={e} item={edgeItem(e.key)} selected={current === edgeItem(e.key)} name={describe(edgeItem(e.key))} onSelect={goTo} onFocus={select} />
					))}
					{shownAt && <path class="canvas-rubber" d={`M${positions.get(joining!.from)!.x} ${positions.get(joining!.from)!.y}L${shownAt.x} ${shownAt.y}`} />}
					{shapes.vertices.map(v => (
						<VertexView
							key={v.key}
							shape={v}
							selected={current === vertexItem(v.key)}
							target={over === v.key || (!!joining && !joining.to && current === vertexItem(v.key) && joining.from !== v.key)}
							name={describe(vertexItem(v.key))}
							handle={!fixed}
							onFocus={select}
							onDown={(e, edge) => (joining && !joining.to && joining.from !== v.key ? (e.preventDefault(), addEdge(joining.from, v.key)) : drag(e, v.key, edge))}
						/>
					))}
					{items.length === 0 && (
						<text class="canvas-hint" text-anchor="middle" font-size={fontSize} aria-hidden="true">
							{lines(fixed || 'Double-click, or press N, for a first vertex', 34).map((line, i) => (
								<tspan key={i} x={0} y={i * 20}>
									{line}
								</tspan>
							))}
						</text>
					)}
				</svg>
				<div class="canvas-side" {...(current ? {} : { role: 'region', 'aria-label': 'Keys of the drawing', tabindex: 0 })}>
					{current ? (
						<Inspector key={subject.current.id} query={query} parts={shown} of={refOf(current)} schema={schema} fixed={fixed} change={c => change(c, undefined, true)} />
					) : (
						<Keys />
					)}
				</div>
			</div>
			<p class="canvas-status" role="status">
				{message || describePattern(shown)}
			</p>
		</section>
	)
}

/** The largest text that the canvas reads, and the most vertices and edges that it draws: layouts of more take seconds, and the server takes fewer. */
const most = { text: 1 << 16, parts: 200 }

/** The parts of a text that can be drawn; null if it is too large, or has a mistake. */
function drawable(query: string): Parts | null {
	if (query.length > most.text) return null
	if (lex(query)?.length === 1) return nothing
	const parts = partsOf(query)
	return parts && parts.vertices.length + parts.edges.length > most.parts ? null : parts
}

function Keys() {
	return (
		<dl class="canvas-keys">
			<dt>N</dt>
			<dd>new vertex; also a double click</dd>
			<dt>E</dt>
			<dd>edge from the selected vertex; also a drag from its handle, or onto another vertex</dd>
			<dt>Del</dt>
			<dd>delete what is selected</dd>
			<dt>Arrows</dt>
			<dd>select; with Shift, move</dd>
			<dt>Enter</dt>
			<dd>edit what is selected</dd>
			<dt>Ctrl-Z</dt>
			<dd>undo; Ctrl-Y, redo</dd>
			<dt>T</dt>
			<dd>arrange anew</dd>
		</dl>
	)
}

const rounded = (p: Point): Point => ({ x: Math.round(p.x), y: Math.round(p.y) })

const arrows: Record<string, Point> = { ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } }

/** toward is the nearest item in a direction: what lies aside counts as farther. */
function toward(from: Point, direction: Point, items: string[], placeOf: (item: string) => Point): string | null {
	let best: string | null = null
	let least = Infinity
	for (const item of items) {
		const p = placeOf(item)
		const along = (p.x - from.x) * direction.x + (p.y - from.y) * direction.y
		const aside = Math.abs((p.x - from.x) * direction.y) + Math.abs((p.y - from.y) * direction.x)
		if (along < 1 || aside > 2 * along) continue
		if (along + 2 * aside < least) [least, best] = [along + 2 * aside, item]
	}
	return best
}

/** told is what the status line says of a change. */
function told(c: Change, before: Parts, after: Parts, item: string | null): string {
	const gone = (of: Ref) => ('vertex' in of ? `vertex ${called(before, of.vertex)}` : describeEdge(before, of.edge))
	const v = item && isVertexItem(item) ? vertexKeys(after).indexOf(item.slice(2)) : -1
	const e = item && !isVertexItem(item) ? edgeKeys(after).indexOf(item.slice(2)) : -1
	switch (c.kind) {
		case 'delete':
			return `Deleted: ${gone(c.of)}`
		case 'add vertex':
		case 'add edge':
			return `Added: ${v >= 0 ? describeVertex(after, v) : e >= 0 ? describeEdge(after, e) : 'edge'}`
		default:
			return `Changed: ${v >= 0 ? describeVertex(after, v) : e >= 0 ? describeEdge(after, e) : gone('of' in c ? c.of : { edge: c.edge })}`
	}
}
