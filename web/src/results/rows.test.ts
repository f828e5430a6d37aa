import { expect, test } from 'vitest'
import type { Value } from '../api'
import { Column, full, written } from './column'
import { Rows } from './rows'

function column(values: Value[]): Column {
	const c = new Column('x')
	for (const v of values) c.push(v)
	return c
}

function inOrder(values: Value[], descending = false): Value[] {
	const c = column(values)
	return [...c.sorted(Uint32Array.from(values.keys()), descending)].map(i => c.at(i))
}

test('numbers are sorted by their size, and null is last', () => {
	const values = [3, -1, null, 0.5, -1e300, 2 ** 53, 1e-300, -0.25, 0, 1e300, null, -2]
	const numbers = values.filter(v => v !== null).sort((a, b) => a - b)
	expect(inOrder(values)).toEqual([...numbers, null, null])
	expect(inOrder(values, true)).toEqual([...numbers.reverse(), null, null])
})

test('texts, numbers and edges are sorted together', () => {
	const edge = { src: 'a', dst: 'b' }
	const values = ['b', 10, null, 'a', edge, 9, 'b', true]
	expect(inOrder(values)).toEqual([9, 10, 'a', 'b', 'b', edge, true, null])
	expect(inOrder(values, true)).toEqual([true, edge, 'b', 'b', 'a', 10, 9, null])
})

test('equal values keep their order', () => {
	for (const descending of [false, true]) {
		expect([...column([2, 1, 2, 1]).sorted(Uint32Array.of(0, 1, 2, 3), descending)]).toEqual(descending ? [0, 2, 1, 3] : [1, 3, 0, 2])
		expect([...column(['b', 'a', 'b', 'a']).sorted(Uint32Array.of(0, 1, 2, 3), descending)]).toEqual(descending ? [0, 2, 1, 3] : [1, 3, 0, 2])
	}
})

test('a column keeps values of all types, and repeated ones once', () => {
	const values: Value[] = [1, null, 2, 'one', null, 1, '1', [1], { src: 1, dst: 2 }, false]
	const c = column(values)
	expect(values.map((_, i) => c.at(i))).toEqual(values)
	const texts = column(Array.from({ length: 100_000 }, (_, i) => `name ${i % 10}`))
	expect(texts.bytes).toBeLessThan(1_000_000)
	const numbers = column(Array.from({ length: 100_000 }, (_, i) => i))
	expect(numbers.bytes).toBeLessThan(2_000_000)
})

test('rows have the columns that come, and null where a row lacks one', () => {
	const rows = new Rows()
	expect(rows.add([{ a: 1 }, { a: 2, b: 'x' }, { b: 'y' }])).toBe(true)
	expect(rows.names).toEqual(['a', 'b'])
	expect([0, 1, 2].map(i => rows.row(i))).toEqual([[1, null], [2, 'x'], [null, 'y']])
	expect([...rows.sorted(rows.columns[1]!, true)]).toEqual([2, 1, 0])
})

test('an edge is written by its ends', () => {
	expect(written({ src: 1, dst: 'x', label: 'TX' })).toBe('1–x')
	expect(written([1, null, 'a'])).toBe('1, , a')
	expect(full({ src: 1, dst: 2, label: 'TX', w: 0.5 })).toBe('1–2 · label TX · w 0.5')
})
