import type { PartEdge } from '../api'

export const fontSize = 12
export const smallSize = 11
const character = 0.6
const longest = 28

/** shorten cuts a text that is too long for a drawing. */
export function shorten(text: string): string {
	const one = text.replace(/\s+/g, ' ')
	return one.length > longest ? one.slice(0, longest - 1) + '…' : one
}

/** textWidth is the width of a text in pixels: drawings have a font in which all characters are equally wide. */
export function textWidth(text: string, size: number): number {
	return text.length * character * size
}

/** vertexWidth is that of a circle, or of a capsule around a longer name. */
export function vertexWidth(name: string): number {
	return Math.max(40, textWidth(shorten(name), fontSize) + 20)
}

/** edgeLines are the texts of an edge, each in a line. */
export function edgeLines(e: PartEdge): string[] {
	const first = [e.name, e.labels && ':' + e.labels, e.length].filter(Boolean).join(' ')
	return [first, e.properties, e.where].filter(Boolean).map(shorten)
}

/** A sentence in lines of a number of characters at most. A longer word is a line. */
export function lines(text: string, most: number): string[] {
	const out: string[] = []
	for (const word of text.split(' ')) {
		const longer = out.length ? `${out.at(-1)} ${word}` : word
		if (out.length && longer.length <= most) out[out.length - 1] = longer
		else out.push(word)
	}
	return out
}
