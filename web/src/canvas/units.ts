import type { Parts, Span } from '../api'

/** inUnits turns the places of an answer of the server, which counts bytes of UTF-8, into places of the query's string. */
export function inUnits(query: string, parts: Parts): Parts {
	let bytes = 0
	let units = 0
	const at = new Map([[0, 0]])
	for (const c of query) {
		const code = c.codePointAt(0)!
		bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
		units += c.length
		at.set(bytes, units)
	}
	const span = ([from, to]: Span): Span => [at.get(from) ?? units, at.get(to) ?? units]
	return {
		...parts,
		mode: span(parts.mode),
		groups: parts.groups.map(g => ({ ...g, at: span(g.at), inside: span(g.inside) })),
		vertices: parts.vertices.map(v => ({ ...v, at: v.at.map(span), uses: v.uses.map(span) })),
		edges: parts.edges.map(e => ({ ...e, at: span(e.at), uses: e.uses.map(span) })),
		paths: parts.paths.map(p => ({ ...p, at: span(p.at), nodes: p.nodes.map(n => ({ ...n, at: span(n.at) })) })),
		rest: parts.rest.map(span),
	}
}
