import { snippetCompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import type { Schema } from '../api'
import { catalogue } from './catalogue'
import { tokens, type State, type Token } from './language'

const word = (label: string, boost = 0): Completion => ({ label, type: 'keyword', boost })

const begins = ['MATCH', 'EXPLAIN', 'PROFILE', 'DEFINE'].map((k, i) => word(k, 9 - i))
const modes = ['DIFFERENT NODES', 'DIFFERENT EDGES', 'REPEATABLE ELEMENTS', 'INDUCED', 'NOT'].map(k => word(k))
const clauses = ['WHERE', 'RETURN', 'ORDERED', 'WITHIN'].map((k, i) => word(k, 4 - i))
const conditions = ['AND', 'OR', 'NOT', 'IN', 'IS NULL', 'IS NOT NULL', 'TRUE', 'FALSE', 'NULL'].map(k => word(k))
const ends = ['AS', 'LIMIT', 'GROUP BY'].map(k => word(k))

const call = (template: string, label: string, detail: string): Completion => snippetCompletion(template, { label, detail, type: 'function' })

const functions = [
	call('id(${v})', 'id', 'the user’s id of a vertex'),
	call('deg(${v})', 'deg', 'the number of distinct neighbours'),
	call('ALL_DIFFERENT(${a}, ${b})', 'ALL_DIFFERENT', 'not the same vertices or edges'),
	call('EXISTS { ${pattern} }', 'EXISTS', 'a sub-pattern'),
	call("timestamp '${2024-03-10}'", 'timestamp', 'a moment'),
	call("duration '${PT1H}'", 'duration', 'a length of time'),
]

const results = [
	{ label: 'count(*)', detail: 'embeddings', type: 'function' },
	{ label: 'count(DISTINCT SUBGRAPHS)', detail: 'subgraphs', type: 'function' },
	{ label: 'exists()', detail: 'whether there is a match', type: 'function' },
	call('participation(${v})', 'participation', 'matches of each vertex'),
]

const patterns = catalogue.map(([name, detail]) => {
	const [, plain, parameters] = /^(\w+)(?:\((.*)\))?$/.exec(name)!
	if (!parameters) return { label: name, detail, type: 'class' }
	return snippetCompletion(`${plain}(${parameters.split(',').map(p => `\${${p}}`)})`, { label: name, detail, type: 'class' })
})

/** Completes keywords, names of the query, and names of the graph. */
export function completer(schema: () => Schema | null) {
	return (context: CompletionContext): CompletionResult | null => {
		const all = tokens(context.state.doc.toString())
		const state = { open: '', inside: '', label: false }
		const before = tokens(context.state.sliceDoc(0, context.pos), (s: State) => Object.assign(state, s))
		const last = before.at(-1)
		const typed = last && last.to === context.pos && ['name', 'keyword', 'function', 'label', 'property'].includes(last.type) ? last : null
		if (state.inside || (last?.type === 'comment' && last.to === context.pos)) return null
		const from = typed?.from ?? context.pos
		const options = choices(typed ? before.slice(0, -1) : before, typed, state, names(all, typed), schema())
		if (!options || (!typed && !context.explicit && !prompts(before))) return null
		return { from, options, validFor: /^[\p{L}\p{N}_]*$/u }
	}
}

/** Places where the next thing is a name of the graph, so that the list opens by itself. */
function prompts(before: Token[]): boolean {
	const last = before.at(-1)?.text
	return last === ':' || last === '.'
}

interface Names {
	vertices: Set<string>
	edges: Set<string>
}

/** The names that the query gives to vertices and edges. */
function names(all: Token[], typed: Token | null): Names {
	const out: Names = { vertices: new Set(), edges: new Set() }
	all.forEach((t, i) => {
		if (t.type !== 'name' || (typed && t.from === typed.from)) return
		const before = all[i - 1]?.text
		if (before === '[') out.edges.add(t.text)
		else if (before === '(' || before === ',') out.vertices.add(t.text)
	})
	for (const e of out.edges) out.vertices.delete(e)
	return out
}

function choices(before: Token[], typed: Token | null, state: { open: string; label: boolean }, n: Names, schema: Schema | null) {
	const last = before.at(-1)
	const top = state.open.at(-1)
	const inEdge = state.open.includes('[')
	const labels = (of: string[] = []) => of.map(l => ({ label: l, apply: quoted(l), type: 'type' }))
	const properties = (edge: boolean) => {
		const of = (edge ? schema?.edge_properties : schema?.vertex_properties) ?? []
		const out: Completion[] = of.map(p => ({ label: p.name, apply: quoted(p.name), detail: p.type, type: 'property' }))
		if (edge && schema?.edge_times && !of.some(p => p.name === 'time')) out.push({ label: 'time', detail: 'time of the edge', type: 'property' })
		return out
	}
	const bound: Completion[] = [
		...[...n.vertices].map(label => ({ label, detail: 'vertex', type: 'variable', boost: 2 })),
		...[...n.edges].map(label => ({ label, detail: 'edge', type: 'variable', boost: 2 })),
	]
	if (state.label || typed?.type === 'label') return labels(inEdge ? schema?.edge_labels : schema?.vertex_labels)
	if (last?.text === '.') {
		const owner = before.at(-2)?.text ?? ''
		return properties(n.edges.has(owner) || (owner === '_' && inEdge))
	}
	if (top === '{' && (last?.text === '{' || last?.text === ',')) {
		const brace = before.findLastIndex(t => t.text === '{')
		const outside = before[brace - 1]
		// After a label or a name inside of a node or an edge there are properties; after EXISTS or AS there is a pattern.
		return outside?.type === 'keyword' ? [...patterns, ...modes] : properties(inEdge)
	}
	const clause = before.findLast(t => t.type === 'keyword' && /^(MATCH|WHERE|RETURN|ORDERED|WITHIN|EXPLAIN|PROFILE|DEFINE|EXISTS|BY|ON)$/i.test(t.text))
	switch (clause?.text.toUpperCase()) {
		case undefined:
		case 'EXPLAIN':
		case 'PROFILE':
			return clause ? [begins[0]!] : begins
		case 'WHERE':
			return [...bound, ...functions, ...conditions, ...(state.open ? [] : clauses.slice(1))]
		case 'RETURN':
		case 'BY':
			return [...bound, ...results, functions[0]!, functions[1]!, ...ends]
		case 'ORDERED':
		case 'WITHIN':
			return [...bound, word('ON'), ...clauses]
		case 'ON':
			return [...properties(true), word('WITHIN'), ...clauses]
	}
	if (top === '(' || top === '[') return [...bound, word('WHERE')]
	const starts = last?.type === 'keyword' || last?.text === ',' || last?.text === ';'
	return starts ? [...patterns, ...modes] : clauses
}

/** A name as the language has it: what is not of letters, digits and _ goes in back quotes. */
export function quoted(name: string): string {
	return /^([\p{L}_][\p{L}\p{N}_]*|\d+)$/u.test(name) ? name : `\`${name.replaceAll('`', '``')}\``
}
