import { LanguageSupport, StreamLanguage, type StreamParser } from '@codemirror/language'
import { tags as t } from '@lezer/highlight'

export type TokenType =
	| 'keyword'
	| 'name'
	| 'label'
	| 'property'
	| 'function'
	| 'number'
	| 'string'
	| 'parameter'
	| 'symbol'
	| 'comment'
	| 'mistake'

export interface Token {
	type: TokenType
	text: string
	from: number
	to: number
}

/** Words that are never names. */
export const keywords = (
	'ALL_DIFFERENT AND AS CREATE DEFINE DIFFERENT EMIT ESTIMATE EXISTS EXPLAIN FALSE GROUP IN INDUCED IS LIMIT MATCH NOT NULL ON OR ' +
	'ORDERED PROFILE REPEATABLE RETURN SAMPLE SEED TRUE WHERE WITHIN'
).split(' ')

/** Words that are keywords after some others, and names elsewhere. */
const contextual: Record<string, string[]> = {
	ADDED: ['EMIT'],
	BOTH: ['EMIT'],
	BY: ['GROUP'],
	DISTINCT: ['(', 'RETURN'],
	EDGES: ['DIFFERENT'],
	ELEMENTS: ['REPEATABLE'],
	NODES: ['DIFFERENT'],
	REMOVED: ['EMIT'],
	SUBGRAPHS: ['DISTINCT'],
	WATCH: ['CREATE'],
}

const reserved = new Set(keywords)

/** What was read so far. */
export interface State {
	/** Inside of a comment, a string or a quoted name that the line did not end: its last mark. */
	inside: string
	insideType: TokenType
	/** Brackets that are open: ( [ { and l for a parenthesis among labels. */
	open: string
	/** In an expression of labels. */
	label: boolean
	/** The last keyword or symbol, in capitals; empty after anything else. */
	previous: string
}

export const start = (): State => ({ inside: '', insideType: 'comment', open: '', label: false, previous: '' })

const patterns = {
	blank: /\s+/y,
	comment: /\/\/.*/y,
	number: /\d+(\.\d+)?(e[+-]?\d+)?[\p{L}_]*/iuy,
	parameter: /\$([\p{L}_][\p{L}\p{N}_]*)?/uy,
	word: /[\p{L}_][\p{L}\p{N}_]*/uy,
	symbol: /<>|<=|>=|!=|\.\.|[()[\]{},;:.|&!%*+\-/<>=]/y,
}

function length(p: RegExp, line: string, pos: number): number {
	p.lastIndex = pos
	return p.exec(line)?.[0].length ?? 0
}

/** Reads a token of a line at a place that is not its end. A blank has no type. */
function read(s: State, line: string, pos: number): { type: TokenType | null; end: number } {
	if (s.inside) return { type: s.insideType, end: close(s, line, pos) }
	let n = length(patterns.blank, line, pos)
	if (n) return { type: null, end: pos + n }
	n = length(patterns.comment, line, pos)
	if (n) return { type: 'comment', end: pos + n }
	if (line.startsWith('/*', pos)) return { type: 'comment', end: open(s, '*/', 'comment', line, pos + 2) }
	const { previous } = s
	s.previous = ''
	const c = line[pos]!
	if (c === "'" || c === '"') {
		s.label = false
		return { type: 'string', end: open(s, c, 'string', line, pos + 1) }
	}
	if (c === '`') {
		const type = s.label && startsLabel.has(previous) ? 'label' : previous === '.' ? 'property' : 'name'
		s.label = type === 'label'
		return { type, end: open(s, c, type, line, pos + 1) }
	}
	if (line.startsWith('$`', pos)) return { type: 'parameter', end: open(s, '`', 'parameter', line, pos + 2) }
	n = length(patterns.number, line, pos)
	if (n) {
		const type = s.label && startsLabel.has(previous) ? 'label' : 'number'
		s.label = type === 'label'
		return { type, end: pos + n }
	}
	n = length(patterns.parameter, line, pos)
	if (n) {
		s.label = false
		return { type: n > 1 ? 'parameter' : 'mistake', end: pos + n }
	}
	n = length(patterns.word, line, pos)
	if (n) {
		const word = line.slice(pos, pos + n)
		const type = wordType(s, word, line.slice(pos + n).trimStart()[0] ?? '', previous)
		if (type === 'keyword') s.previous = word.toUpperCase()
		s.label = s.label && type === 'label'
		return { type, end: pos + n }
	}
	n = length(patterns.symbol, line, pos)
	if (n) {
		const symbol = line.slice(pos, pos + n)
		s.previous = symbol
		follow(s, symbol)
		return { type: 'symbol', end: pos + n }
	}
	s.label = false
	return { type: 'mistake', end: pos + (line.codePointAt(pos)! > 0xffff ? 2 : 1) }
}

