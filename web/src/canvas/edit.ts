import type { Parts, Span } from '../api'
import { quote, quoteName } from './lex'
import { fits, nameOf, placesOf, type Ref } from './parts'
import { isCondition, isLabel, isValue, read, type Body, type EdgeElement, type Element, type Path, type Reading, type Use } from './read'
import { splice, type Splice } from './splice'

/** A change of a drawing. Vertices and edges are the numbers that they have in its parts. */
export type Change =
	| { kind: 'add vertex' }
	/** Without to, the edge goes to a new vertex. */
	| { kind: 'add edge'; from: number; to: number | null; directed: boolean }
	| { kind: 'delete'; of: Ref }
	| { kind: 'name'; of: Ref; name: string }
	| { kind: 'labels'; of: Ref; labels: string }
	/** The property number entry gets another key and value, or goes if they are empty; entry may be one more than there are. */
	| { kind: 'property'; of: Ref; entry: number; key: string; value: string }
	| { kind: 'condition'; of: Ref; condition: string }
	| { kind: 'length'; edge: number; length: string }
	/** From where the edge comes from as it is drawn: in turns it. */
	| { kind: 'direction'; edge: number; direction: 'any' | 'out' | 'in' }
	/** An absent edge stands behind NOT. */
	| { kind: 'absent'; edge: number; absent: boolean }

/** Refusal is why a change cannot be made. The message is for the user. */
export class Refusal extends Error {}

/** edit makes a change in the text of a query. Everything that the change is not about stays as it is. */
export function edit(query: string, parts: Parts, change: Change): string {
	if (parts.fixed) throw new Refusal(parts.fixed)
	if (parts.vertices.length === 0 && change.kind === 'add vertex') return begin(query)
	const reading = read(query)
	if (!reading || !fits(query, parts)) throw new Refusal('The text has changed since it was drawn')
	const text = new Text(query, parts, reading)
	return splice(query, text.change(change))
}

/** begin writes the first vertex into a text without a query, which may have comments. */
function begin(query: string): string {
	const rest = query.trim()
	if (read(query + '\nMATCH (a)')?.match[0] !== query.length + 1) throw new Refusal('The text is not a pattern yet')
	if (!rest) return 'MATCH (a)'
	return query + (query.endsWith('\n') ? '' : '\n') + 'MATCH (a)'
}

/** freeName is the first of a, b, c, …, v26, v27, … that no word of the text is. */
export function freeName(reading: Reading, ...others: string[]): string {
	const taken = new Set([...others, ...reading.tokens.filter(t => t.kind === 'word' || t.kind === 'quoted').map(t => t.text)])
	for (let i = 0; ; i++) {
		const name = i < 26 ? String.fromCharCode(97 + i) : 'v' + i
		if (!taken.has(name)) return name
	}
}

/** Text makes changes of one text. */
class Text {
	constructor(
		private readonly query: string,
		private readonly parts: Parts,
		private readonly reading: Reading,
	) {}

	change(c: Change): Splice[] {
		switch (c.kind) {
			case 'add vertex':
				return this.append(this.main, `(${freeName(this.reading)})`)
			case 'add edge':
				return this.addEdge(c.from, c.to, c.directed)
			case 'delete':
				return 'vertex' in c.of ? this.deleteVertex(c.of.vertex) : this.deleteEdge(c.of.edge)
			case 'name':
				return this.rename(c.of, c.name.trim())
			case 'labels':
				return this.setLabels(c.of, c.labels.trim())
			case 'property':
				return this.setProperty(c.of, c.entry, c.key.trim(), c.value.trim())
			case 'condition':
				return this.setCondition(c.of, c.condition.trim())
			case 'length':
				return this.setLength(c.edge, c.length.trim())
			case 'direction':
				return this.setDirection(c.edge, c.direction)
			case 'absent':
				return this.setAbsent(c.edge, c.absent)
		}
	}

	private get main(): Body {
		return this.reading.bodies[0]!
	}

