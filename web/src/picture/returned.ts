/** An item of RETURN: its column in the rows, and the name of the vertex or edge that it is. */
export interface Item {
	column: string
	name: string | null
}

export interface Returned {
	items: Item[]
	/** Where RETURN begins, in UTF-16 code units. */
	at: number
}

interface Token {
	text: string
	from: number
	to: number
}

const tokens = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\[\s\S]|''|[^'\\])*'|"(?:\\[\s\S]|""|[^"\\])*"|`(?:``|[^`])*`|[\p{L}\p{N}_]+|\s+|[\s\S]/gu

/** tokensOf splits a query into tokens, without spaces and comments. */
function tokensOf(query: string): Token[] {
	const out: Token[] = []
	for (const m of query.matchAll(tokens)) {
		const text = m[0]
		if (/^\s/.test(text) || text.startsWith('//') || text.startsWith('/*')) continue
		out.push({ text, from: m.index, to: m.index + text.length })
	}
	return out
}

const isWord = (t: string) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(t)
const nameOf = (t: string) => (t.startsWith('`') && t.length > 1 ? t.slice(1, -1).replaceAll('``', '`') : isWord(t) ? t : null)

/** itemOf reads one item: a value, and perhaps AS and a name. */
function itemOf(query: string, t: Token[]): Item | null {
	const first = t[0]
	if (!first) return null
	let value = t
	let alias: string | null = null
	if (t.length > 2 && t.at(-2)!.text.toUpperCase() === 'AS') {
		alias = nameOf(t.at(-1)!.text)
		value = t.slice(0, -2)
	}
	let name: string | null = null
	if (value.length === 1) name = nameOf(first.text)
	else if (value.length === 4 && first.text.toLowerCase() === 'id' && value[1]!.text === '(' && value[3]!.text === ')') name = nameOf(value[2]!.text)
	const text = query.slice(first.from, value.at(-1)!.to)
	return { column: alias ?? (value.length === 1 && name !== null ? name : text), name }
}

/** returned reads the RETURN of a query. It is null if there is none. */
export function returned(query: string): Returned | null {
	const all = tokensOf(query)
	let depth = 0
	let begin = -1
	const items: Item[] = []
	let item: Token[] = []
	const close = () => {
		const it = itemOf(query, item)
		if (it) items.push(it)
		item = []
	}
	for (let i = 0; i < all.length; i++) {
		const t = all[i]!
		if ('([{'.includes(t.text)) depth++
		if (')]}'.includes(t.text)) depth--
		const top = depth === 0 && all[i - 1]?.text !== '.'
		const word = t.text.toUpperCase()
		if (begin < 0) {
			if (top && word === 'RETURN') begin = t.from
			continue
		}
		if (top && item.at(-1)?.text.toUpperCase() !== 'AS' && (word === ';' || word === 'GROUP' || word === 'LIMIT' || word === 'SAMPLE' || word === 'ESTIMATE' || word === 'EMIT')) break
		if (top && t.text === ',') close()
		else item.push(t)
	}
	if (begin < 0) return null
	close()
	return { items, at: begin }
}

/** whole is the query without its RETURN, so that its rows have all vertices and named edges. */
export function whole(query: string): string {
	const r = returned(query)
	return r ? query.slice(0, r.at).trimEnd() : query
}
