import type { Fill } from './colours'
import { type Scene, type SceneDisc, beside } from './scene'

/** An element of SVG. The same elements are shown on the page and written to a file. */
export interface Element {
	tag: string
	attributes: Record<string, string | number>
	children: (Element | string)[]
}

const el = (tag: string, attributes: Element['attributes'], ...children: Element['children']): Element => ({ tag, attributes, children })
const round = (n: number) => Math.round(n * 100) / 100

/** sector is a part of a disc, or all of it. */
function sector(x: number, y: number, radius: number, k: number, n: number, fill: string): Element {
	if (n === 1) return el('circle', { cx: x, cy: y, r: round(radius), fill })
	const at = (i: number) => {
		const angle = (2 * Math.PI * i) / n
		return `${round(x + radius * Math.sin(angle))} ${round(y - radius * Math.cos(angle))}`
	}
	return el('path', { d: `M${x} ${y}L${at(k)}A${round(radius)} ${round(radius)} 0 0 1 ${at(k + 1)}Z`, fill })
}

/** discOf is a disc of equal parts, with a border. */
export function discOf(d: Pick<SceneDisc, 'x' | 'y' | 'radius' | 'fills' | 'border' | 'borderWidth'>, paper: string): Element[] {
	const inner = Math.max(0.5, d.radius - d.borderWidth)
	const parts = (radius: (f: Fill) => number, colour: (f: Fill) => string) =>
		d.fills.flatMap((f, k) => (radius(f) > 0 ? [sector(d.x, d.y, radius(f), k, d.fills.length, colour(f))] : []))
	return [
		el('circle', { cx: d.x, cy: d.y, r: round(d.radius), fill: d.border }),
		...parts(() => inner, f => f.colour),
		...parts(f => inner * f.hole, () => paper),
	]
}

const fontSize = 12

/** svgOf is a scene as SVG. */
export function svgOf(s: Scene): Element {
	const halo = { stroke: s.colours.paper, 'stroke-width': 3, 'stroke-linejoin': 'round', 'paint-order': 'stroke' }
	const lines = s.lines.flatMap(l => [
		el('line', { x1: l.x1, y1: l.y1, x2: l.x2, y2: l.y2, stroke: l.colour, 'stroke-width': l.width }),
		...l.heads.map(points => el('polygon', { points, fill: l.colour })),
	])
	const edgeLabels = s.lines
		.filter(l => l.label)
		.map(l => ({ ...l, ...beside(l.x1, l.y1, l.x2, l.y2) }))
		.map(l => el('text', { x: round(l.x), y: round(l.y), 'text-anchor': 'middle', 'font-size': fontSize - 2, fill: s.colours.soft, ...halo }, l.label))
	const labels = s.discs
		.filter(d => d.label)
		.map(d => el('text', { x: round(d.x + d.radius + 5), y: round(d.y + fontSize / 3), fill: d.labelColour, ...halo }, d.label))
	const key = s.key.flatMap((k, i) => {
		const y = 18 + 20 * i
		return [
			...discOf({ x: 18, y, radius: 7, fills: [k.fill], border: s.colours.paper, borderWidth: 0 }, s.colours.paper),
			el('text', { x: 32, y: y + 4, fill: s.colours.ink, ...halo }, k.name),
		]
	})
	return el(
		'svg',
		{ xmlns: 'http://www.w3.org/2000/svg', width: s.width, height: s.height, viewBox: `0 0 ${s.width} ${s.height}`, role: 'img', 'font-family': 'system-ui, sans-serif', 'font-size': fontSize },
		el('title', {}, s.title),
		el('rect', { width: s.width, height: s.height, fill: s.colours.paper }),
		el('g', {}, ...lines),
		el('g', {}, ...s.discs.flatMap(d => discOf(d, s.colours.paper))),
		el('g', {}, ...edgeLabels, ...labels),
		el('g', {}, ...key),
	)
}

// A file of XML must not have control characters, which ids and labels may have.
const escaped = (t: string) =>
	t
		.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('"', '&quot;')

/** written is an element as text. */
export function written(e: Element | string): string {
	if (typeof e === 'string') return escaped(e)
	const attributes = Object.entries(e.attributes).map(([k, v]) => ` ${k}="${escaped(String(v))}"`)
	const open = `<${e.tag}${attributes.join('')}`
	return e.children.length > 0 ? `${open}>${e.children.map(written).join('')}</${e.tag}>` : `${open}/>`
}