	private cut(span: Span): string {
		return this.query.slice(...span)
	}

	/** append adds a path to a body, apart from the last one as that is from the path before it. */
	private append(body: Body, path: string): Splice[] {
		const last = body.paths.at(-1)!
		const before = body.paths.at(-2)
		const gap = before && this.cut([before.at[1], last.at[0]])
		return [{ at: [last.at[1], last.at[1]], text: (gap && /^[,;]\s+$/.test(gap) ? gap : ', ') + path }]
	}

	/** pathOf finds the path of a node or edge, its body, and its place in the path. */
	private pathOf(x: Element): { body: Body; path: Path; i: number } {
		for (const body of this.reading.bodies) {
			for (const path of body.paths) {
				const i = path.nodes.includes(x) ? path.nodes.indexOf(x) : path.edges.indexOf(x as EdgeElement)
				if (i >= 0) return { body, path, i }
			}
		}
		throw new Error('the place is of another text')
	}

	/** bodyOf is the body that declares a vertex. */
	private bodyOf(v: number): Body {
		const bodies = placesOf(this.reading, this.parts, { vertex: v }).map(x => this.pathOf(x).body)
		return this.reading.bodies.find(b => bodies.includes(b))!
	}

	private within(inner: Body, outer: Body): boolean {
		for (let b: Body | null = inner; b; b = b.parent) if (b === outer) return true
		return false
	}

	// Edges that come.

	private addEdge(from: number, to: number | null, directed: boolean): Splice[] {
		if (from === to) throw new Refusal('An edge from a vertex to itself can never match: graphs are stored without self-loops')
		let body = this.bodyOf(from)
		if (to !== null) {
			const other = this.bodyOf(to)
			if (this.within(other, body)) body = other
			else if (!this.within(body, other)) throw new Refusal('These vertices are in different conditions, so no edge can join them')
		}
		const dash = directed ? '-->' : '--'
		const back = directed ? '<--' : '--'
		const a = this.ends(from, body)
		if (to === null) {
			const [name, splices] = a.last || a.first ? ['', []] : this.mention(from)
			const node = `(${freeName(this.reading, name)})`
			if (a.last) return [{ at: after(a.last), text: dash + node }]
			if (a.first) return [{ at: before(a.first), text: node + back }]
			return [...splices, ...this.append(body, `(${name})${dash}${node}`)]
		}
		const b = this.ends(to, body)
		// A vertex that stands alone moves to the end of the path of the other.
		if (b.alone && a.last) return [{ at: after(a.last), text: dash + this.cut(b.alone.at) }, ...this.without(body, b.alone)]
		if (b.alone && a.first) return [{ at: before(a.first), text: this.cut(b.alone.at) + back }, ...this.without(body, b.alone)]
		if (a.alone && b.first) return [{ at: before(b.first), text: this.cut(a.alone.at) + dash }, ...this.without(body, a.alone)]
		if (a.alone && b.last) return [{ at: after(b.last), text: back + this.cut(a.alone.at) }, ...this.without(body, a.alone)]
		if (a.last && this.parts.vertices[to]!.name) return [{ at: after(a.last), text: `${dash}(${quoteName(this.parts.vertices[to]!.name)})` }]
		const { name } = this.parts.vertices[from]!
		if (b.first && name && !this.parts.vertices[to]!.name) return [{ at: before(b.first), text: `(${quoteName(name)})${dash}` }]
		if (b.last && name && !this.parts.vertices[to]!.name) return [{ at: after(b.last), text: `${back}(${quoteName(name)})` }]
		const [x, naming] = this.mention(from)
		const [y, namingToo] = this.mention(to, x)
		return [...naming, ...namingToo, ...this.append(body, `(${x})${dash}(${y})`)]
	}

