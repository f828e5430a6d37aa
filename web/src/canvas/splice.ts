import type { Span } from '../api'

/** A text that takes the place of a part of another. */
export interface Splice {
	at: Span
	text: string
}

/** splice makes several changes of a text. They do not overlap; those at the same place are made in their order. */
export function splice(query: string, splices: Splice[]): string {
	let out = ''
	let at = 0
	const order = splices.map((s, i) => ({ ...s, i })).sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1] || a.i - b.i)
	for (const s of order) {
		if (s.at[0] < at) throw new Error('changes of the text overlap')
		out += query.slice(at, s.at[0]) + s.text
		at = s.at[1]
	}
	return out + query.slice(at)
}
