import type { Motif } from '../api'

/** A motif in the unit circle. */
export interface Figure {
	vertices: [x: number, y: number][]
	edges: [from: number, to: number][]
	directed: boolean
}

/** The drawing of a motif. */
export function drawn({ name, edges, directed }: Motif): Figure {
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
	return { vertices, edges, directed }
}

/** The query that finds a motif as the census counted it. */
export function patternOf(name: string, induced: boolean): string {
	const plain = /^[\w:]+(\([\d,]+\))?$/.test(name)
	return `MATCH ${induced ? 'INDUCED ' : ''}${plain ? name : `\`${name}\``}`
}