	/** ends finds nodes of a vertex at the begin and end of paths of a body that have no NOT, and one that is its only place and a path of its own. */
	private ends(v: number, body: Body): { first: Element | null; last: Element | null; alone: Element | null } {
		const places = placesOf(this.reading, this.parts, { vertex: v })
		const out: ReturnType<Text['ends']> = { first: null, last: null, alone: null }
		for (const path of body.paths) {
			if (path.not) continue
			const first = path.nodes[0]!
			const last = path.nodes.at(-1)!
			if (places.includes(first)) out.first ??= first
			if (places.includes(last)) out.last = last
			if (places.length === 1 && places[0] === first && path.nodes.length === 1) out.alone = first
		}
		return out
	}

	/** mention returns a name by which a new path can mention a vertex, and gives it one if it has none. */
	private mention(v: number, taken = ''): [name: string, naming: Splice[]] {
		const { name } = this.parts.vertices[v]!
		if (name) return [quoteName(name), []]
		const place = placesOf(this.reading, this.parts, { vertex: v })[0]!
		if (this.pathOf(place).path.not) throw new Refusal('NOT introduces no names, so only a vertex with a name can have another edge')
		const free = freeName(this.reading, taken)
		return [free, this.putName(place, free)]
	}

	/** without takes a path of one node out of a body. */
	private without(body: Body, node: Element): Splice[] {
		return this.keep(body, path => (path.nodes[0] === node && path.nodes.length === 1 ? [] : null))
	}

	// Vertices and edges that go.

	private deleteVertex(v: number): Splice[] {
		const of = { vertex: v }
		const places = placesOf(this.reading, this.parts, of)
		const body = this.bodyOf(v)
		const edges: Element[] = []
		for (const x of places) {
			const { body: b, path, i } = this.pathOf(x)
			if (b !== body) throw new Refusal(`${this.parts.vertices[v]!.name} is used in EXISTS. Change that in the text first`)
			edges.push(...path.edges.filter((_, j) => path.not || j === i - 1 || j === i))
		}
		const numbers = edges.map(x => ({ edge: this.parts.edges.findIndex(e => e.at[0] === x.at[0]) }))
		return [
			...this.release([of, ...numbers], [...places, ...edges]),
			...this.keep(body, path => {
				const hit = path.nodes.map(n => places.includes(n))
				if (!hit.includes(true)) return null
				if (path.not) return []
				const runs: Run[] = []
				for (const i of hit.keys()) {
					if (hit[i]) continue
					if (i > 0 && !hit[i - 1]) runs.at(-1)!.to = i
					else runs.push({ from: i, to: i })
				}
				return runs
			}),
		]
	}

	private deleteEdge(e: number): Splice[] {
		const x = placesOf(this.reading, this.parts, { edge: e })[0] as EdgeElement
		const { body, path, i } = this.pathOf(x)
		const ends = path.edges.length
		if (path.not && ends > 1 && i > 0 && i < ends - 1) throw new Refusal('An absent path cannot have a gap: delete an edge at its end first')
		return [
			...this.release([{ edge: e }], [x]),
			...this.keep(body, p => {
				if (p !== path) return null
				if (!path.not) return [{ from: 0, to: i }, { from: i + 1, to: ends }]
				if (ends === 1) return []
				return i === 0 ? [{ from: 1, to: ends }] : [{ from: 0, to: ends - 1 }]
			}),
		]
	}

	private usesOf(of: Ref): Span[] {
		return 'vertex' in of ? this.parts.vertices[of.vertex]!.uses : this.parts.edges[of.edge]!.uses
	}

	/** others lists the uses of names outside of what goes. */
	private others(names: Ref[], going: Element[]): Use[] {
		const spans = names.flatMap(of => this.usesOf(of)).filter(at => !going.some(x => within(at, x.at)))
		return this.reading.uses.filter(u => spans.some(at => at[0] === u.at[0]))
	}

	private refuseUse(u: Use): never {
		throw new Refusal(`${u.name} is used in ${u.clause}: ${this.shorten(u)}. Change that in the text first`)
	}

