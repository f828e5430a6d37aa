import type { PartPath, Parts, Span } from '../api'
import { read, type Body, type EdgeElement, type Element, type Expr, type Path, type Reading } from './read'

/** A vertex or an edge of a drawing, by its number. */
export type Ref = { vertex: number } | { edge: number }

/** What the inspector shows of a vertex or edge: the texts of all its places. */
export interface Details {
	name: string
	labels: string
	length: string
	entries: { key: string; value: string }[]
	where: string
	/** Whether an edge stands behind NOT. */
	absent: boolean
}

/** A drawing without anything in it. */
export const nothing: Parts = {
	semantics: 'iso',
	induced: false,
	mode: [0, 0],
	groups: [],
	vertices: [],
	edges: [],
	paths: [],
	where: '',
	rest: [],
	fixed: '',
}

/**
 * partsOf reads a drawing from a text that an edit has just made, so that it is there before the server has answered, and the same as the
 * answer will be. It returns null where the server alone knows the vertices: those of named patterns.
 */
export function partsOf(query: string): Parts | null {
	const reading = read(query)
	return reading?.plain ? new Collector(query, reading).all() : null
}

/** The names that a group sees. */
interface Scope {
	parent: Scope | null
	group: number
	vertices: Map<string, number>
	edges: Map<string, number>
}

/** Collector follows partsReader of internal/gql. */
class Collector {
	private readonly out: Parts
	/** What is written at the places of each vertex. */
	private readonly written: { labels: string[]; where: string[]; properties: string[]; entries: string[] }[] = []

	constructor(
		private readonly query: string,
		private readonly reading: Reading,
	) {
		const { semantics, induced, mode } = reading.bodies[0]!
		this.out = { semantics: semantics || 'iso', induced, mode: this.trimmed(mode), groups: [], vertices: [], edges: [], paths: [], where: '', rest: [], fixed: '' }
	}

	all(): Parts {
		const { out, reading } = this
		const body = reading.bodies[0]!
		const at: Span = [reading.match[0], inside(body)[1]]
		const scope = this.scope(null, 'match', at, body)
		this.body(body, scope)
		for (const x of reading.rest) this.expr(x, scope, false)
		out.where = out.groups[0]!.where
		for (const [from, to] of [[0, at[0]], [at[1], this.query.length]] as Span[]) {
			const rest = this.trimmed([from, to])
			if (rest[0] < rest[1]) out.rest.push(rest)
		}
		for (const v of out.vertices) v.at.sort(inOrder)
		for (const x of [...out.vertices, ...out.edges]) x.uses.sort(inOrder)
		out.paths.sort((a, b) => a.at[0] - b.at[0])
		return out
	}

	/** trimmed is a span without the blanks at its ends. */
	private trimmed(span: Span): Span {
		const text = this.cut(span)
		const from = text.trim() ? span[0] + text.length - text.trimStart().length : span[0]
		return [from, from + text.trim().length]
	}

	private cut(span: Span | null | undefined): string {
		return span ? this.query.slice(...span) : ''
	}

	private scope(parent: Scope | null, kind: Parts['groups'][0]['kind'], at: Span, body: Body | Path): Scope {
		const isBody = 'paths' in body
		const group = this.out.groups.push({
			kind,
			parent: parent?.group ?? -1,
			at,
			inside: isBody ? inside(body) : [body.nodes[0]!.at[0], body.at[1]],
			where: isBody ? this.cut(body.where?.at) : '',
		})
		return { parent, group: group - 1, vertices: new Map(), edges: new Map() }
	}

	/** body reads paths, and then NOT and conditions, which may use names that only later paths have. */
	private body(body: Body, scope: Scope) {
		const inner = new Map<Path, Scope>()
		for (const not of [false, true]) {
			for (const path of body.paths) {
				if ((path.not !== null) !== not) continue
				inner.set(path, not ? this.scope(scope, 'not', path.at, path) : scope)
				this.path(path, inner.get(path)!)
			}
		}
		for (const path of body.paths) {
			for (const x of [...path.nodes, ...path.edges]) {
				for (const e of x.entries) this.expr(e.value, inner.get(path)!, true)
				if (x.condition) this.expr(x.condition.expr, inner.get(path)!, true)
			}
		}
		if (body.where) this.expr(body.where.expr, scope, true)
	}

