import type { Span } from '../api'
import { isReserved, lex, type Token } from './lex'

/** What stands inside the brackets of a node or edge. */
export interface Element {
	at: Span
	/** Inside the brackets; null for an edge without brackets. */
	inside: Span | null
	name: Token | null
	/** The place of the colon before the labels. */
	colon: number
	label: Span | null
	/** The star with its numbers. */
	length: Span | null
	props: Span | null
	entries: Entry[]
	/** From the word WHERE. */
	where: Span | null
	condition: Condition | null
}

export interface Entry {
	at: Span
	key: Token
	value: Expr
	/** The value with the parentheses around it. */
	valueAt: Span
}

/** What stands after WHERE, with the parentheses around it. */
export interface Condition {
	at: Span
	expr: Expr
}

export interface EdgeElement extends Element {
	left: boolean
	right: boolean
	/** The first and the last dash. */
	dashes: [Span, Span]
}

/** A path with the nodes at both sides of each edge, or a call of a named pattern, which has none. */
export interface Path {
	at: Span
	/** The word NOT or the mark !. */
	not: Span | null
	nodes: Element[]
	edges: EdgeElement[]
}

/** The paths of MATCH or of EXISTS, and their condition. */
export interface Body {
	/** The body around that of EXISTS. */
	parent: Body | null
	/** Before the first path. */
	mode: Span
	/** '' where none is named. */
	semantics: '' | 'iso' | 'trail' | 'hom'
	induced: boolean
	paths: Path[]
	/** separators[i] is the comma or semicolon after path i. */
	separators: Span[]
	where: Condition | null
}

/** An expression, as far as names and EXISTS in it matter. Its place is without the parentheses around it. */
export interface Expr {
	kind: 'name' | 'and' | 'not' | 'exists' | 'other'
	at: Span
	args: Expr[]
	/** Of a name. */
	name?: string
	/** Of EXISTS. */
	body?: Body
}

/** A place where a name of a vertex or edge stands. */
export interface Use {
	name: string
	at: Span
	/** Where it is: '' in a path, else WHERE, RETURN, ORDERED, GROUP BY, or 'a condition in brackets'. */
	clause: string
}

/** A query whose paths are found in its text. */
export interface Reading {
	tokens: Token[]
	/** That of MATCH, then those of EXISTS. */
	bodies: Body[]
	uses: Use[]
	/** The items of RETURN, as written. */
	items: Span[]
	/** The names in ORDERED, and the expressions of RETURN and GROUP BY. */
	rest: Expr[]
	/** The word MATCH. */
	match: Span
	/** Whether all paths are written out: none is the call of a named pattern. */
	plain: boolean
}

class Unreadable extends Error {}

/** read finds the paths of a query, or returns null where the text is not one. It leaves to the server what names and values mean. */
export function read(query: string): Reading | null {
	return attempt(query, r => r.query())
}

/** isLabel reports whether a text is an expression of labels. */
export function isLabel(text: string): boolean {
	return attempt(text, r => r.only(text, () => r.label())) === true
}

/** isValue reports whether a text can stand as the value of a property. */
export function isValue(text: string): boolean {
	return attempt(text, r => r.only(text, () => r.sum())) === true
}

/** isCondition reports whether a text can stand after WHERE. */
export function isCondition(text: string): boolean {
	return attempt(text, r => r.only(text, () => r.expr())) === true
}

function attempt<T>(text: string, f: (r: Reader) => T): T | null {
	const tokens = lex(text)
	if (!tokens) return null
	try {
		return f(new Reader(tokens))
	} catch (e) {
		// A text of more brackets than the stack has room for is the server's to refuse.
		if (e instanceof Unreadable || e instanceof RangeError) return null
		throw e
	}
}

const starts = ['MATCH', 'EXPLAIN', 'PROFILE', 'DEFINE', 'CREATE']
const inBrackets = 'a condition in brackets'
const comparisons = ['=', '<>', '!=', '<=', '>=', '<', '>']

class Reader {
	private i = 0
	private body: Body | null = null
	private clause = ''
	private readonly out: Reading

	constructor(private readonly tokens: Token[]) {
		this.out = { tokens, bodies: [], uses: [], items: [], rest: [], match: [0, 0], plain: true }
	}

