import type { Span } from '../api'
import { isExpression } from './expression'
import { isReserved, lex, type Token } from './lex'

/** What stands inside the brackets of a node or edge. */
export interface Element {
	at: Span
	/** Inside the brackets; null for an edge without brackets. */
	inside: Span | null
	name: Token | null
	/** The colon, and the expression after it. */
	colon: number
	label: Span | null
	/** The star with its numbers. */
	length: Span | null
	props: Span | null
	entries: Entry[]
	/** From the word WHERE, and the condition alone. */
	where: Span | null
	condition: Span | null
}

export interface Entry {
	at: Span
	key: Token
	value: Span
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

/** The paths of MATCH or of EXISTS. */
export interface Body {
	kind: 'match' | 'exists' | 'not exists'
	/** The body around that of EXISTS, or -1. */
	parent: number
	/** The paths of MATCH; EXISTS with its braces. */
	at: Span
	semantics: string
	induced: boolean
	paths: Path[]
	/** separators[i] is the comma or semicolon after path i. */
	separators: Span[]
}

/** A place where the name of a vertex or edge stands. */
export interface Use {
	name: string
	at: Span
	/** Where it is: '' in a path, else WHERE, RETURN, ORDERED, GROUP BY, or 'a condition in brackets'. */
	clause: string
	body: number
}

/** A query whose paths are found in its text. */
export interface Reading {
	tokens: Token[]
	bodies: Body[]
	uses: Use[]
	/** The items of RETURN, as written. */
	items: Span[]
	/** The condition of the query. */
	where: Span | null
	/** The word MATCH. */
	match: Span
	/** Whether a path is the call of a named pattern, or the text has more than one query or a definition. */
	plain: boolean
}

class Unreadable extends Error {}

/** read finds the paths of a query, or returns null where the text is not one. It trusts that the server has checked the rest. */
export function read(query: string): Reading | null {
	const tokens = lex(query)
	if (!tokens) return null
	try {
		return new Reader(tokens).query()
	} catch (e) {
		if (e instanceof Unreadable) return null
		throw e
	}
}

class Reader {
	private i = 0
	private body = -1
	private clause = ''
	private readonly out: Reading

	constructor(private readonly tokens: Token[]) {
		this.out = { tokens, bodies: [], uses: [], items: [], where: null, match: [0, 0], plain: true }
	}

	private peek(n = 0): Token {
		return this.tokens[Math.min(this.i + n, this.tokens.length - 1)]!
	}

	private take(): Token {
		const t = this.peek()
		if (t.kind !== 'end') this.i++
		return t
	}

