import type { Graph, Kind, Schema } from '../api'
import { quoted } from '../editor/complete'
import { plain, type Request } from './request'

export interface Example {
	says: string
	request: Pick<Request, 'kind' | 'query' | 'options'>
}

/** Questions for a first visit that fit a graph: its direction, its labels, its times. */
export function examples(g: Graph, s: Schema | null): Example[] {
	const out: Example[] = []
	const add = (says: string, kind: Kind, query: string) => out.push({ says, request: { kind, query, options } })
	const options = { ...plain, k: g.directed ? '3' : '4' }
	const label = s?.vertex_labels[0]
	const other = s?.vertex_labels[1] ?? label
	const edge = s?.edge_labels[0]
	if (g.directed) {
		add('Count the feed-forward loops', 'count', 'MATCH (a)-->(b)-->(c), (a)-->(c)')
		add('List edges that are answered', 'match', 'MATCH (a)-->(b), (b)-->(a)\nRETURN a, b\nLIMIT 1000')
		if (s?.edge_times)
			add('Rings of three edges in the order of time', 'match', 'MATCH (a)-[e]->(b)-[f]->(c)-[g]->(a)\nORDERED e < f < g\nRETURN a, b, c, e, f, g\nLIMIT 1000')
		else add('Is there a ring of three without an edge back?', 'exists', 'MATCH INDUCED (a)-->(b)-->(c)-->(a)')
		add('The plan of a bifan', 'explain', 'MATCH bifan')
	} else {
		add('Count the triangles', 'count', 'MATCH (a)--(b)--(c)--(a)')
		add('List the cliques of four', 'match', 'MATCH clique(4, a, b, c, d)\nRETURN a, b, c, d\nLIMIT 1000')
		add('Is there a ring of four without a chord?', 'exists', 'MATCH INDUCED (a)--(b)--(c)--(d)--(a)')
		add('The plan of a house', 'explain', 'MATCH house')
	}
	if (edge !== undefined) add(`Paths along edges ${edge}`, 'match', `MATCH (a)-[e:${quoted(edge)}]->(b)-->(c)\nRETURN a, b, c, e\nLIMIT 1000`)
	if (label !== undefined) add(`Triangles of ${label} and ${other}`, 'count', `MATCH (a:${quoted(label)})--(b:${quoted(other!)})--(c)--(a)`)
	add('Triangles of each vertex', 'participation', 'MATCH triangle(a, b, c)\nRETURN participation(a)')
	add(`Census of the motifs of ${g.directed ? 'three' : 'four'} vertices`, 'motifs', '')
	return out
}