function open(s: State, mark: string, type: TokenType, line: string, pos: number): number {
	s.inside = mark
	s.insideType = type
	return close(s, line, pos)
}

/** The end of what is open: behind its mark, or that of the line. */
function close(s: State, line: string, pos: number): number {
	while (pos < line.length) {
		if (line[pos] === '\\' && s.insideType === 'string') {
			pos += 2
		} else if (line.startsWith(s.inside, pos)) {
			pos += s.inside.length
			// Two quotes stand for one.
			if (s.inside !== '*/' && line[pos] === s.inside) {
				pos++
				continue
			}
			s.inside = ''
			return pos
		} else {
			pos++
		}
	}
	return line.length
}

/** Symbols after which a label stands, inside of an expression of labels. */
const startsLabel = new Set([':', '|', '&', '!', '('])

function wordType(s: State, word: string, next: string, previous: string): TokenType {
	const upper = word.toUpperCase()
	if (s.label && startsLabel.has(previous)) return 'label'
	if (previous === '.') return 'property'
	if (s.open.endsWith('{') && next === ':') return 'property'
	if (reserved.has(upper) || contextual[upper]?.includes(previous)) return 'keyword'
	return next === '(' ? 'function' : 'name'
}

/** Follows brackets, and where labels begin and end. */
function follow(s: State, symbol: string) {
	const top = s.open.at(-1)
	switch (symbol) {
		case '(':
			s.open += s.label ? 'l' : '('
			return
		case '[':
		case '{':
			s.open += symbol
			break
		case ')':
			s.open = s.open.slice(0, -1)
			if (top === 'l') return
			break
		case ']':
		case '}':
			s.open = s.open.slice(0, -1)
			break
		case ':':
			s.label = top === '(' || top === '['
			return
		case '|':
		case '&':
		case '!':
		case '%':
			return
	}
	s.label = false
}

/** The tokens of a text, which may be incomplete, without blanks. A comment or string over several lines is a token for each line. */
export function tokens(text: string, end?: (s: State) => void): Token[] {
	const out: Token[] = []
	const s = start()
	let from = 0
	for (const line of text.split('\n')) {
		for (let pos = 0; pos < line.length; ) {
			const x = read(s, line, pos)
			if (x.type) out.push({ type: x.type, text: line.slice(pos, x.end), from: from + pos, to: from + x.end })
			pos = x.end
		}
		from += line.length + 1
	}
	end?.(s)
	return out
}

const tagOf: Record<TokenType, string> = {
	keyword: 'keyword',
	name: 'variableName',
	label: 'typeName',
	property: 'propertyName',
	function: 'function',
	number: 'number',
	string: 'string',
	parameter: 'parameter',
	symbol: 'operator',
	comment: 'comment',
	mistake: 'invalid',
}

const parser: StreamParser<State> = {
	name: 'weft',
	startState: start,
	copyState: s => ({ ...s }),
	token(stream, s) {
		const x = read(s, stream.string, stream.pos)
		stream.pos = x.end
		return x.type && tagOf[x.type]
	},
	tokenTable: { function: t.function(t.variableName), parameter: t.special(t.variableName) },
	languageData: {
		commentTokens: { line: '//', block: { open: '/*', close: '*/' } },
		closeBrackets: { brackets: ['(', '[', '{', "'", '"', '`'] },
	},
}

/** weft's pattern language, for the editor. */
export const weft = new LanguageSupport(StreamLanguage.define(parser))
