import { describe, expect, test } from 'vitest'
import { askedKind, EntryError, hashOf, kindFor, nothing, parameters, parameterText, plain, queryOf, requestOf, restored, valueOf, type Request } from './request'

const request = (r: Partial<Request>): Request => ({ ...nothing, graph: 'club', query: 'MATCH (a)--(b)', ...r })

test('a link keeps a request', () => {
	const r = request({
		kind: 'match',
		query: 'MATCH (a)--(b)\nWHERE a.x = $y // ü&#',
		params: { y: '[1, "a&b"]', unused: '1' },
		options: { ...plain, limit: '10', semantics: 'hom', induced: true },
	})
	expect(requestOf(hashOf(r))).toEqual({ ...r, params: { y: '[1, "a&b"]' } })
	expect(hashOf(request({ kind: 'motifs', query: 'x', options: { ...plain, k: '5', directions: false, limit: '3' } }))).toBe('#graph=club&kind=motifs&k=5&directions=false')
	expect(requestOf('')).toBeNull()
	expect(requestOf('#kind=drop')).toBeNull()
})

test('a request has the options of its kind alone', () => {
	const options = { ...plain, limit: '5', seconds: '1.5', vertex: 'a', engine: 'host', allow_product: true }
	expect(queryOf(request({ options }))).toEqual({ graph: 'club', query: 'MATCH (a)--(b)', limit: 5, seconds: 1.5, engine: 'host', allow_product: true })
	expect(queryOf(request({ kind: 'participation', options: { ...plain, vertex: ' a ' } }))).toEqual({ graph: 'club', query: 'MATCH (a)--(b)', vertex: 'a' })
	expect(queryOf(request({ kind: 'motifs', options }))).toEqual({ graph: 'club', k: 4, seconds: 1.5, engine: 'host' })
})

test('mistakes in fields are told', () => {
	const options = (o: Partial<typeof plain>) => () => queryOf(request({ options: { ...plain, ...o } }))
	expect(options({ limit: '-1' })).toThrow(EntryError)
	expect(options({ limit: '1e3' })).toThrow('The limit must be a whole number.')
	expect(options({ seconds: '0' })).toThrow('The time must be a number of seconds.')
	expect(() => queryOf(request({ query: '  ' }))).toThrow('Write a query')
	expect(() => queryOf(request({ query: 'MATCH (a) WHERE a.x = $y' }))).toThrow('$y has no value')
})

test('values of parameters', () => {
	expect(['12', '-2.5', '1e6', '.5', 'true', 'null', '[1, "a"]', '"12"', 'ann', '2024-03-01', '1 2'].map(valueOf)).toEqual([
		12, -2.5, 1e6, 0.5, true, null, [1, 'a'], '12', 'ann', '2024-03-01', '1 2',
	])
	expect(valueOf('9007199254740993')).toBe(9007199254740993n)
	expect(() => valueOf('[9007199254740993]')).toThrow(EntryError)
	expect(() => valueOf('[1, x]')).toThrow('not a value in JSON')
	expect(parameters("MATCH (a) WHERE a.x IN $b AND a.y = $b AND a.z = '$c' // $d\nOR a.u = $e")).toEqual(['b', 'e'])
})

test('parameters with names in back quotes, and with names that every object has', () => {
	const query = 'MATCH (a) WHERE a.x = $`my name` AND a.y = $`b``c` AND a.z = $constructor AND a.u = $__proto__ AND a.v = $`'
	const names = ['my name', 'b`c', 'constructor', '__proto__']
	expect(parameters(query)).toEqual(names)
	expect(names.map(parameterText)).toEqual(['$`my name`', '$`b``c`', '$constructor', '$__proto__'])
	expect(parameterText('12')).toBe('$`12`')
	expect(() => queryOf(request({ query: 'MATCH (a) WHERE a.x = $constructor' }))).toThrow('The parameter $constructor has no value.')
	const params = Object.fromEntries(names.map((name, i) => [name, String(i)]))
	const sent = queryOf(request({ query, params })).params!
	expect(Object.entries(sent)).toEqual(names.map((name, i) => [name, i]))
	const link = requestOf(hashOf(request({ query, params })))!
	expect(Object.entries(link.params)).toEqual(Object.entries(params))
	expect(Object.entries(restored(JSON.parse(JSON.stringify(link)))!.params)).toEqual(Object.entries(params))
})

describe('the kind of a question', () => {
	test('that a query asks for', () => {
		expect(askedKind('MATCH (a)--(b)')).toBeNull()
		expect(askedKind('MATCH (a)--(b) RETURN a, count')).toBe('match')
		expect(askedKind('MATCH (a)--(b) RETURN id(a)')).toBe('match')
		expect(askedKind('MATCH (a)--(b) RETURN count(*)')).toBe('count')
		expect(askedKind('MATCH (a)--(b) RETURN exists()')).toBe('exists')
		expect(askedKind('match triangle(a,b,c) return participation(a)')).toBe('participation')
		expect(askedKind('// RETURN\nPROFILE MATCH (a)--(b) RETURN a')).toBe('explain')
	})

	test('that is asked', () => {
		expect(kindFor(request({ kind: 'match', query: 'MATCH (a)--(b) RETURN count(*)' }))).toBe('count')
		expect(kindFor(request({ kind: 'count', query: 'MATCH (a)--(b) RETURN a' }))).toBe('count')
		expect(kindFor(request({ kind: 'participation', query: 'MATCH (a)--(b) RETURN a' }))).toBe('match')
		expect(kindFor(request({ kind: 'explain', query: 'MATCH (a)--(b) RETURN count(*)' }))).toBe('explain')
		expect(kindFor(request({ kind: 'motifs', query: 'MATCH (a)--(b) RETURN a' }))).toBe('motifs')
	})
})