	private path(path: Path, scope: Scope) {
		const { group } = scope
		const out: PartPath = { group, at: [path.nodes[0]!.at[0], path.at[1]], nodes: path.nodes.map(n => this.node(n, scope)), edges: [] }
		for (const [i, e] of path.edges.entries()) {
			const [before, after] = [out.nodes[i]!.vertex, out.nodes[i + 1]!.vertex]
			const edge = this.out.edges.push({
				name: nameOf(e),
				from: e.left ? after : before,
				to: e.left ? before : after,
				direction: e.left || e.right ? 'out' : 'any',
				...this.texts(e),
				length: this.cut(e.length),
				group,
				at: e.at,
				uses: nameOf(e) ? [[e.name!.from, e.name!.to]] : [],
			})
			if (nameOf(e)) scope.edges.set(nameOf(e), edge - 1)
			out.edges.push(edge - 1)
		}
		this.out.paths.push(out)
	}

	private texts(x: Element) {
		return { labels: this.cut(x.label), properties: this.cut(x.props), where: this.cut(x.condition?.at) }
	}

	private node(x: Element, scope: Scope): PartPath['nodes'][0] {
		const name = nameOf(x)
		let v: number | undefined
		for (let s: Scope | null = scope; s && name && v === undefined; s = s.parent) v = s.vertices.get(name)
		if (v === undefined) {
			v = this.out.vertices.push({ name, labels: '', properties: '', where: '', group: scope.group, at: [], uses: [] }) - 1
			if (name) scope.vertices.set(name, v)
		}
		const texts = this.texts(x)
		const all = this.out.vertices[v]!
		all.at.push(x.at)
		if (name) all.uses.push([x.name!.from, x.name!.to])
		if (all.group === scope.group) {
			const has = (this.written[v] ??= { labels: [], where: [], properties: [], entries: [] })
			has.labels.push(texts.labels)
			has.where.push(texts.where)
			has.properties.push(texts.properties)
			if (x.entries.length) has.entries.push(this.cut([x.entries[0]!.key.from, x.entries.at(-1)!.valueAt[1]]))
			all.labels = joined(has.labels, '&')
			all.where = joined(has.where, ' AND ')
			all.properties = distinct(has.properties).length > 1 ? `{${distinct(has.entries).join(', ')}}` : distinct(has.properties).join('')
		}
		return { vertex: v, at: x.at, ...texts }
	}

	/** expr reads the names and the EXISTS of an expression. must: each match fulfils it. */
	private expr(x: Expr, scope: Scope, must: boolean) {
		let exists: Expr | null = x.kind === 'exists' ? x : null
		let kind: 'condition' | 'exists' | 'not' = must ? 'exists' : 'condition'
		if (x.kind === 'name') this.use(x, scope)
		const both = must && x.kind === 'and'
		if (must && x.kind === 'not' && x.args[0]!.kind === 'exists') [kind, exists] = ['not', x.args[0]!]
		if (exists) this.body(exists.body!, this.scope(scope, kind, x.at, exists.body!))
		else for (const a of x.args) this.expr(a, scope, both)
	}

	private use(x: Expr, scope: Scope | null) {
		for (; scope; scope = scope.parent) {
			const v = scope.vertices.get(x.name!)
			const e = scope.edges.get(x.name!)
			if (v === undefined && e === undefined) continue
			;(v !== undefined ? this.out.vertices[v]! : this.out.edges[e!]!).uses.push(x.at)
			return
		}
	}
}

const inOrder = (a: Span, b: Span) => a[0] - b[0]
const inside = (body: Body): Span => [body.paths[0]!.at[0], body.paths.at(-1)!.at[1]]

