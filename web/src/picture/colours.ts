/** Colours are #rrggbb throughout, because WebGL, canvas and SVG all take it. */

/**
 * Colours of pattern vertices, for a light and for a dark background. They differ in lightness as well as in hue, so that they stay apart
 * for eyes that see no red, no green or no blue, and have a contrast of 3 or more with the background.
 */
export const light = ['#3c4abd', '#f3625f', '#635d14', '#9e74a8', '#112c6f', '#5588fb', '#9a3878', '#482b0d']
export const dark = ['#3971f8', '#e78535', '#6ebda0', '#e89cf9', '#fce584', '#a27fb7', '#a95f22', '#b8effe']

export interface Colours {
	ink: string
	paper: string
	soft: string
	line: string
	accent: string
	/** An edge of a match, an edge besides, a neighbour. */
	edge: string
	besides: string
	near: string
	roles: string[]
}

/** The fill of a vertex: a colour, and a hole in the middle as a part of the radius. */
export interface Fill {
	colour: string
	hole: number
}

/** Patterns of more vertices than colours use each colour again with a hole. */
const holes = [0, 0.4, 0.6, 0.76]

export function fillOf(colours: Colours, role: number): Fill {
	const n = colours.roles.length
	return { colour: colours.roles[role % n]!, hole: holes[Math.floor(role / n) % holes.length]! }
}

export type Rgb = [red: number, green: number, blue: number]

export function rgb(hex: string): Rgb {
	const n = parseInt(hex.slice(1), 16)
	return [n >> 16, (n >> 8) & 255, n & 255]
}

export function hex(c: Rgb): string {
	return '#' + c.map(x => Math.round(x).toString(16).padStart(2, '0')).join('')
}

/** mix is a with a part of b, from 0 to 1. */
export function mix(a: string, b: string, part: number): string {
	const x = rgb(a)
	const y = rgb(b)
	return hex([0, 1, 2].map(i => x[i]! + (y[i]! - x[i]!) * part) as Rgb)
}

/** luminance is WCAG's relative luminance. */
export function luminance(colour: string): number {
	const [r, g, b] = rgb(colour).map(x => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4)) as Rgb
	return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

export function contrast(a: string, b: string): number {
	const x = luminance(a) + 0.05
	const y = luminance(b) + 0.05
	return Math.max(x, y) / Math.min(x, y)
}

/** coloursOf makes all colours of the picture from those of the page. */
export function coloursOf(page: Pick<Colours, 'ink' | 'paper' | 'soft' | 'line' | 'accent'>): Colours {
	const bright = luminance(page.paper) > 0.4
	return {
		...page,
		edge: mix(page.ink, page.paper, 0.4),
		besides: mix(page.ink, page.paper, bright ? 0.8 : 0.72),
		near: mix(page.ink, page.paper, 0.5),
		roles: bright ? light : dark,
	}
}
