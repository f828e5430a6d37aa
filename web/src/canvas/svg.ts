import type { Parts } from '../api'
import { figure, type VertexShape } from './figure'
import { place, type Positions } from './layout'
import { fontSize, smallSize } from './texts'

/** The colours of a drawing in a file. */
export interface Colours {
	ink: string
	paper: string
	soft: string
	accent: string
}

const light: Colours = { ink: '#1c2126', paper: '#ffffff', soft: '#59636e', accent: '#0b62a8' }

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escape = (text: string) => text.replace(/[&<>"]/g, c => escapes[c]!)

/** patternSVG returns a drawing as the text of an SVG file. Vertices without a position get one. */
export function patternSVG(parts: Parts, positions: Positions, colours: Colours = light): string {
	const f = figure(parts, place(parts, positions))
	const pad = 12
	const [x, y, width, height] = [f.bounds.x - pad, f.bounds.y - pad, f.bounds.width + 2 * pad, f.bounds.height + 2 * pad].map(Math.round)
	const out: string[] = []
	const line = (text: string, x: number, y: number, size: number, fill: string, more = '') =>
		out.push(`<text x="${round(x)}" y="${round(y)}" font-size="${size}" fill="${fill}"${more}>${escape(text)}</text>`)
	const halo = ` stroke="${colours.paper}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"`
	for (const h of f.hulls) {
		out.push(`<path d="${h.path}" fill="${colours.soft}" fill-opacity="0.06" stroke="${colours.soft}" stroke-dasharray="6 4"/>`)
		line(h.word, h.at.x, h.at.y + 4, smallSize, colours.soft, halo)
	}
	for (const e of f.edges) {
		out.push(`<path d="${e.path}" fill="none" stroke="${colours.ink}" stroke-width="1.5"${e.dashed ? ' stroke-dasharray="6 4"' : ''}/>`)
		if (e.head) out.push(`<path d="${e.head}" fill="${colours.ink}"/>`)
	}
	for (const e of f.edges) {
		const lines = e.word ? [e.word, ...e.lines] : e.lines
		lines.forEach((l, i) => line(l, e.at.x, e.at.y + 4 + 14 * (i - (lines.length - 1) / 2), smallSize, colours.soft, halo))
	}
	for (const v of f.vertices) {
		out.push(`<rect ${box(v)} fill="${colours.paper}" stroke="${colours.ink}" stroke-width="1.5"${v.inner ? ' stroke-dasharray="6 4"' : ''}/>`)
		if (v.name) line(v.name, v.at.x, v.at.y + 4, fontSize, colours.ink)
		for (const l of v.lines) line(l.text, l.at.x, l.at.y, smallSize, l.kind === 'labels' ? colours.accent : colours.soft, ` text-anchor="${l.anchor}"${halo}`)
	}
	return (
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${width} ${height}" width="${width}" height="${height}" ` +
		`font-family="ui-monospace, Menlo, Consolas, monospace" text-anchor="middle">${out.join('')}</svg>\n`
	)
}

const round = (x: number) => Math.round(x * 10) / 10

function box(v: VertexShape): string {
	return `x="${round(v.at.x - v.width / 2)}" y="${round(v.at.y - v.height / 2)}" width="${round(v.width)}" height="${v.height}" rx="${v.height / 2}"`
}
