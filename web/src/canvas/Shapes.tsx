import type { EdgeShape, HullShape, VertexShape } from './figure'
import { fontSize, smallSize, textWidth } from './texts'

/** An item is a vertex or edge that can be selected, by its key. */
export const vertexItem = (key: string) => 'v:' + key
export const edgeItem = (key: string) => 'e:' + key
export const isVertexItem = (item: string) => item.startsWith('v:')

interface VertexProps {
	shape: VertexShape
	selected: boolean
	target: boolean
	name: string
	handle: boolean
	onFocus(item: string): void
	onDown(e: PointerEvent, edge: boolean): void
}

/** VertexView is a vertex that can be selected, with a handle from which edges are drawn. */
export function VertexView({ shape: v, selected, target, name, handle, onFocus, onDown }: VertexProps) {
	const classes = ['canvas-vertex', v.inner && 'canvas-inner', target && 'canvas-target'].filter(Boolean).join(' ')
	return (
		<g class={classes} data-item={vertexItem(v.key)} role="option" aria-selected={selected} aria-label={name} tabindex={0} onFocus={() => onFocus(vertexItem(v.key))} onPointerDown={e => onDown(e, false)}>
			<rect x={v.at.x - v.width / 2} y={v.at.y - v.height / 2} width={v.width} height={v.height} rx={v.height / 2} />
			<text class="canvas-name" text-anchor="middle" x={v.at.x} y={v.at.y + 4} font-size={fontSize}>
				{v.name}
			</text>
			{v.lines.map(l => (
				<text key={l.kind} class={'canvas-' + l.kind} x={l.at.x} y={l.at.y} text-anchor={l.anchor} font-size={smallSize}>
					{l.text}
				</text>
			))}
			{handle && (
				<circle class="canvas-handle" cx={v.at.x + v.width / 2} cy={v.at.y} r={6} onPointerDown={e => onDown(e, true)}>
					<title>Drag to draw an edge</title>
				</circle>
			)}
		</g>
	)
}

interface EdgeProps {
	shape: EdgeShape
	item: string
	selected: boolean
	name: string
	onSelect(item: string): void
	onFocus(item: string): void
}

/** EdgeView is an edge that can be selected. */
export function EdgeView({ shape: e, item, selected, name, onSelect, onFocus }: EdgeProps) {
	const lines = e.word ? [e.word, ...e.lines] : e.lines
	const width = Math.max(0, ...lines.map(l => textWidth(l, smallSize)))
	return (
		<g
			class={e.dashed ? 'canvas-edge canvas-inner' : 'canvas-edge'}
			data-item={item}
			role="option"
			aria-selected={selected}
			aria-label={name}
			tabindex={0}
			onFocus={() => onFocus(item)}
			onPointerDown={ev => {
				ev.preventDefault()
				onSelect(item)
			}}
		>
			<path class="canvas-reach" d={e.path} />
			<path class="canvas-line" d={e.path} />
			{e.head && <path class="canvas-head" d={e.head} />}
			{lines.length > 0 && <rect class="canvas-plate" x={e.at.x - width / 2 - 4} y={e.at.y - 7 * lines.length - 1} width={width + 8} height={14 * lines.length + 2} rx={3} />}
			{lines.map((l, i) => (
				<text key={i} text-anchor="middle" class={i === 0 && e.word ? 'canvas-word' : 'canvas-properties'} x={e.at.x} y={e.at.y + 4 + 14 * (i - (lines.length - 1) / 2)} font-size={smallSize}>
					{l}
				</text>
			))}
		</g>
	)
}

/** HullView is the outline around the vertices of a condition. */
export function HullView({ shape: h }: { shape: HullShape }) {
	return (
		<g class="canvas-hull" aria-hidden="true">
			<path d={h.path} />
			<text text-anchor="middle" x={h.at.x} y={h.at.y + 4} font-size={smallSize}>
				{h.word}
			</text>
		</g>
	)
}