	/**
	 * release refuses if something that stays uses the names of what goes. Items of RETURN that are only such a name or a property
	 * of it go too, if others stay.
	 */
	private release(names: Ref[], removed: Element[]): Splice[] {
		const { items } = this.reading
		const going = new Set<number>()
		for (const u of this.others(names, removed)) {
			const i = items.findIndex(item => u.clause === 'RETURN' && item[0] === u.at[0])
			if (i < 0 || !/^(\s*\.\s*[\p{L}\p{Nd}_]+)?(\s+as\s+[\p{L}\p{Nd}_]+)?$/iu.test(this.cut([u.at[1], items[i]![1]]))) this.refuseUse(u)
			going.add(i)
		}
		if (going.size > 0 && going.size === items.length) throw new Refusal(`RETURN has nothing but ${this.cut(items[0]!)}. Change that in the text first`)
		// Each item that goes takes the comma before it, and one before all that stay the comma after it. Comments beside the comma stay.
		const first = items.findIndex((_, i) => !going.has(i))
		return [...going].map(i => {
			const [a, b] = i < first ? [items[i]!, items[i + 1]!] : [items[i - 1]!, items[i]!]
			const gap: Span = [a[1], b[0]]
			const comma = this.reading.tokens.find(t => t.kind === 'symbol' && t.text === ',' && within([t.from, t.to], gap))!
			const comments = this.cut([gap[0], comma.from]) + this.cut([comma.to, gap[1]])
			const text = i < first ? comments.trimStart() : comments.replace(/[ \t]+$/, '')
			return { at: i < first ? [a[0], b[0]] : [a[1], b[1]], text: comments.trim() ? text : '' }
		})
	}

	/** shorten is the line of a use, without much around it. */
	private shorten(u: Use): string {
		const from = Math.max(this.query.lastIndexOf('\n', u.at[0]) + 1, u.at[0] - 16)
		const end = this.query.indexOf('\n', u.at[1])
		const to = Math.min(end < 0 ? this.query.length : end, u.at[1] + 16)
		return (from > 0 ? '…' : '') + this.query.slice(from, to).trim() + (to < this.query.length ? '…' : '')
	}

	/**
	 * keep writes the paths of a body of which parts go. What of a path stays are runs of nodes with the edges between them; null is the whole path.
	 * A node that would stand alone and has only a name goes as well where the name stands elsewhere.
	 */
	private keep(body: Body, runsOf: (path: Path) => Run[] | null): Splice[] {
		const kept = body.paths.map(path => runsOf(path) ?? [{ from: 0, to: path.nodes.length - 1 }])
		const changed = body.paths.map(path => runsOf(path) !== null)
		const elsewhere = (path: number, run: Run, name: string) =>
			body.paths.some((p, j) => !p.not && kept[j]!.some(r => (j !== path || r !== run) && p.nodes.slice(r.from, r.to + 1).some(n => nameOf(n) === name)))
		for (const [j, path] of body.paths.entries()) {
			if (!changed[j] || path.not) continue
			for (const run of [...kept[j]!]) {
				const node = path.nodes[run.from]!
				const plain = run.from === run.to && nameOf(node) && !node.label && !node.props && !node.where
				if (plain && (elsewhere(j, run, nameOf(node)) || this.around(body, nameOf(node)))) kept[j] = kept[j]!.filter(r => r !== run)
			}
		}
		const stays = kept.map(runs => runs.length > 0)
		const first = stays.indexOf(true)
		if (first < 0) return this.nothing(body)
		const splices: Splice[] = []
		for (const [j, path] of body.paths.entries()) {
			if (!stays[j]) {
				splices.push({ at: path.at, text: '' })
				// The separator goes with the blanks beside it, but not with comments.
				const separator = body.separators[j < first ? j : j - 1]!
				const gap: Span = j < first ? [path.at[1], body.paths[j + 1]!.at[0]] : [body.paths[j - 1]!.at[1], path.at[0]]
				const comments = this.cut([gap[0], separator[0]]) + this.cut([separator[1], gap[1]])
				splices.push({ at: gap, text: comments.trim() ? comments : '' })
				continue
			}
			if (!changed[j]) continue
			let at = path.not ? path.nodes[0]!.at[0] : path.at[0]
			for (const [k, run] of kept[j]!.entries()) {
				const begin = path.nodes[run.from]!.at[0]
				splices.push({ at: [at, begin], text: k > 0 ? ',' + (this.comments(path, at, begin) || ' ') : this.comments(path, at, begin) })
				at = path.nodes[run.to]!.at[1]
			}
			splices.push({ at: [at, path.at[1]], text: this.comments(path, at, path.at[1]) })
		}
		return splices
	}

