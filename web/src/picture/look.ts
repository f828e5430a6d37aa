import { type Colours, type Fill, fillOf, mix } from './colours'
import { type Drawing, type Edge, type Vertex, plain } from './drawing'

/** What is emphasised: a match, -1 for none, and a vertex. */
export interface Emphasis {
	match: number
	vertex: string | null
}

export interface VertexLook {
	radius: number
	/** Equal parts of the disc, at most 4. */
	fills: Fill[]
	/** The colour of the border, and its width in pixels. */
	border: string
	borderWidth: number
	label: string
	labelColour: string
	/** Whether the label is there at all zooms. */
	labelled: boolean
	z: number
}

export interface EdgeLook {
	width: number
	colour: string
	label: string
	z: number
}

/** How much of the background a vertex or edge outside the current match takes. */
const faded = 0.72
const mostFills = 4

export function vertexLook(d: Drawing, v: Vertex, labels: string[] | undefined, on: Emphasis, c: Colours): VertexLook {
	const chosen = on.vertex === v.key
	const match = d.matches[on.match]
	const inside = match !== undefined && v.matches.includes(on.match)
	const fade = match !== undefined && !inside && !chosen
	const dim = (colour: string) => (fade ? mix(colour, c.paper, faded) : colour)
	const roles = inside ? v.roles.filter(r => match.vertices[r] === v.key) : v.roles
	let fills = roles.map(r => fillOf(c, r))
	if (fills.length > mostFills) fills = [...fills.slice(0, mostFills - 1), { colour: c.soft, hole: 0 }]
	if (fills.length === 0) fills = [{ colour: c.near, hole: 0 }]
	// Many vertices are drawn smaller, so that they do not cover each other.
	const scale = Math.max(0.5, Math.min(1, Math.sqrt(120 / d.vertices.size)))
	const radius = scale * (v.matches.length === 0 ? 4 : 7 + Math.min(4, Math.sqrt(v.matches.length) - 1))
	const what = inside ? `${roles.map(r => d.roles[r]!.name).join(', ')}: ` : ''
	return {
		radius: inside || chosen ? radius + 2 : radius,
		fills: fills.map(f => ({ ...f, colour: dim(f.colour) })),
		border: chosen ? c.ink : c.paper,
		borderWidth: chosen ? 2.5 : 1.5,
		label: `${roles.length > 0 ? what : ''}${plain(v.id)}${labels?.length ? ` · ${labels.join(', ')}` : ''}`,
		labelColour: fade || v.matches.length === 0 ? mix(c.ink, c.paper, 0.35) : c.ink,
		labelled: inside || chosen,
		z: inside || chosen ? 3 : v.matches.length > 0 ? 2 : 1,
	}
}

export function edgeLook(d: Drawing, e: Edge, on: Emphasis, c: Colours): EdgeLook {
	const match = d.matches[on.match]
	const label = e.labels.join(', ')
	if (match?.edges.includes(e.key)) return { width: 4, colour: c.accent, label, z: 3 }
	const strong = e.matches.length > 0
	const colour = strong ? c.edge : c.besides
	return { width: strong ? 2.2 : 1, colour: match ? mix(colour, c.paper, strong ? 0.6 : 0.3) : colour, label: match ? '' : label, z: strong ? 2 : 1 }
}
