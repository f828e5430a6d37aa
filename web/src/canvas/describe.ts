import type { Parts } from '../api'
import { neighbours } from './layout'

/** describeVertex says in words what a vertex is, for a screen reader. */
export function describeVertex(parts: Parts, v: number): string {
	const { name, labels, properties, where, group } = parts.vertices[v]!
	const near = neighbours(parts)[v]!.map(w => called(parts, w))
	return [
		name ? `vertex ${name}` : 'vertex without a name',
		labels && `label ${labels}`,
		properties,
		where && `where ${where}`,
		group > 0 && condition(parts, group),
		near.length > 0 ? `joined with ${near.join(', ')}` : 'not joined',
	]
		.filter(Boolean)
		.join(', ')
}

/** describeEdge says in words what an edge is. */
export function describeEdge(parts: Parts, e: number): string {
	const { name, from, to, direction, labels, properties, where, length, group } = parts.edges[e]!
	const ends = direction === 'out' ? `from ${called(parts, from)} to ${called(parts, to)}` : `between ${called(parts, from)} and ${called(parts, to)}`
	return [name ? `edge ${name} ${ends}` : `edge ${ends}`, labels && `label ${labels}`, length && `length ${length.slice(1)}`, properties, where && `where ${where}`, group > 0 && condition(parts, group)]
		.filter(Boolean)
		.join(', ')
}

/** describePattern says how much there is. */
export function describePattern(parts: Parts): string {
	const some = (n: number, one: string, more: string) => (n === 1 ? `1 ${one}` : `${n} ${more}`)
	return `${some(parts.vertices.length, 'vertex', 'vertices')}, ${some(parts.edges.length, 'edge', 'edges')}`
}

/** called is a vertex in a sentence. */
export function called(parts: Parts, v: number): string {
	return parts.vertices[v]!.name || 'a vertex without a name'
}

function condition(parts: Parts, group: number): string {
	const kind = parts.groups[group]!.kind
	return kind === 'not' ? 'must be absent' : kind === 'exists' ? 'in EXISTS' : 'in a condition'
}
