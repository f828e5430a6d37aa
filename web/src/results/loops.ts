import type { Count, ExplainAnswer } from '../api'

/** A line of a plan's loops: a loop, a set that it makes, a condition, or what is counted. */
export interface Line {
	indent: number
	text: string
	/** What the sizes are of: matches that reach the line, or elements of a set. Empty where there are none. */
	of: string
	estimate: number | null
	actual: number | null
}

/** The loops of an answer's text. Sizes of levels are the exact ones of the plan, if it has levels of these names. */
export function loops(answer: ExplainAnswer): Line[] {
	const text = answer.text.split('\n')
	const begin = text.findIndex(line => /^(for |[A-Z] = |count \+= |times are )/.test(line))
	if (begin < 0) return []
	const plan = answer.plan.plan
	const levels = new Map(plan && !Array.isArray(plan) ? plan.levels.map(l => [l.vertex, l]) : [])
	const last = [...levels.keys()].at(-1)
	const out: Line[] = []
	for (const line of text.slice(begin)) {
		if (!line.trim()) break
		const [, blanks, says, estimate, of, actual] =
			/^( *)(.*?)(?:   \(≈ ([\d. e+]+) (\w+)\))?(?:, actually (\d+)(?: in [\d.e+-]+ s)?)?$/.exec(line)!
		const loop = /^for (\S+) in /.exec(says!)?.[1]
		const counted = /^[A-Z] = .*, for (.+)$/.exec(says!)?.[1]?.split(', ')
		const level = levels.get(loop ?? counted?.[0] ?? '')
		// Of the levels that are counted together, the run knows how many matches reach the last one.
		const found = loop ? level : levels.get(counted?.find(v => v === last) ?? '')
		out.push({
			indent: blanks!.length / 2,
			text: says!,
			of: of ?? (level ? 'matches' : ''),
			estimate: level ? level.estimate : estimate ? Number(estimate.replaceAll(' ', '')) : null,
			actual: found?.actual !== undefined ? number(found.actual) : actual ? Number(actual) : null,
		})
	}
	return out
}

function number(x: Count): number | null {
	return x === null ? null : Number(x)
}