	private peek(n = 0): Token {
		return this.tokens[Math.min(this.i + n, this.tokens.length - 1)]!
	}

	private take(): Token {
		const t = this.peek()
		if (t.kind === 'end') throw new Unreadable()
		this.i++
		return t
	}

	private get end(): number {
		return this.tokens[this.i - 1]!.to
	}

	private is(symbol: string, n = 0): boolean {
		const t = this.peek(n)
		return t.kind === 'symbol' && t.text === symbol
	}

	private word(word: string, n = 0): boolean {
		const t = this.peek(n)
		return t.kind === 'word' && t.text.toUpperCase() === word
	}

	private symbol(symbol: string): boolean {
		if (!this.is(symbol)) return false
		this.i++
		return true
	}

	private keyword(...words: string[]): boolean {
		if (!words.every((w, n) => this.word(w, n))) return false
		this.i += words.length
		return true
	}

	private expect(symbol: string): Token {
		if (!this.is(symbol)) throw new Unreadable()
		return this.take()
	}

	private use(t: Token) {
		this.out.uses.push({ name: t.text, at: [t.from, t.to], clause: this.clause })
	}

	/** only reports whether a rule takes the whole text. A comment at its end could swallow what stands behind it. */
	only(text: string, rule: () => unknown): boolean {
		rule()
		return this.peek().kind === 'end' && this.end === text.trimEnd().length
	}

	query(): Reading {
		if (this.keyword('CREATE', 'WATCH')) this.i += 2 // name AS
		if (!this.keyword('EXPLAIN')) this.keyword('PROFILE')
		while (this.keyword('DEFINE')) {
			while (!this.is('{')) this.take()
			this.skip()
		}
		const match = this.take()
		if (match.kind !== 'word' || match.text.toUpperCase() !== 'MATCH') throw new Unreadable()
		this.out.match = [match.from, match.to]
		const body = this.paths()
		this.order()
		body.where = this.condition('WHERE')
		this.order()
		if (this.keyword('RETURN')) this.returns()
		if (this.keyword('EMIT')) this.take()
		this.symbol(';')
		if (this.peek().kind !== 'end') throw new Unreadable()
		return this.out
	}

	/** skip takes a bracket and everything up to the one that closes it. */
	private skip() {
		let depth = 0
		do {
			const t = this.take()
			if (t.kind !== 'symbol') continue
			if ('([{'.includes(t.text)) depth++
			if (')]}'.includes(t.text)) depth--
		} while (depth > 0)
	}

	/** order = "ORDERED" name {"<" name} and "ON" key and "WITHIN" time, in any order. */
	private order() {
		for (;;) {
			if (this.keyword('ORDERED')) {
				this.clause = 'ORDERED'
				do this.out.rest.push(this.named(this.take()))
				while (this.symbol('<'))
			} else if (this.keyword('ON')) this.take()
			else if (this.keyword('WITHIN')) {
				if (this.take().kind === 'word') this.take() // DURATION '…'
			} else return
		}
	}

	/** returns = items { "GROUP BY" items | "LIMIT" int | "SAMPLE" int ["SEED" int] | "ESTIMATE WITHIN" number "%" }. */
	private returns() {
		this.clause = 'RETURN'
		this.items(this.out.items)
		for (;;) {
			if (this.keyword('GROUP', 'BY')) {
				this.clause = 'GROUP BY'
				this.items([])
			} else if (this.keyword('LIMIT') || this.keyword('SAMPLE') || this.keyword('SEED')) this.take()
			else if (this.keyword('ESTIMATE', 'WITHIN')) {
				this.take()
				this.expect('%')
			} else return
		}
	}

	private items(spans: Span[]) {
		do {
			const from = this.peek().from
			this.out.rest.push(this.expr())
			if (this.keyword('AS')) this.take()
			spans.push([from, this.end])
		} while (this.symbol(','))
	}

	/** condition = ["WHERE" expr]. */
	private condition(clause: string): Condition | null {
		if (!this.keyword('WHERE')) return null
		const before = this.clause
		this.clause = clause
		const { from } = this.peek()
		const expr = this.expr()
		this.clause = before
		return { at: [from, this.end], expr }
	}

