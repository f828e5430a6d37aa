import type { Kind, Parameter, Query, Value } from '../api'
import { tokens } from '../editor/language'

/** The kinds of question that the page asks. */
export const kinds: { kind: Kind; name: string; says: string }[] = [
	{ kind: 'count', name: 'Count', says: 'The numbers of subgraphs and embeddings' },
	{ kind: 'match', name: 'List', says: 'The matches, as rows' },
	{ kind: 'exists', name: 'Exists', says: 'Whether there is a match' },
	{ kind: 'explain', name: 'Explain', says: 'The plan, with estimated and actual sizes' },
	{ kind: 'motifs', name: 'Census', says: 'The numbers of all connected patterns of k vertices' },
	{ kind: 'participation', name: 'Participation', says: 'For each vertex, the number of matches that have it' },
]

/** Options as they are entered: texts of fields, and switches. */
export interface Options {
	limit: string
	seconds: string
	semantics: '' | 'iso' | 'trail' | 'hom'
	induced: boolean
	engine: string
	k: string
	directions: boolean
	profile: boolean
	vertex: string
	allow_product: boolean
}

export const plain: Options = {
	limit: '',
	seconds: '',
	semantics: '',
	induced: false,
	engine: '',
	k: '4',
	directions: true,
	profile: true,
	vertex: '',
	allow_product: false,
}

/** What the user asks. It is what a link and the history keep. */
export interface Request {
	graph: string
	kind: Kind
	query: string
	params: Record<string, string>
	options: Options
}

export const nothing: Request = { graph: '', kind: 'count', query: '', params: {}, options: plain }

type Option = keyof Options

/** The options that a kind has. */
export function optionsOf(kind: Kind): Option[] {
	switch (kind) {
		case 'count':
		case 'match':
			return ['limit', 'seconds', 'semantics', 'induced', 'allow_product', 'engine']
		case 'exists':
			return ['seconds', 'semantics', 'induced', 'allow_product', 'engine']
		case 'explain':
			return ['profile', 'seconds', 'semantics', 'induced', 'allow_product', 'engine']
		case 'motifs':
			return ['k', 'directions', 'seconds', 'engine']
		case 'participation':
			return ['vertex', 'seconds', 'semantics', 'induced', 'allow_product', 'engine']
	}
	return []
}

/** A mistake in what the user entered, before the server is asked. */
export class EntryError extends Error {}

/** The request for the server. It throws an EntryError. */
export function queryOf(r: Request): Query {
	const q: Query = { graph: r.graph }
	const o = r.options
	const whole = (name: string, text: string) => {
		if (!/^\d{1,15}$/.test(text.trim())) throw new EntryError(`${name} must be a whole number.`)
		return Number(text)
	}
	for (const name of optionsOf(r.kind)) {
		switch (name) {
			case 'limit':
				if (o.limit.trim()) q.limit = whole('The limit', o.limit)
				break
			case 'seconds':
				if (!o.seconds.trim()) break
				q.seconds = Number(o.seconds)
				if (!(q.seconds > 0)) throw new EntryError('The time must be a number of seconds.')
				break
			case 'k':
				q.k = whole('k', o.k)
				break
			case 'directions':
				if (!o.directions) q.directions = false
				break
			case 'semantics':
				if (o.semantics) q.semantics = o.semantics
				break
			case 'engine':
			case 'vertex':
				if (o[name].trim()) q[name] = o[name].trim()
				break
			default:
				if (o[name]) q[name] = true
		}
	}
	if (r.kind === 'motifs') return q
	if (!r.query.trim()) throw new EntryError('Write a query, or choose an example.')
	q.query = r.query
	const names = parameters(r.query)
	if (names.length) {
		q.params = Object.create(null) as Record<string, Parameter>
		for (const name of names) {
			const text = textOf(r, name).trim()
			if (!text) throw new EntryError(`The parameter ${parameterText(name)} has no value.`)
			q.params[name] = valueOf(text)
		}
	}
	return q
}

/** The names of the parameters in a query, without back quotes. */
export function parameters(query: string): string[] {
	const names = tokens(query).flatMap(t => (t.type === 'parameter' ? parameterName(t.text) : []))
	return [...new Set(names)]
}

/** The name of a parameter as the query writes it. A quoted name that has no end yet is none. */
function parameterName(text: string): string[] {
	const quoted = /^\$`((?:[^`]|``)+)`$/.exec(text)?.[1]
	if (quoted !== undefined) return [quoted.replaceAll('``', '`')]
	return /^\$[^`]+$/.test(text) ? [text.slice(1)] : []
}

/** A parameter as the query writes it. */
export function parameterText(name: string): string {
	return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? `$${name}` : `$\`${name.replaceAll('`', '``')}\``
}

