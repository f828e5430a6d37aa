import directed from '../../../internal/pattern/directed.txt?raw'

/** Connected graphs of three to five vertices by the names of the catalogue. u-v is an edge. */
const either = `
wedge: 0-1 1-2
triangle: 0-1 0-2 1-2
path(4): 0-1 1-2 2-3
star(3): 0-1 0-2 0-3
cycle(4): 0-1 1-2 2-3 0-3
tailed_triangle: 0-1 0-2 1-2 2-3
diamond: 0-1 0-2 0-3 1-2 2-3
clique(4): 0-1 0-2 0-3 1-2 1-3 2-3
path(5): 0-1 1-2 2-3 3-4
fork: 0-1 0-2 0-3 3-4
star(4): 0-1 0-2 0-3 0-4
cycle(5): 0-1 1-2 2-3 3-4 0-4
banner: 0-1 1-2 2-3 0-3 0-4
bull: 0-1 0-2 1-2 0-3 1-4
lollipop(3,2): 0-1 0-2 1-2 2-3 3-4
cricket: 0-1 0-2 1-2 0-3 0-4
bipartite(2,3): 0-2 0-3 0-4 1-2 1-3 1-4
house: 0-1 1-2 2-3 0-3 0-4 1-4
bowtie: 0-1 0-2 1-2 0-3 0-4 3-4
dart: 0-1 0-2 0-3 1-2 2-3 0-4
kite: 0-1 0-2 0-3 1-2 2-3 1-4
book(3): 0-1 0-2 1-2 0-3 1-3 0-4 1-4
gem: 0-1 0-2 0-3 0-4 1-2 2-3 3-4
wheel(4)_less_spoke: 0-1 0-2 0-3 1-2 2-3 3-4 1-4
lollipop(4,1): 0-1 0-2 0-3 1-2 1-3 2-3 0-4
wheel(4): 0-1 0-2 0-3 0-4 1-2 2-3 3-4 1-4
clique(5)_less_wedge: 0-1 0-2 0-3 1-2 1-3 2-3 0-4 1-4
clique(5)_less_edge: 0-1 0-2 0-3 1-2 1-3 2-3 0-4 1-4 2-4
clique(5): 0-1 0-2 0-3 0-4 1-2 1-3 1-4 2-3 2-4 3-4
`

export interface Motif {
	vertices: [x: number, y: number][]
	edges: [from: number, to: number][]
	directed: boolean
}

const known = new Map<string, Motif>()
for (const [text, arrows] of [
	[either, false],
	[directed, true],
] as const) {
	for (const line of text.split('\n')) {
		const [, name, list] = /^([^#].*?): (.*)$/.exec(line) ?? []
		if (name) known.set(name, drawn(name, list!, arrows))
	}
}

/** The drawing of a motif in the unit circle; undefined if the census has one that the page does not know. */
export const motif = (name: string): Motif | undefined => known.get(name)

function drawn(name: string, list: string, arrows: boolean): Motif {
	const edges = list.split(' ').map(e => e.split('-').map(Number) as [number, number])
	const n = Math.max(...edges.flat()) + 1
	// The hub of a star or a wheel is in the middle; the others stand in a ring.
	const hub = /^(star|wheel)\(/.test(name)
	const ring = hub ? n - 1 : n
	const turn = ring % 2 ? -Math.PI / 2 : -Math.PI / 2 - Math.PI / ring
	const vertices = Array.from({ length: n }, (_, v): [number, number] => {
		if (hub && v === 0) return [0, 0]
		const angle = turn + (2 * Math.PI * (v - Number(hub))) / ring
		return [Math.cos(angle), Math.sin(angle)]
	})
	return { vertices, edges, directed: arrows }
}

/** The query that finds a motif as the census counted it. */
export function patternOf(name: string, induced: boolean): string {
	const plain = /^[\w:]+(\([\d,]+\))?$/.test(name)
	return `MATCH ${induced ? 'INDUCED ' : ''}${plain ? name : `\`${name}\``}`
}
