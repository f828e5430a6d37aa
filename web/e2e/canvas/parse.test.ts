import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Parts } from '../../src/api'
import { edit } from '../../src/canvas/edit'
import { nothing, partsOf } from '../../src/canvas/parts'
import { inUnits } from '../../src/canvas/units'
import { binary, serve, type Weft } from './weft'
import { beginnings, walk } from './walk'

describe.skipIf(!binary)('the server', () => {
	let weft: Weft
	beforeAll(async () => {
		weft = await serve()
	})
	afterAll(() => weft?.stop())

	/** parse is the answer of the server, or its error. */
	async function parse(query: string): Promise<Parts | string> {
		const answer = await fetch(weft.url + '/v1/parse', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query }) })
		const value = (await answer.json()) as Parts | { mistake: { detail: string } }
		return 'mistake' in value ? value.mistake.detail : inUnits(query, value)
	}

	it.each(beginnings.filter(q => q.includes('MATCH')))('reads as the page does: %s', async query => {
		expect(await parse(query)).toEqual(partsOf(query))
	})

	it.each([
		'MATCH (a:A)--(b), (a:B)--(c), (a:C)--(d)',
		'MATCH (a:A {x: 1 // one\n})--(b), (a {y: 2})--(c:A), (c:A)--(d)',
		'MATCH (a WHERE a.x > 1)--(b), (a WHERE a.y > 2)--(c), (a WHERE a.z > 3 OR a.x = 2)--(b)',
	])('joins what a vertex has at several places as the page does: %s', async query => {
		expect(await parse(query)).toEqual(partsOf(query))
	})

	it('says why a drawing cannot be edited', async () => {
		const parts = await parse('MATCH clique(3, a, b, c), (c)-->(d)')
		if (typeof parts === 'string') throw new Error(parts)
		expect(parts.vertices.map(v => v.name)).toEqual(['a', 'b', 'c', 'd'])
		expect(() => edit('MATCH clique(3, a, b, c), (c)-->(d)', parts, { kind: 'add vertex' })).toThrow('clique')
	})

	it.each([...Array(40).keys()])('reads what random edits make as the page does, seed %i', async seed => {
		await walk(seed + 1000, 40, async (query, parts, change, before) => {
			if (parts === nothing) return
			const answer = await parse(query)
			// Patterns that can never match and names that a condition does not have yet are errors of another kind than those of the text.
			if (typeof answer === 'string') expect(answer, `${JSON.stringify(change)}\n${before}\n${query}`).toMatch(meaning)
			else expect(answer, `${JSON.stringify(change)}\n${before}\n${query}`).toEqual(parts)
		})
	})
})

/** Errors about what a pattern means, which a drawing may have in between. */
const meaning = /never match|and excludes it with NOT|has a variable length|unknown name|at most 32/