	private get last(): Token {
		return this.tokens[this.i - 1]!
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

	private keyword(word: string): boolean {
		if (!this.word(word)) return false
		this.i++
		return true
	}

	private expect(symbol: string): Token {
		if (!this.symbol(symbol)) throw new Unreadable()
		return this.last
	}

	query(): Reading {
		if (this.keyword('CREATE')) this.i += 3 // WATCH name AS
		if (!this.keyword('EXPLAIN')) this.keyword('PROFILE')
		while (this.keyword('DEFINE')) {
			this.out.plain = false
			while (!this.is('{')) if (this.take().kind === 'end') throw new Unreadable()
			this.skip()
		}
		if (!this.keyword('MATCH')) throw new Unreadable()
		this.out.match = [this.last.from, this.last.to]
		const body = this.paths('match', this.peek().from)
		body.at[1] = this.last.to
		this.clauses()
		this.symbol(';')
		if (this.peek().kind !== 'end') this.out.plain = false
		return this.out
	}

	/** skip takes a bracket and everything up to the one that closes it. */
	private skip() {
		let depth = 0
		do {
			const t = this.take()
			if (t.kind === 'end') throw new Unreadable()
			if (t.kind !== 'symbol') continue
			if ('([{'.includes(t.text)) depth++
			if (')]}'.includes(t.text)) depth--
		} while (depth > 0)
	}

	/** clauses reads what follows the paths of the query. */
	private clauses() {
		for (;;) {
			if (this.keyword('ORDERED')) {
				this.clause = 'ORDERED'
				this.expression(() => this.word('ON') || this.clauseBegins())
			} else if (this.keyword('ON')) {
				this.take()
			} else if (this.keyword('WITHIN')) {
				this.clause = 'WITHIN'
				this.expression(() => this.word('ON') || this.clauseBegins())
			} else if (this.keyword('WHERE')) {
				this.clause = 'WHERE'
				this.out.where = this.expression(() => this.clauseBegins())
			} else if (this.keyword('RETURN')) {
				this.clause = 'RETURN'
				do this.out.items.push(this.expression(() => this.is(',') || this.clauseBegins()))
				while (this.symbol(','))
			} else if (this.keyword('GROUP')) {
				this.take() // BY
				this.clause = 'GROUP BY'
				this.expression(() => this.clauseBegins())
			} else if (this.keyword('LIMIT') || this.keyword('SAMPLE') || this.keyword('SEED') || this.keyword('ESTIMATE') || this.keyword('EMIT')) {
				while (!this.clauseBegins()) this.take()
			} else {
				return
			}
		}
	}

	private clauseBegins(): boolean {
		const t = this.peek()
		if (t.kind === 'end' || this.is(';')) return true
		return t.kind === 'word' && ['ORDERED', 'WITHIN', 'WHERE', 'RETURN', 'GROUP', 'LIMIT', 'SAMPLE', 'SEED', 'ESTIMATE', 'EMIT'].includes(t.text.toUpperCase())
	}

	/** expression reads up to a token outside of brackets at which it ends, and notes the names that it uses. */
	private expression(ends: () => boolean): Span {
		const from = this.peek().from
		const first = this.i
		for (let depth = 0; depth > 0 || !ends(); ) {
			const t = this.peek()
			if (t.kind === 'end') throw new Unreadable()
			if (this.word('EXISTS') && this.is('{', 1)) {
				this.exists(this.i > first && this.last.kind === 'word' && this.last.text.toUpperCase() === 'NOT')
				continue
			}
			if (this.symbol('.')) {
				this.take()
				continue
			}
			if (this.keyword('AS') || (this.word('DISTINCT') && this.keyword('DISTINCT'))) {
				this.take()
				continue
			}
			this.take()
			if (t.kind === 'symbol' && '([{'.includes(t.text)) depth++
			if (t.kind === 'symbol' && ')]}'.includes(t.text)) depth--
			if (depth < 0) throw new Unreadable()
			const named = t.kind === 'quoted' || (t.kind === 'word' && !isReserved(t.text) && !this.is('(') && this.peek().kind !== 'string')
			if (named) this.use(t)
		}
		if (this.i === first) throw new Unreadable()
		return [from, this.last.to]
	}

	private use(t: Token) {
		if (t.text !== '_' || t.kind === 'quoted') this.out.uses.push({ name: t.text, at: [t.from, t.to], clause: this.clause, body: this.body })
	}

	/** exists = EXISTS { [MATCH] body [WHERE expr] }. */
	private exists(not: boolean) {
		const clause = this.clause
		const from = this.take().from
		this.expect('{')
		this.keyword('MATCH')
		const around = this.body
		this.clause = ''
		const body = this.paths(not ? 'not exists' : 'exists', from)
		if (this.keyword('WHERE')) {
			this.clause = 'WHERE'
			this.expression(() => this.is('}'))
		}
		body.at[1] = this.expect('}').to
		this.body = around
		this.clause = clause
	}

	/** paths = [mode] ["INDUCED"] pattern { ("," | ";") pattern }. It leaves the new body as that of the names to come. */
	private paths(kind: Body['kind'], from: number): Body {
		const around = this.out.bodies[this.body]
		const body: Body = { kind, parent: this.body, at: [from, from], semantics: around?.semantics ?? 'iso', induced: false, paths: [], separators: [] }
		this.body = this.out.bodies.push(body) - 1
		if (this.keyword('DIFFERENT')) body.semantics = this.take().text.toUpperCase() === 'EDGES' ? 'trail' : 'iso'
		else if (this.keyword('REPEATABLE')) {
			this.take()
			body.semantics = 'hom'
		}
		body.induced = this.keyword('INDUCED')
		if (kind === 'match') body.at[0] = this.peek().from
		for (;;) {
			body.paths.push(this.path())
			const queryEnds = this.is(';') && (this.peek(1).kind === 'end' || ['MATCH', 'EXPLAIN', 'PROFILE', 'DEFINE', 'CREATE'].some(w => this.word(w, 1)))
			if (queryEnds || !(this.symbol(',') || this.symbol(';'))) return body
			body.separators.push([this.last.from, this.last.to])
		}
	}

	private path(): Path {
		const from = this.peek().from
		const path: Path = { at: [from, from], not: null, nodes: [], edges: [] }
		if (this.symbol('!') || this.keyword('NOT')) path.not = [this.last.from, this.last.to]
		if (this.is('(')) {
			path.nodes.push(this.node())
			while (this.is('-') || (this.is('<') && this.is('-', 1))) {
				path.edges.push(this.edge())
				path.nodes.push(this.node())
			}
		} else {
			this.call()
		}
		path.at[1] = this.last.to
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
			if (a.kind === 'end') throw new Unreadable()
			if (a.kind === 'word' || a.kind === 'quoted') this.use(a)
		}
	}