	/** comments returns what stands between the nodes and edges of a part of a path, if it is more than blanks. */
	private comments(path: Path, from: number, to: number): string {
		const elements = [...path.nodes, ...path.edges].sort((a, b) => a.at[0] - b.at[0])
		let out = ''
		for (let i = 1; i < elements.length; i++) {
			const gap: Span = [elements[i - 1]!.at[1], elements[i]!.at[0]]
			if (gap[0] >= from && gap[1] <= to && this.cut(gap).trim()) out += this.cut(gap)
		}
		return out
	}

	/** around reports whether a body around has a vertex of a name. */
	private around(body: Body, name: string): boolean {
		for (let b = body.parent; b; b = b.parent) {
			if (b.paths.some(p => !p.not && p.nodes.some(n => nameOf(n) === name))) return true
		}
		return false
	}

	/** nothing takes the last path of a query, which is possible if there is nothing else. */
	private nothing(body: Body): Splice[] {
		if (body !== this.main) throw new Refusal('EXISTS needs a pattern. Delete it in the text')
		const end = body.paths.at(-1)!.at[1]
		const alone = this.reading.tokens.every(t => t.kind === 'end' || (t.from >= this.reading.match[0] && t.to <= end))
		if (!alone) throw new Refusal('The query needs a vertex')
		return [{ at: [this.reading.match[0], end], text: '' }]
	}

	// Names.

	private rename(of: Ref, name: string): Splice[] {
		const places = placesOf(this.reading, this.parts, of)
		const first = places[0]!
		const old = nameOf(first)
		if (name === old) return []
		if (!name || name === '_') {
			const other = this.others([of], []).find(u => !places.some(x => x.name?.from === u.at[0]))
			if (other) throw new Refusal(`${old} needs its name: it is used in ${other.clause}: ${this.shorten(other)}`)
			if (places.length > 1) throw new Refusal(`${old} needs its name, because the text has it in ${places.length} places`)
			return this.remove(first, first.name!.from, first.name!.to)
		}
		if (this.reading.uses.some(u => u.name === name)) throw new Refusal(`${name} is already a name in this query`)
		if (old) return this.usesOf(of).map(at => ({ at, text: quoteName(name) }))
		if ('vertex' in of && this.pathOf(first).path.not) throw new Refusal('NOT introduces no names')
		return this.putName(first, quoteName(name))
	}

	private putName(x: Element, name: string): Splice[] {
		if (x.name) return [{ at: [x.name.from, x.name.to], text: name }]
		return this.insert(x, x.inside ? x.inside[0] : -1, name)
	}

	// What stands in brackets.

	/** insert writes a text into the brackets of an element, which an edge gets if it has none, with a blank where words would touch. */
	private insert(x: Element, at: number, text: string): Splice[] {
		if (!x.inside) {
			const dash = (x as EdgeElement).dashes[0][1]
			return [{ at: [dash, dash], text: `[${text}]` }]
		}
		return [this.put([at, at], text)]
	}