/** What was entered for a parameter, whose name may be one that every object has. */
export function textOf(r: Request, name: string): string {
	return Object.hasOwn(r.params, name) ? r.params[name]! : ''
}

/** The value of a parameter: a number, true, false, null, a list in JSON, or else a text. */
export function valueOf(text: string): Parameter {
	if (/^-?\d+$/.test(text)) {
		const n = Number(text)
		return Number.isSafeInteger(n) ? n : BigInt(text)
	}
	if (/^-?\d*\.?\d+(e[+-]?\d+)?$/i.test(text)) return Number(text)
	if (/^(true|false|null|\[.*\]|".*")$/s.test(text)) {
		let value: Value
		try {
			value = JSON.parse(text) as Value
		} catch {
			throw new EntryError(`${text} is not a value in JSON.`)
		}
		if (Array.isArray(value) && value.some(x => Number.isInteger(x) && !Number.isSafeInteger(x)))
			throw new EntryError('Whole numbers in a list have to be below 2^53.')
		return value
	}
	return text
}

/** The kind that a query itself asks for, by its first word or by what it returns; null where any kind will do. */
export function askedKind(query: string): Kind | null {
	const t = tokens(query).filter(t => t.type !== 'comment')
	if (/^(explain|profile)$/i.test(t[0]?.text ?? '')) return 'explain'
	let depth = 0
	for (let i = 0; i < t.length; i++) {
		const text = t[i]!.text
		if (text === '{' || text === '(') depth++
		if (text === '}' || text === ')') depth--
		if (depth || t[i]!.type !== 'keyword' || !/^return$/i.test(text)) continue
		if (t[i + 2]?.text !== '(') return 'match'
		switch (t[i + 1]?.text.toLowerCase()) {
			case 'count':
				return 'count'
			case 'exists':
				return 'exists'
			case 'participation':
				return 'participation'
		}
		return 'match'
	}
	return null
}

/** The kind with which a request is asked: that which the query needs, if the chosen one does not fit. */
export function kindFor(r: Request): Kind {
	const asked = r.kind === 'motifs' ? null : askedKind(r.query)
	if (!asked || asked === r.kind || r.kind === 'explain') return r.kind
	// Rows can be counted, and their existence be asked for.
	return asked === 'match' && (r.kind === 'count' || r.kind === 'exists') ? r.kind : asked
}

/** The request as a link's hash has it. Options that are as usual are left out. */
export function hashOf(r: Request): string {
	const p = new URLSearchParams({ graph: r.graph, kind: r.kind })
	if (r.kind !== 'motifs') {
		p.set('query', r.query)
		for (const name of parameters(r.query)) if (textOf(r, name)) p.set(`$${name}`, textOf(r, name))
	}
	for (const name of optionsOf(r.kind)) if (r.options[name] !== plain[name]) p.set(name, String(r.options[name]))
	return `#${p}`
}

/** The request of a link's hash; null if it has none. What it does not know is left out. */
export function requestOf(hash: string): Request | null {
	const p = new URLSearchParams(hash.replace(/^#/, ''))
	const kind = kinds.find(k => k.kind === p.get('kind'))?.kind
	if (!kind) return null
	const options: Record<string, string | boolean> = { ...plain }
	for (const [name, usual] of Object.entries(plain)) {
		const text = p.get(name)
		if (text !== null) options[name] = typeof usual === 'boolean' ? text === 'true' : text
	}
	const params = Object.fromEntries([...p].flatMap(([name, text]) => (name.startsWith('$') ? [[name.slice(1), text]] : [])))
	return { graph: p.get('graph') ?? '', kind, query: (p.get('query') ?? '').replace(/\r\n?/g, '\n'), params, options: options as unknown as Options }
}

/** A request that was kept as JSON; null if it is not one. */
export function restored(x: unknown): Request | null {
	const r = x as Partial<Request> | null | undefined
	const kind = kinds.find(k => k.kind === r?.kind)?.kind
	if (!kind || typeof r?.query !== 'string' || typeof r.graph !== 'string') return null
	const options = Object.entries(r.options ?? {}).filter(([name, v]) => Object.hasOwn(plain, name) && typeof v === typeof plain[name as Option])
	const params = Object.entries(r.params ?? {}).map(([name, text]) => [name, String(text)])
	return { graph: r.graph, kind, query: r.query, params: Object.fromEntries(params), options: { ...plain, ...Object.fromEntries(options) } }
}
