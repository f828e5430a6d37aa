import { describe, expect, it } from 'vitest'
import { walk } from '../../e2e/canvas/walk'
import type { Parts } from '../api'
import { figure } from './figure'
import { inTextOrder, place } from './layout'
import { fits, nothing, partsOf } from './parts'

/** shape is what a drawing shows, without places. Vertices without a name are told apart by their edges. */
function shape(parts: Parts) {
	const called = (v: number) => parts.vertices[v]!.name || '()'
	return {
		vertices: parts.vertices.map(v => [v.name, parts.groups[v.group]!.kind].join(' ')).sort(),
		edges: parts.edges.map(e => [called(e.from), e.direction, called(e.to), e.name, e.labels, e.properties, e.where, e.length, parts.groups[e.group]!.kind].join(' ')).sort(),
	}
}

/** comments lists those of a text, which no edit may change. */
const comments = (query: string) => query.match(/\/\/[^\n]*|\/\*[^]*?\*\//g) ?? []

describe('random edits', () => {
	it.each([...Array(60).keys()])('keep the text in order, seed %i', async seed => {
		const made = await walk(seed, 60, (query, parts, change, before) => {
			const context = `${JSON.stringify(change)}\n${before}\n${query}`
			const old = partsOf(before) ?? nothing
			expect(comments(query), context).toEqual(comments(before))
			if (parts !== nothing) expect(fits(query, parts), context).toBe(true)
			const is = shape(parts)
			const was = shape(old)
			switch (change.kind) {
				case 'add vertex':
					expect(is.edges, context).toEqual(was.edges)
					expect(is.vertices.length, context).toBe(was.vertices.length + 1)
					break
				case 'add edge':
					expect(is.edges.length, context).toBe(was.edges.length + 1)
					expect(is.vertices.length, context).toBe(was.vertices.length + (change.to === null ? 1 : 0))
					break
				case 'delete':
					if ('edge' in change.of) expect(is.edges.length, context).toBeLessThan(was.edges.length)
					else expect(is.vertices.length, context).toBeLessThan(was.vertices.length)
					break
				case 'name':
				case 'labels':
				case 'property':
					expect(is.edges.length, context).toBe(was.edges.length)
					if (change.kind === 'labels' && 'edge' in change.of) expect(parts.edges.map(e => e.labels), context).toContain(change.labels)
					break
				case 'direction':
				case 'length':
					expect(is.vertices, context).toEqual(was.vertices)
					break
				case 'absent':
					expect(is.vertices.map(v => v.split(' ')[0]), context).toEqual(was.vertices.map(v => v.split(' ')[0]))
			}
			// A drawing can be made of it, in which no two vertices lie on each other.
			const positions = place(parts, place(old, new Map()), inTextOrder(old))
			const f = figure(parts, positions)
			for (const v of f.vertices) for (const w of f.vertices) if (v !== w) expect(Math.hypot(v.at.x - w.at.x, v.at.y - w.at.y), context).toBeGreaterThan(30)
		})
		expect(made).toBeGreaterThan(5)
	})
})
