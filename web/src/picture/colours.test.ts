import { describe, expect, test } from 'vitest'
import { type Rgb, coloursOf, contrast, dark, fillOf, hex, light, luminance, mix, rgb } from './colours'

/** How eyes without one kind of cone see linear light, after Machado, Oliveira and Fernandes (2009). */
const eyes = {
	usual: [1, 0, 0, 0, 1, 0, 0, 0, 1],
	'without red': [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
	'without green': [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
	'without blue': [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
}

const linear = (x: number) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4)

function seen(colour: string, m: number[]): Rgb {
	const c = rgb(colour).map(linear)
	return [0, 3, 6].map(i => Math.min(1, Math.max(0, m[i]! * c[0]! + m[i + 1]! * c[1]! + m[i + 2]! * c[2]!))) as Rgb
}

/** The place of a colour in OKLab, where distances are about those that eyes see. */
function oklab([r, g, b]: Rgb): Rgb {
	const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
	const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
	const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
	return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s]
}

function apart(a: string, b: string, m: number[]): number {
	const x = oklab(seen(a, m))
	const y = oklab(seen(b, m))
	return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2])
}

const modes = {
	light: coloursOf({ ink: '#1b1f24', paper: '#ffffff', soft: '#59626c', line: '#d5d9de', accent: '#0b63c5' }),
	dark: coloursOf({ ink: '#e4e7eb', paper: '#15181c', soft: '#9aa4af', line: '#343a42', accent: '#6cb0ff' }),
}

describe.each(Object.entries(modes))('%s', (mode, colours) => {
	test('the background chooses the colours', () => expect(colours.roles).toBe(mode === 'light' ? light : dark))

	test.each(Object.entries(eyes))('colours of vertices are apart for eyes %s', (_, m) => {
		for (const [i, a] of colours.roles.entries()) for (const b of colours.roles.slice(0, i)) expect(apart(a, b, m), `${a} and ${b}`).toBeGreaterThan(0.1)
	})

	test('vertices and edges of matches stand out from the background', () => {
		for (const c of [...colours.roles, colours.edge, colours.near, colours.accent]) expect(contrast(c, colours.paper), c).toBeGreaterThanOrEqual(3)
	})

	test('edges besides are fainter than those of matches, and still there', () => {
		const faint = contrast(colours.besides, colours.paper)
		expect(faint).toBeGreaterThan(1.3)
		expect(faint).toBeLessThan(contrast(colours.edge, colours.paper) / 2)
	})

	test('32 vertices of a pattern all differ', () => {
		const all = Array.from({ length: 32 }, (_, i) => JSON.stringify(fillOf(colours, i)))
		expect(new Set(all).size).toBe(32)
	})
})

test('contrast and luminance are those of WCAG', () => {
	expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
	expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
	expect(luminance('#ff0000')).toBeCloseTo(0.2126)
})

test('colours are mixed and written', () => {
	expect(mix('#000000', '#ffffff', 0.5)).toBe('#808080')
	expect(mix('#123456', '#ffffff', 0)).toBe('#123456')
	expect(hex(rgb('#0a0b0c'))).toBe('#0a0b0c')
})
