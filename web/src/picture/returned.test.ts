import { expect, test } from 'vitest'
import { returned, whole } from './returned'

const items = (query: string) => returned(query)?.items.map(i => [i.column, i.name])

test('items of RETURN are columns, and those that are vertices or edges have names', () => {
	expect(items('MATCH (a)--(b)')).toBeUndefined()
	expect(items('MATCH (a)--(b) RETURN a, b.name AS who, id(b), deg( a ) , a AS x')).toEqual([
		['a', 'a'],
		['who', null],
		['id(b)', 'b'],
		['deg( a )', null],
		['x', 'a'],
	])
})

test('names in back quotes lose them in the column, other texts keep theirs', () => {
	expect(items('MATCH (`a b`)--() RETURN `a b`, id( `a b` ), `a b` AS `c``d`')).toEqual([
		['a b', 'a b'],
		['id( `a b` )', 'a b'],
		['c`d', 'a b'],
	])
})

test('commas and words inside brackets, texts and comments do not count', () => {
	expect(items("match (a {k: 'RETURN x'})--(b) // RETURN c\n where a.return > 1 and exists { (b)--(c) } return [a.x, 2] AS l, 'x, y' = a.t /* , b */ limit 3")).toEqual([
		['l', null],
		["'x, y' = a.t", null],
	])
})

test('RETURN ends where another clause begins', () => {
	for (const tail of ['LIMIT 10', 'GROUP BY a.x', ';', 'SAMPLE 5 SEED 1', 'EMIT ADDED']) expect(items(`MATCH (a)--(b) RETURN a, b ${tail}`)).toEqual([['a', 'a'], ['b', 'b']])
})

test('a whole match is the query without its RETURN', () => {
	expect(whole('MATCH (a)--(b) WHERE a.x = 1 RETURN a LIMIT 3')).toBe('MATCH (a)--(b) WHERE a.x = 1')
	expect(whole('MATCH (a)--(b)')).toBe('MATCH (a)--(b)')
	expect(whole('DEFINE m(x, y) AS { (x)--(y) } MATCH m(a, b) RETURN a')).toBe('DEFINE m(x, y) AS { (x)--(y) } MATCH m(a, b)')
})