	/** paths = [mode] ["INDUCED"] pattern { ("," | ";") pattern }. */
	private paths(): Body {
		const body: Body = { parent: this.body, mode: [0, 0], semantics: '', induced: false, paths: [], separators: [], where: null }
		this.out.bodies.push(body)
		this.body = body
		const from = this.peek().from
		if (this.keyword('DIFFERENT')) body.semantics = this.take().text.toUpperCase() === 'EDGES' ? 'trail' : 'iso'
		else if (this.keyword('REPEATABLE', 'ELEMENTS')) body.semantics = 'hom'
		body.induced = this.keyword('INDUCED')
		body.mode = [from, this.peek().from]
		const { clause } = this
		this.clause = ''
		for (;;) {
			body.paths.push(this.path())
			const ends = this.is(';') && (this.peek(1).kind === 'end' || starts.some(w => this.word(w, 1)))
			if (ends || !(this.is(',') || this.is(';'))) break
			const t = this.take()
			body.separators.push([t.from, t.to])
		}
		this.clause = clause
		this.body = body.parent
		return body
	}

	private path(): Path {
		const from = this.peek().from
		const path: Path = { at: [from, from], not: null, nodes: [], edges: [] }
		if (this.symbol('!') || this.keyword('NOT')) path.not = [from, this.end]
		if (this.is('(')) {
			path.nodes.push(this.node())
			while (this.is('-') || (this.is('<') && this.is('-', 1))) {
				path.edges.push(this.edge())
				path.nodes.push(this.node())
			}
		} else this.call()
		path.at[1] = this.end
		return path
	}

	private call() {
		this.out.plain = false
		const t = this.take()
		if (t.kind !== 'quoted' && (t.kind !== 'word' || isReserved(t.text))) throw new Unreadable()
		if (this.symbol(':')) this.take()
		if (!this.symbol('(')) return
		while (!this.symbol(')')) {
			const a = this.take()
			if (a.kind === 'word' || a.kind === 'quoted') this.use(a)
		}
	}

	private node(): Element {
		const open = this.expect('(')
		const x = this.inside()
		const close = this.expect(')')
		return { ...x, at: [open.from, close.to], inside: [open.to, close.from] }
	}

	private edge(): EdgeElement {
		const { from } = this.peek()
		const left = this.symbol('<')
		const first = this.expect('-')
		let x = { ...empty, inside: null as Span | null }
		if (this.symbol('[')) {
			const open = this.end
			x = { ...this.inside(), inside: [open, this.peek().from] }
			this.expect(']')
		}
		const second = this.expect('-')
		const right = this.symbol('>')
		return { ...x, at: [from, this.end], left, right, dashes: [[first.from, first.to], [second.from, second.to]] }
	}

	/** inside = [name] [":" label] ["*" int [".." int]] [props] ["WHERE" expr]. */
	private inside(): typeof empty {
		const x = { ...empty, entries: [] as Entry[] }
		const t = this.peek()
		if (t.kind === 'quoted' || (t.kind === 'word' && !isReserved(t.text))) {
			x.name = this.take()
			if (t.text !== '_' || t.kind === 'quoted') this.use(t)
		}
		if (this.is(':')) {
			x.colon = this.take().from
			x.label = [this.peek().from, (this.label(), this.end)]
		}
		if (this.is('*')) {
			const { from } = this.take()
			this.take()
			if (this.symbol('..')) this.take()
			x.length = [from, this.end]
		}
		const { clause } = this
		this.clause = inBrackets
		if (this.is('{')) {
			const { from } = this.take()
			while (!this.symbol('}')) {
				if (x.entries.length > 0) this.expect(',')
				const key = this.take()
				this.expect(':')
				const { from } = this.peek()
				const value = this.sum()
				x.entries.push({ at: [key.from, this.end], key, value, valueAt: [from, this.end] })
			}
			x.props = [from, this.end]
		}
		this.clause = clause
		const { from } = this.peek()
		x.condition = this.condition(inBrackets)
		if (x.condition) x.where = [from, this.end]
		return x
	}

	/** label = atom { ("|" | "&") [":"] atom }; which operator binds stronger does not matter here. */
	label() {
		do {
			this.symbol(':')
			while (this.symbol('!'));
			if (this.symbol('(')) {
				this.label()
				this.expect(')')
			} else if (!this.symbol('%')) {
				const t = this.take()
				if (t.kind !== 'word' && t.kind !== 'quoted' && !/^\d+$/.test(t.text)) throw new Unreadable()
			}
		} while (this.symbol('|') || this.symbol('&'))
	}

