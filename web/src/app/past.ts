import { hashOf, restored, type Request } from './request'
import { keyOf, read, write } from './storage'

/** A query that was asked before. */
export interface Past {
	request: Request
	/** When it was asked last, in milliseconds since 1970. */
	at: number
	/** What came out, in a few words. */
	outcome: string
}

const most = 200

/** A user's queries, the newest first. Pages in other tabs share what the browser keeps of them. */
export class PastQueries {
	readonly key: string
	list: Past[] = []
	/** Whether the browser keeps all of the list. */
	private kept = true

	constructor(user: string) {
		this.key = keyOf('history', user)
		this.reload()
	}

	/** Takes what the browser keeps, after another tab changed it. */
	reload() {
		this.list = this.stored() ?? this.list
	}

	/** Puts a query in front. The same query is there once. */
	add(past: Past) {
		this.change(list => joined([past], list))
	}

	/** Removes a query, also if another tab has asked it again meanwhile. */
	remove(past: Past) {
		const hash = hashOf(past.request)
		this.change(list => list.filter(p => hashOf(p.request) !== hash))
	}

	clear() {
		this.change(() => [])
	}

	/** Changes what is kept now, which other tabs may have changed, and keeps it or as much of its newest part as there is room for. */
	private change(f: (list: Past[]) => Past[]) {
		const stored = this.stored()
		this.list = f(stored === undefined ? this.list : this.kept ? stored : joined(this.list, stored))
		for (let n = this.list.length; ; n = Math.floor(n / 2)) {
			this.kept = n === this.list.length
			if (write(this.key, n ? JSON.stringify(this.list.slice(0, n)) : null) || !n) break
		}
	}

	/** What the browser keeps; undefined if it refuses to read. */
	private stored(): Past[] | undefined {
		const text = read(this.key)
		if (text === undefined) return undefined
		try {
			const list = JSON.parse(text ?? '[]') as unknown
			return Array.isArray(list) ? list.flatMap(pastOf) : []
		} catch {
			return []
		}
	}
}

/** Two lists as one, the newest first. A query that both have is there once. */
function joined(a: Past[], b: Past[]): Past[] {
	const seen = new Set<string>()
	return [...a, ...b]
		.sort((x, y) => y.at - x.at)
		.filter(p => {
			const hash = hashOf(p.request)
			return !seen.has(hash) && seen.add(hash)
		})
		.slice(0, most)
}

/** An entry as it was kept, or nothing if it is not one. */
function pastOf(x: Partial<Past> | null): Past[] {
	const request = restored(x?.request)
	return request && Number.isFinite(x!.at) ? [{ request, at: x!.at!, outcome: String(x!.outcome ?? '') }] : []
}