/** joined joins texts by an operator, each in parentheses. */
function joined(texts: string[], operator: string): string {
	const all = distinct(texts)
	return all.length > 1 ? all.map(t => `(${t})`).join(operator) : all.join('')
}

/** distinct is the texts that are not empty, each once. */
function distinct(texts: string[]): string[] {
	return [...new Set(texts)].filter(t => t)
}

/** nameOf is the name of a node or edge; _ is not one. */
export function nameOf(x: Element): string {
	return x.name && (x.name.text !== '_' || x.name.kind === 'quoted') ? x.name.text : ''
}

/** elementAt finds the node or edge that has a place of the text. */
export function elementAt(reading: Reading, at: Span): Element | null {
	return placeIn(reading, at)?.element ?? null
}

/** placeIn finds the node or edge that has a place of the text, with the path around it. */
function placeIn(reading: Reading, at: Span): { element: Element; path: Path } | null {
	for (const body of reading.bodies) {
		for (const path of body.paths) {
			for (const element of [...path.nodes, ...path.edges]) if (element.at[0] === at[0] && element.at[1] === at[1]) return { element, path }
		}
	}
	return null
}

/** placesOf lists the places of a vertex or edge. */
export function placesOf(reading: Reading, parts: Parts, of: Ref): Element[] {
	const at = 'vertex' in of ? parts.vertices[of.vertex]!.at : [parts.edges[of.edge]!.at]
	return at.map(a => elementAt(reading, a)).filter(x => x !== null)
}

/** details returns what the inspector shows of a vertex or edge. */
export function details(query: string, reading: Reading, parts: Parts, of: Ref): Details {
	const places = placesOf(reading, parts, of)
	const length = places[0]?.length
	const texts = (span: (x: Element) => Span | null | undefined) => places.flatMap(x => (span(x) ? [query.slice(...span(x)!)] : []))
	return {
		name: 'vertex' in of ? parts.vertices[of.vertex]!.name : parts.edges[of.edge]!.name,
		labels: joined(texts(x => x.label), '&'),
		length: length ? query.slice(length[0] + 1, length[1]).trim() : '',
		entries: places.flatMap(x => x.entries.map(e => ({ key: e.key.text, value: query.slice(...e.valueAt) }))),
		where: joined(texts(x => x.condition?.at), ' AND '),
		absent: 'edge' in of && !!placeIn(reading, parts.edges[of.edge]!.at)?.path.not,
	}
}

/** fits reports whether parts are those of a text: while it is typed, they are those of the text before. */
export function fits(query: string, parts: Parts): boolean {
	const reading = read(query)
	if (!reading) return false
	const same = (x: Element | null, name: string): x is Element => !!x && nameOf(x) === name
	const places = reading.bodies.flatMap(b => b.paths).reduce((n, p) => n + p.nodes.length + p.edges.length, 0)
	return (
		places === parts.vertices.reduce((n, v) => n + v.at.length, 0) + parts.edges.length &&
		parts.vertices.every(v => v.at.every(at => same(elementAt(reading, at), v.name)) && v.uses.every(at => isName(reading, at, v.name))) &&
		parts.edges.every(e => {
			const x = elementAt(reading, e.at) as EdgeElement | null
			if (!same(x, e.name) || (x.left || x.right) !== (e.direction === 'out') || !e.uses.every(at => isName(reading, at, e.name))) return false
			const { path } = placeIn(reading, e.at)!
			const i = path.edges.indexOf(x)
			const ends = (v: number, n: Element) => parts.vertices[v]?.at.some(at => at[0] === n.at[0])
			const [from, to] = x.left ? [i + 1, i] : [i, i + 1]
			return ends(e.from, path.nodes[from]!) && ends(e.to, path.nodes[to]!)
		})
	)
}

function isName(reading: Reading, at: Span, name: string): boolean {
	return reading.uses.some(u => u.at[0] === at[0] && u.name === name)
}