	/** put writes a text at a place, apart from the words at its sides. */
	private put(at: Span, text: string): Splice {
		const touches = (c: string | undefined) => c !== undefined && /[\p{L}\p{Nd}_`]/u.test(c)
		const before = touches(this.query[at[0] - 1]) && touches(text[0]) ? ' ' : ''
		const after = touches(this.query[at[1]]) && touches(text.at(-1)) ? ' ' : ''
		return { at, text: before + text + after }
	}

	/** remove takes a part out of brackets, with the blanks before it; brackets of an edge that are then empty go as well. */
	private remove(x: Element, from: number, to: number): Splice[] {
		const [begin, end] = x.inside!
		const before = this.query.slice(begin, from)
		const after = this.query.slice(to, end)
		if (this.query[x.at[0]] !== '(' && !before.trim() && !after.trim()) return [{ at: [begin - 1, end + 1], text: '' }]
		if (before.includes('//')) return [{ at: [from, to], text: '' }]
		const start = begin + before.trimEnd().length
		if (start === begin) return [{ at: [begin, end - after.trimStart().length], text: '' }]
		return [{ at: [start, to], text: /^[\p{L}\p{Nd}_`]/u.test(after) ? ' ' : '' }]
	}

	private setLabels(of: Ref, labels: string): Splice[] {
		if (labels && !isLabel(labels)) throw new Refusal(`${labels} is not an expression of labels. Names, !, &, | and brackets can stand in it; other names go in back quotes`)
		const places = placesOf(this.reading, this.parts, of)
		const having = places.filter(x => x.label)
		const x = having[0] ?? places[0]!
		const splices = having.slice(1).flatMap(y => this.remove(y, y.colon, y.label![1]))
		if (!labels) return having[0] ? [...splices, ...this.remove(x, x.colon, x.label![1])] : []
		if (x.label) return [...splices, this.put(x.label, labels)]
		return this.insert(x, x.name ? x.name.to : x.inside ? x.inside[0] : -1, ':' + labels)
	}

	private setLength(edge: number, length: string): Splice[] {
		const x = placesOf(this.reading, this.parts, { edge })[0]!
		const m = /^\*?\s*(\d+)\s*(?:\.\.\s*(\d+))?$/.exec(length)
		if (length && (!m || Number(m[2] ?? m[1]) < Math.max(Number(m[1]), 1) || Number(m[2] ?? m[1]) > 1000)) {
			throw new Refusal('A length is a number of edges, such as 2, or a range, such as 1..3')
		}
		if (!m) return x.length ? this.remove(x, ...x.length) : []
		const text = '*' + m[1] + (m[2] ? '..' + m[2] : '')
		if (x.length) return [this.put(x.length, text)]
		return this.insert(x, x.label?.[1] ?? x.name?.to ?? x.inside?.[0] ?? -1, text)
	}

	private setProperty(of: Ref, entry: number, key: string, value: string): Splice[] {
		const places = placesOf(this.reading, this.parts, of)
		const entries = places.flatMap(x => x.entries.map(e => ({ x, e })))
		const old = entries[entry]
		if (!key && !value) return old ? this.removeEntry(old.x, old.x.entries.indexOf(old.e)) : []
		if (!key) throw new Refusal('A property needs a name')
		if (!isValue(value)) throw new Refusal(value ? `${value} is not a value. Text goes in quotes: '${value.replaceAll("'", "''")}'` : `${key} needs a value`)
		if (old) {
			return [
				...(old.e.key.text === key ? [] : [{ at: [old.e.key.from, old.e.key.to] as Span, text: quote(key) }]),
				...(this.cut(old.e.valueAt) === value ? [] : [this.put(old.e.valueAt, value)]),
			]
		}
		const text = `${quote(key)}: ${value}`
		const last = entries.at(-1)
		if (last) return [{ at: after(last.e), text: ', ' + text }]
		const x = places[0]!
		if (x.props) return [{ at: [x.props[0] + 1, x.props[0] + 1], text }]
		const at = x.length?.[1] ?? x.label?.[1] ?? x.name?.to
		return this.insert(x, at ?? x.inside?.[0] ?? -1, (at ? ' ' : '') + `{${text}}`)
	}

	private removeEntry(x: Element, i: number): Splice[] {
		if (x.entries.length === 1) return this.remove(x, ...x.props!)
		const e = x.entries[i]!
		const at: Span = i > 0 ? [x.entries[i - 1]!.at[1], e.at[1]] : [e.at[0], x.entries[1]!.at[0]]
		return [{ at, text: '' }]
	}

	private setCondition(of: Ref, condition: string): Splice[] {
		if (condition && !isCondition(condition)) throw new Refusal(`${condition} is not a condition, such as _.age > 30`)
		const places = placesOf(this.reading, this.parts, of)
		const having = places.filter(x => x.where)
		const x = having[0] ?? places[0]!
		const splices = having.slice(1).flatMap(y => this.remove(y, ...y.where!))
		if (!condition) return having[0] ? [...splices, ...this.remove(x, ...x.where!)] : []
		if (x.condition) return [...splices, this.put(x.condition.at, condition)]
		const at = x.props?.[1] ?? x.length?.[1] ?? x.label?.[1] ?? x.name?.to
		return this.insert(x, at ?? x.inside?.[0] ?? -1, (at ? ' ' : '') + 'WHERE ' + condition)
	}

	// Edges as they are.

	private setDirection(edge: number, direction: 'any' | 'out' | 'in'): Splice[] {
		const x = placesOf(this.reading, this.parts, { edge })[0] as EdgeElement
		// As drawn, an edge that points left in the text comes from the node after it.
		const right = direction === 'any' ? false : x.left ? direction === 'in' : direction === 'out'
		const left = direction === 'any' ? false : !right
		const splices: Splice[] = []
		if (x.left && !left) splices.push({ at: [x.at[0], x.dashes[0][0]], text: '' })
		if (!x.left && left) splices.push({ at: before(x), text: '<' })
		if (x.right && !right) splices.push({ at: [x.dashes[1][1], x.at[1]], text: '' })
		if (!x.right && right) splices.push({ at: after(x), text: '>' })
		return splices
	}

	private setAbsent(edge: number, absent: boolean): Splice[] {
		const x = placesOf(this.reading, this.parts, { edge })[0] as EdgeElement
		const { body, path, i } = this.pathOf(x)
		if (absent === !!path.not) return []
		if (!absent) {
			if (nameOf(x) && this.reading.uses.filter(u => u.name === nameOf(x)).some(u => !within(u.at, x.at))) throw new Refusal(`${nameOf(x)} is already a name in this query`)
			const end = path.nodes[0]!.at[0]
			return [{ at: [path.not![0], /^\s*$/.test(this.cut([path.not![1], end])) ? end : path.not![1]], text: '' }]
		}
		const { from, to } = this.parts.edges[edge]!
		const used = this.others([{ edge }], [x])[0]
		if (used) this.refuseUse(used)
		for (const v of [from, to]) if (!this.parts.vertices[v]!.name) throw new Refusal('An absent edge needs vertices with names')
		const [a, b] = [path.nodes[i]!, path.nodes[i + 1]!].map(n => quoteName(nameOf(n)))
		// The vertices stay where they are, because NOT introduces none.
		const splices = this.deleteEdgeOnly(body, path, i)
		return [...splices, ...this.append(body, `NOT (${a})${this.cut(x.at)}(${b})`)]
	}

	private deleteEdgeOnly(body: Body, path: Path, i: number): Splice[] {
		return this.keep(body, p => (p === path ? [{ from: 0, to: i }, { from: i + 1, to: path.edges.length }] : null))
	}
}

/** Nodes of a path, from one to another. */
interface Run {
	from: number
	to: number
}

const before = (x: { at: Span }): Span => [x.at[0], x.at[0]]
const after = (x: { at: Span }): Span => [x.at[1], x.at[1]]
const within = (inner: Span, outer: Span) => inner[0] >= outer[0] && inner[1] <= outer[1]
