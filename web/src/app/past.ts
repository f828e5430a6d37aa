import { hashOf, type Request } from './request'

/** A query that was asked before. */
export interface Past {
	request: Request
	/** When it was asked last, in milliseconds since 1970. */
	at: number
	/** What came out, in a few words. */
	outcome: string
}

const key = 'weft-history'
const most = 200

export function loadPast(): Past[] {
	try {
		const list = JSON.parse(localStorage.getItem(key) ?? '[]') as Past[]
		return list.filter(p => p.request && typeof p.request.query === 'string' && p.request.options)
	} catch {
		return []
	}
}

/** Keeps a list, or as much of its newest part as the browser has room for. */
export function keepPast(list: Past[]) {
	for (let n = list.length; n >= 0; n = Math.floor(n / 2)) {
		try {
			localStorage.setItem(key, JSON.stringify(list.slice(0, n)))
			return
		} catch {
			if (!n) return
		}
	}
}

/** The list with one query more in front. The same query is there once. */
export function remembered(list: Past[], past: Past): Past[] {
	const hash = hashOf(past.request)
	return [past, ...list.filter(p => hashOf(p.request) !== hash)].slice(0, most)
}
