import { describe, expect, test } from 'vitest'
import { tokens } from './language'
import { place } from './place'

const typed = (text: string) => tokens(text).map(t => `${t.type} ${t.text}`)

describe('tokens', () => {
	test('of a query', () => {
		expect(typed("MATCH (a:Person&!`Odd one` {age: 3})-[e:10|TX WHERE _.w > 1.5e3]->(b) WHERE b.name = $x AND id(a) IN [1, 'it''s']")).toEqual([
			'keyword MATCH', 'symbol (', 'name a', 'symbol :', 'label Person', 'symbol &', 'symbol !', 'label `Odd one`', 'symbol {', 'property age',
			'symbol :', 'number 3', 'symbol }', 'symbol )', 'symbol -', 'symbol [', 'name e', 'symbol :', 'label 10', 'symbol |', 'label TX',
			'keyword WHERE', 'name _', 'symbol .', 'property w', 'symbol >', 'number 1.5e3', 'symbol ]', 'symbol -', 'symbol >', 'symbol (', 'name b',
			'symbol )', 'keyword WHERE', 'name b', 'symbol .', 'property name', 'symbol =', 'parameter $x', 'keyword AND', 'function id', 'symbol (',
			'name a', 'symbol )', 'keyword IN', 'symbol [', 'number 1', 'symbol ,', "string 'it''s'", 'symbol ]',
		])
	})

	test('are keywords after some words alone', () => {
		expect(typed('MATCH DIFFERENT EDGES (edges) RETURN count(DISTINCT SUBGRAPHS), distinct')).toEqual([
			'keyword MATCH', 'keyword DIFFERENT', 'keyword EDGES', 'symbol (', 'name edges', 'symbol )', 'keyword RETURN', 'function count', 'symbol (',
			'keyword DISTINCT', 'keyword SUBGRAPHS', 'symbol )', 'symbol ,', 'name distinct',
		])
	})

	test('go over lines, and to the end of a text that is not complete', () => {
		expect(typed("/* a\n$b */ 'x\n$y")).toEqual(['comment /* a', 'comment $b */', "string 'x", 'string $y'])
		expect(typed('// $a\n$b \\ `c')).toEqual(['comment // $a', 'parameter $b', 'mistake \\', 'name `c'])
	})

	test('have their places, also behind characters of two units', () => {
		expect(tokens('😀 a\nb')).toEqual([
			{ type: 'mistake', text: '😀', from: 0, to: 2 },
			{ type: 'name', text: 'a', from: 3, to: 4 },
			{ type: 'name', text: 'b', from: 5, to: 6 },
		])
	})

	test('end, whatever the text', () => {
		const parts = ["'", '"', '`', '/*', '*/', '//', '$', '(', ')', '{', '}', ':', 'a', '1', '.', '\n', ' ', '\\', 'é', '😀', '|', 'MATCH']
		let seed = 1
		for (let i = 0; i < 2000; i++) {
			let text = ''
			for (let k = 0; k < 12; k++) text += parts[(seed = (seed * 48271) % 2147483647) % parts.length]
			const all = tokens(text)
			for (const t of all) expect(text.slice(t.from, t.to)).toBe(t.text)
			expect(all.map(t => t.text).join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
		}
	})
})

test('the place of a mistake is in units of the text, and never empty', () => {
	const problem = { type: '', title: '', status: 422, detail: '', kind: 'query' }
	expect(place('ü😀 abc', { ...problem, offset: 7, length: 3 })).toEqual({ from: 4, to: 7 })
	expect(place('abc', { ...problem, offset: 3 })).toEqual({ from: 2, to: 3 })
	expect(place('', { ...problem, offset: 0 })).toEqual({ from: 0, to: 0 })
	expect(place('abc', problem)).toBeNull()
})
