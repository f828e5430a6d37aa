/** The tokens of the pattern language, as internal/gql reads them. */

export interface Token {
	kind: 'word' | 'quoted' | 'number' | 'string' | 'parameter' | 'symbol' | 'end'
	/** Of a word or symbol as written, of a quoted name without the quotes. */
	text: string
	from: number
	to: number
}

const blank = /(?:[\p{White_Space}\ufeff]|\/\/[^\n]*|\/\*[^]*?\*\/)*/uy
const word = /[\p{L}_][\p{L}\p{Nd}\p{Mn}_]*/uy
const number = /\d+(\.\d+)?([eE][+-]?\d+)?([\p{L}_][\p{L}\p{Nd}\p{Mn}_]*)?/uy
const quoted = /`(?:[^`]|``)+`/y
const text = /'(?:\\[nrt\\'"]|''|[^'\\])*'|"(?:\\[nrt\\'"]|""|[^"\\])*"/y
const parameter = /\$(?:[\p{L}_][\p{L}\p{Nd}\p{Mn}_]*|`(?:[^`]|``)+`)/uy
const symbol = /<=|>=|<>|!=|\.\.|[()[\]{},;:.|&!%<>=+\-*/~]/y
const unit = /^(?:w|d|h|m|s|ms|us|ns)$/i

function match(rule: RegExp, query: string, at: number): RegExpExecArray | null {
	rule.lastIndex = at
	return rule.exec(query)
}

/** lex returns the tokens of a text, the last of which is its end, or null if the text has something that is not a token. */
export function lex(query: string): Token[] | null {
	const tokens: Token[] = []
	for (let at = 0; ; ) {
		at += match(blank, query, at)![0].length
		if (at === query.length) {
			tokens.push({ kind: 'end', text: '', from: at, to: at })
			return tokens
		}
		const token = next(query, at)
		if (!token) return null
		tokens.push(token)
		at = token.to
	}
}

function next(query: string, at: number): Token | null {
	const token = (kind: Token['kind'], m: RegExpExecArray, text = m[0]): Token => ({ kind, text, from: at, to: at + m[0].length })
	let m
	if ((m = match(word, query, at))) return token('word', m)
	if ((m = match(number, query, at))) return !m[3] || (!m[1] && !m[2] && unit.test(m[3])) ? token('number', m) : null
	if ((m = match(quoted, query, at))) return token('quoted', m, m[0].slice(1, -1).replaceAll('``', '`'))
	if ((m = match(text, query, at))) return token('string', m)
	if ((m = match(parameter, query, at))) return token('parameter', m)
	if (query.startsWith('/*', at)) return null // a comment without an end
	if ((m = match(symbol, query, at))) return token('symbol', m)
	return null
}

const reserved = new Set(
	(
		'ALL_DIFFERENT AND AS CREATE DEFINE DIFFERENT EMIT ESTIMATE EXISTS EXPLAIN FALSE GROUP IN INDUCED IS LIMIT MATCH NOT NULL ON OR ' +
		'ORDERED PROFILE REPEATABLE RETURN SAMPLE SEED TRUE WHERE WITHIN'
	).split(' '),
)

/** isReserved reports whether a word is a keyword where a name could stand. */
export function isReserved(word: string): boolean {
	return reserved.has(word.toUpperCase())
}

/** quote writes a name of a label or property as the language reads it back. */
export function quote(name: string): string {
	const m = match(word, name, 0)
	return (m && m[0].length === name.length) || /^\d+$/.test(name) ? name : '`' + name.replaceAll('`', '``') + '`'
}

/** quoteName writes a name of a vertex or edge as the language reads it back. */
export function quoteName(name: string): string {
	return isReserved(name) || /^\d+$/.test(name) || name === '_' ? '`' + name + '`' : quote(name)
}
