import type { Problem } from '../api'

/** The place of a mistake in a text, at least one character where there is one; null if the problem has no place. */
export function place(text: string, p: Problem): { from: number; to: number } | null {
	if (p.offset === undefined) return null
	let from = units(text, p.offset)
	const to = Math.max(units(text, p.offset + (p.length ?? 0)), from + 1)
	if (from >= text.length) from = Math.max(0, text.length - 1)
	return { from, to: Math.min(to, text.length) }
}

/** The number of UTF-16 code units of a text's first bytes in UTF-8. */
function units(text: string, bytes: number): number {
	return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes)).length
}
