import { expect, test } from 'vitest'
import { drawn, patternOf } from './motif'
import { about, duration, grouped } from './number'

test('motifs have their drawings', () => {
	const star = drawn({ name: 'star(4)', directed: false, edges: [[0, 1], [0, 2], [0, 3], [0, 4]] })
	expect(star.vertices[0]).toEqual([0, 0])
	for (const [x, y] of star.vertices.slice(1)) expect(Math.hypot(x, y)).toBeCloseTo(1)
	const triad = drawn({ name: 'triad_030C', directed: true, edges: [[0, 2], [1, 0], [2, 1]] })
	expect(triad.directed).toBe(true)
	expect(triad.vertices).toHaveLength(3)
	for (const [x, y] of triad.vertices) expect(Math.hypot(x, y)).toBeCloseTo(1)
})

test('the pattern of a motif is a query', () => {
	expect(patternOf('clique(4)', true)).toBe('MATCH INDUCED clique(4)')
	expect(patternOf('clique(5)_less_edge', false)).toBe('MATCH `clique(5)_less_edge`')
})

test('numbers are written for people', () => {
	expect([0, 999, 1234567, '12345678901234567890', null].map(grouped)).toEqual(['0', '999', '1,234,567', '12,345,678,901,234,567,890', '–'])
	expect([0.034, 4.76, 31.87, 1234, 2.5e18].map(about)).toEqual(['0.034', '4.8', '32', '1,200', '2.5e+18'])
	expect([0.000093, 0.5, 2.34, 200].map(duration)).toEqual(['0.093 ms', '500 ms', '2.3 s', '3 min 20 s'])
})