	private node(): Element {
		const open = this.expect('(')
		const x = this.inside(')')
		const close = this.expect(')')
		return { ...x, at: [open.from, close.to], inside: [open.to, close.from] }
	}

	private edge(): EdgeElement {
		const from = this.peek().from
		const left = this.symbol('<')
		const first = this.expect('-')
		let x: Omit<Element, 'at'> = { inside: null, name: null, colon: -1, label: null, length: null, props: null, entries: [], where: null, condition: null }
		if (this.symbol('[')) {
			const open = this.last.to
			x = { ...this.inside(']'), inside: [open, this.peek().from] }
			this.expect(']')
		}
		const second = this.expect('-')
		const right = this.symbol('>')
		return { ...x, at: [from, this.last.to], left, right, dashes: [[first.from, first.to], [second.from, second.to]] }
	}

	/** inside = [name] [":" label] ["*" int [".." int]] [props] ["WHERE" expr]. */
	private inside(close: string): Omit<Element, 'at' | 'inside'> {
		const x: Omit<Element, 'at' | 'inside'> = { name: null, colon: -1, label: null, length: null, props: null, entries: [], where: null, condition: null }
		const t = this.peek()
		if (t.kind === 'quoted' || (t.kind === 'word' && !isReserved(t.text))) {
			x.name = this.take()
			this.use(x.name)
		}
		if (this.symbol(':')) {
			x.colon = this.last.from
			const from = this.peek().from
			this.label()
			x.label = [from, this.last.to]
		}
		if (this.symbol('*')) {
			const from = this.last.from
			this.take()
			if (this.symbol('..')) this.take()
			x.length = [from, this.last.to]
		}
		const clause = this.clause
		this.clause = 'a condition in brackets'
		if (this.symbol('{')) {
			const from = this.last.from
			while (!this.symbol('}')) {
				if (x.entries.length > 0) this.expect(',')
				const key = this.take()
				this.expect(':')
				const value = this.expression(() => this.is(',') || this.is('}'))
				x.entries.push({ at: [key.from, value[1]], key, value })
			}
			x.props = [from, this.last.to]
		}
		if (this.keyword('WHERE')) {
			const from = this.last.from
			x.condition = this.expression(() => this.is(close))
			x.where = [from, x.condition[1]]
		}
		this.clause = clause
		return x
	}

	/** label = atom { ("|" | "&") [":"] atom }; which operator binds stronger does not matter here. */
	private label() {
		do {
			while (this.symbol('!'));
			if (this.symbol('(')) {
				this.label()
				this.expect(')')
			} else if (!this.symbol('%')) {
				const t = this.take()
				if (t.kind !== 'word' && t.kind !== 'quoted' && !/^\d+$/.test(t.text)) throw new Unreadable()
			}
		} while ((this.symbol('|') || this.symbol('&')) && (this.symbol(':') || true))
	}
}

/** isLabel reports whether a text is an expression of labels. */
export function isLabel(text: string): boolean {
	return sound(`(:${text})`, text, x => x.label)
}

/** isValue reports whether a text can stand as the value of a property. */
export function isValue(text: string): boolean {
	return sound(`({k:${text}})`, text, x => (x.entries.length === 1 ? x.entries[0]!.value : null)) && isExpression(lex(text)!, false)
}

/** isCondition reports whether a text can stand after WHERE in the brackets of a node. */
export function isCondition(text: string): boolean {
	return sound(`(WHERE ${text})`, text, x => x.condition) && isExpression(lex(text)!, true)
}

/** sound reports whether a node has a text as one of its parts, so that nothing of it is a comment or reaches beyond. */
function sound(node: string, text: string, part: (x: Element) => Span | null): boolean {
	const r = read('MATCH ' + node)
	const paths = r?.bodies[0]!.paths
	const x = paths?.length === 1 && paths[0]!.edges.length === 0 ? paths[0]!.nodes[0]! : null
	const span = x && part(x)
	return !!span && span[1] - span[0] === text.trim().length && x.at[1] === 6 + node.length
}
