import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Draft } from './draft'
import { PastQueries, type Past } from './past'
import { hashOf, nothing, plain, type Request } from './request'
import { keepSession, loadSession, nobody, withPassword } from './session'
import { loadTheme } from './theme'

/** A storage of a browser, which has room for a number of characters. */
class Room {
	readonly texts = new Map<string, string>()
	constructor(private readonly room = Infinity) {}
	getItem(key: string) {
		return this.texts.get(key) ?? null
	}
	setItem(key: string, text: string) {
		if (text.length > this.room) throw new Error('QuotaExceededError')
		this.texts.set(key, text)
	}
	removeItem(key: string) {
		this.texts.delete(key)
	}
}

/** A storage that the user has blocked. */
const blocked = () => {
	const get = () => {
		throw new Error('SecurityError')
	}
	for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(globalThis, name, { configurable: true, get })
}

const use = (room: Room) => {
	for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(globalThis, name, { configurable: true, value: room })
	return room
}

const request = (query: string): Request => ({ ...nothing, graph: 'club', query })
const past = (query: string, at: number): Past => ({ request: request(query), at, outcome: '1 row' })
const queries = (p: PastQueries) => p.list.map(x => x.request.query)

let room: Room
beforeEach(() => void (room = use(new Room())))
afterEach(() => vi.restoreAllMocks())

describe('history', () => {
	test('of two tabs has the queries of both', () => {
		const [one, other] = [new PastQueries(''), new PastQueries('')]
		one.add(past('a', 1))
		other.add(past('b', 2))
		one.add(past('c', 3))
		expect(queries(one)).toEqual(['c', 'b', 'a'])
		other.reload()
		expect(queries(other)).toEqual(['c', 'b', 'a'])
		other.remove(past('b', 2))
		one.add(past('a', 4))
		expect(queries(new PastQueries(''))).toEqual(['a', 'c'])
		other.clear()
		one.reload()
		expect(queries(one)).toEqual([])
	})

	test('is that of one user', () => {
		new PastQueries('ana').add(past('secret', 1))
		expect(queries(new PastQueries('bob'))).toEqual([])
		expect(queries(new PastQueries(''))).toEqual([])
		expect(queries(new PastQueries('ana'))).toEqual(['secret'])
	})

	test('works in a browser that keeps nothing', () => {
		blocked()
		const p = new PastQueries('')
		p.add(past('a', 1))
		p.add(past('b', 2))
		expect(queries(p)).toEqual(['b', 'a'])
	})

	test('keeps as much as there is room for, and forgets nothing before the page is closed', () => {
		room = use(new Room(2 * JSON.stringify([past('a', 1)]).length))
		const p = new PastQueries('')
		for (const [i, query] of ['a', 'b', 'c', 'd'].entries()) p.add(past(query, i))
		expect(queries(p)).toEqual(['d', 'c', 'b', 'a'])
		expect(queries(new PastQueries(''))).toEqual(['d', 'c'])
	})

	test.each(['{', 'null', '{"a":1}', '[null, 3, {"request":{"query":1}}, {"request":{"graph":"g","kind":"count","query":"q"}}]'])('reads %s as nothing', text => {
		room.setItem('weft-history', text)
		expect(new PastQueries('').list).toEqual([])
	})

	test('reads an entry of a page that had other options', () => {
		room.setItem('weft-history', '[{"request":{"graph":"g","kind":"count","query":"q","options":{"limit":"5","induced":"yes","other":1}},"at":7,"outcome":"x"}]')
		expect(new PastQueries('').list).toEqual([{ request: { graph: 'g', kind: 'count', query: 'q', params: {}, options: { ...plain, limit: '5' } }, at: 7, outcome: 'x' }])
	})
})

describe('a draft', () => {
	test('is there for the same user, in a page without a link', () => {
		new Draft('ana').keep(request('begun'), '')
		expect(new Draft('ana').load('')).toEqual(request('begun'))
		expect(new Draft('ana').load('#other')).toBeNull()
		expect(new Draft('').load('')).toBeNull()
	})

	test('goes when it was asked, or has no text', () => {
		const d = new Draft('')
		d.keep(request('begun'), '')
		d.keep(request('begun'), hashOf(request('begun')))
		expect(new Draft('').load('')).toBeNull()
		d.keep(request('begun'), '')
		d.keep(request(' '), '')
		expect(new Draft('').load('')).toBeNull()
	})

	test('of another tab stays', () => {
		const [one, other] = [new Draft(''), new Draft('')]
		one.keep(request('one'), '')
		other.keep(request(''), '')
		expect(new Draft('').load('')).toEqual(request('one'))
		other.keep(request('other'), '')
		one.drop()
		expect(new Draft('').load('')).toEqual(request('other'))
	})

	test('is not kept by a browser that keeps nothing', () => {
		blocked()
		const d = new Draft('')
		d.keep(request('begun'), '')
		d.drop()
		expect(d.load('')).toBeNull()
		expect(loadTheme()).toBe('system')
		keepSession(withPassword('ana', 'x'))
		expect(loadSession()).toEqual(nobody)
	})
})
