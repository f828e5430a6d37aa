import { expect, test } from 'vitest'
import { coloursOf } from './colours'
import { drawingOf, shapeOf, withPairs } from './drawing'
import { type View, sceneOf } from './scene'
import { svgOf, written } from './svg'

const colours = coloursOf({ ink: '#1b1f24', paper: '#ffffff', soft: '#59626c', line: '#d5d9de', accent: '#0b63c5' })
const view: View = {
	width: 200,
	height: 100,
	place: key => ({ '1': { x: 50, y: 50 }, '2': { x: 150, y: 50 }, '"<&\\u0001"': { x: 100, y: 20 }, '7': { x: 5000, y: 50 } })[key] ?? null,
	size: 1,
	labelled: () => true,
	edgeLabelled: () => true,
}
const rows = [{ a: 1, b: 2, e: { src: 1, dst: 2, label: 'TX' } }]
const d = withPairs(drawingOf(shapeOf('', null, ['a', 'b', 'e']), rows, 20, true), [
	{ from: 2, to: '<&\u0001' },
	{ from: 7, to: 1 },
])

test('a scene has what is in view, the emphasised last', () => {
	const s = sceneOf(d, new Map([['1', ['Person']]]), { match: 0, vertex: null }, colours, view, 'title', [])
	expect(s.discs.map(x => x.label)).toEqual(['<&\u0001', 'a: 1 · Person', 'b: 2'])
	expect(s.lines.at(-1)).toMatchObject({ colour: colours.accent, label: 'TX', width: 4 })
	expect(s.lines.at(-1)!.heads).toHaveLength(1)
	expect(s.lines.at(-1)!.heads[0]).toMatch(/^141 50 /)
})

test('a vertex that is several things in all matches is one of them in the current match', () => {
	const both = drawingOf(shapeOf('', null, ['a', 'b']), [{ a: 1, b: 2 }, { a: 2, b: 1 }], 20, false)
	const fills = (match: number) => sceneOf(both, new Map(), { match, vertex: null }, colours, view, '', []).discs.find(x => x.key === '1')!.fills.map(f => f.colour)
	expect(fills(-1)).toEqual(colours.roles.slice(0, 2))
	expect(fills(0)).toEqual([colours.roles[0]])
	expect(fills(1)).toEqual([colours.roles[1]])
})

test('SVG is well formed, whatever ids are', () => {
	const s = sceneOf(d, new Map(), { match: -1, vertex: '1' }, colours, view, 'a < b', [{ name: 'a & b', fill: { colour: '#123456', hole: 0.4 } }])
	const text = written(svgOf(s))
	expect(text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="200" height="100" viewBox="0 0 200 100"/)
	expect(text).toContain('<title>a &lt; b</title>')
	expect(text).toContain('>a &amp; b</text>')
	expect(text).toContain('>&lt;&amp;\ufffd</text>')
	expect(text).not.toMatch(/[\u0000-\u0008]/)
	expect(text).not.toContain('NaN')
	// Each element that is opened is closed.
	const open: string[] = []
	for (const [, end, tag, self] of text.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
		if (end) expect(open.pop()).toBe(tag)
		else if (!self) open.push(tag!)
	}
	expect(open).toEqual([])
})

test('a disc of two colours has two halves, clockwise from the top', () => {
	const two = svgOf({ width: 9, height: 9, colours, title: '', lines: [], key: [], discs: [{ key: 'k', x: 10, y: 10, radius: 6, fills: [{ colour: '#111111', hole: 0 }, { colour: '#222222', hole: 0.5 }], border: '#ffffff', borderWidth: 1, label: '', labelColour: '#000000' }] })
	const text = written(two)
	expect(text).toContain('<path d="M10 10L10 5A5 5 0 0 1 10 15Z" fill="#111111"/>')
	expect(text).toContain('<path d="M10 10L10 15A5 5 0 0 1 10 5Z" fill="#222222"/>')
	expect(text).toContain('<path d="M10 10L10 12.5A2.5 2.5 0 0 1 10 7.5Z" fill="#ffffff"/>')
})