	// Expressions.

	private other(...args: Expr[]): Expr {
		return { kind: 'other', at: [args[0]!.at[0], args.at(-1)!.at[1]], args }
	}

	/** expr = conjunction { "OR" conjunction }. */
	expr(): Expr {
		let x = this.conjunction()
		while (this.keyword('OR')) x = this.other(x, this.conjunction())
		return x
	}

	private conjunction(): Expr {
		let x = this.negation()
		while (this.keyword('AND')) x = { ...this.other(x, this.negation()), kind: 'and' }
		return x
	}

	private negation(): Expr {
		if (!this.word('NOT')) return this.comparison()
		const { from } = this.take()
		const x = this.negation()
		return { kind: 'not', at: [from, this.end], args: [x] }
	}

	private comparison(): Expr {
		const x = this.sum()
		if (comparisons.some(c => this.symbol(c)) || this.keyword('IN') || this.keyword('NOT', 'IN')) return this.other(x, this.sum())
		if (this.keyword('IS', 'NOT', 'NULL') || this.keyword('IS', 'NULL')) return this.other(x)
		return x
	}

	sum(): Expr {
		let x = this.signed()
		while (['+', '-', '*', '/', '%'].some(o => this.symbol(o))) x = this.other(x, this.signed())
		return x
	}

	private signed(): Expr {
		return this.symbol('-') ? this.other(this.signed()) : this.value()
	}

	private value(): Expr {
		const t = this.take()
		const literal: Expr = { kind: 'other', at: [t.from, t.to], args: [] }
		if (t.kind === 'number' || t.kind === 'string' || t.kind === 'parameter') return literal
		if (t.kind === 'symbol') {
			if (t.text === '(') {
				const x = this.expr()
				this.expect(')')
				return x
			}
			if (t.text === '[') return this.list(t, ']')
			throw new Unreadable()
		}
		const word = t.kind === 'word' ? t.text.toUpperCase() : ''
		if (['TRUE', 'FALSE', 'NULL'].includes(word)) return literal
		if (['TIMESTAMP', 'DATE', 'DURATION'].includes(word) && this.peek().kind === 'string') return { ...literal, at: [t.from, this.take().to] }
		if (word === 'EXISTS' && this.symbol('{')) return this.exists(t)
		if (t.kind === 'word' && this.symbol('(')) {
			if (word === 'COUNT' && (this.symbol('*') || this.keyword('DISTINCT', 'SUBGRAPHS'))) return { ...literal, at: [t.from, this.expect(')').to] }
			return this.list(t, ')')
		}
		if (isReserved(word)) throw new Unreadable()
		const name = this.named(t)
		if (!this.symbol('.')) return name
		const key = this.take()
		if (key.kind !== 'word' && key.kind !== 'quoted' && key.kind !== 'number') throw new Unreadable()
		return { kind: 'other', at: [t.from, key.to], args: [name] }
	}

	private named(t: Token): Expr {
		if (t.kind !== 'word' && t.kind !== 'quoted') throw new Unreadable()
		if (t.text !== '_' || t.kind === 'quoted') this.use(t)
		return { kind: 'name', at: [t.from, t.to], args: [], name: t.text === '_' && t.kind === 'word' ? '' : t.text }
	}

	/** list = [expr {"," expr}] and the bracket that closes it. */
	private list(open: Token, close: string): Expr {
		const args: Expr[] = []
		while (!this.is(close)) {
			if (args.length > 0) this.expect(',')
			args.push(this.expr())
		}
		return { kind: 'other', at: [open.from, this.take().to], args }
	}

	/** exists = "EXISTS" "{" ["MATCH"] body ["WHERE" expr] "}". */
	private exists(t: Token): Expr {
		this.keyword('MATCH')
		const body = this.paths()
		this.body = body
		body.where = this.condition('WHERE')
		this.body = body.parent
		return { kind: 'exists', at: [t.from, this.expect('}').to], args: [], body }
	}
}

const empty: Omit<Element, 'at' | 'inside'> = { name: null, colon: -1, label: null, length: null, props: null, entries: [], where: null, condition: null }
