import { expect, test } from 'vitest'
import type { ExplainAnswer } from '../api'
import { loops } from './loops'

const run = { id: 1, complete: true, waited_seconds: 0, seconds: 0 }

const answer = (text: string, levels: [vertex: string, estimate: number, actual?: number][]): ExplainAnswer => ({
	run,
	engine: 'host',
	reason: '',
	text,
	planning_seconds: 0,
	plan: { plan: { method: 'nest', order: levels.map(l => l[0]), levels: levels.map(([vertex, estimate, actual]) => ({ vertex, estimate, actual })) } },
})

test('loops have the sizes of their levels, and levels that are counted together have that of the last', () => {
	const text = `house: 5 vertices, 6 edges, iso
order a, b, c, d, e (cost: least)

for a in all vertices with |N| ≥ 3   (≈ 1 200 matches), actually 1100 in 0.01 s
  for b in N(a) < a   (≈ 2.0e+15 matches), actually 9007199254740993
    where a.x > 1, for b
    C2 = N(a) ∩ N(b)   (≈ 2.1 elements)
    S = C2, for c, d   (≈ 410 matches)
    T = C2, for e   (≈ 610 matches)
    count += |S|·|T| − |S ∩ T|

expected work: about 6 100 set elements`
	const rows = loops(answer(text, [['a', 1234.5, 1100], ['b', 2.04e15], ['c', 412, 0], ['d', 3, 0], ['e', 612, 781]]))
	expect(rows.map(l => [l.indent, l.text, l.of, l.estimate, l.actual])).toEqual([
		[0, 'for a in all vertices with |N| ≥ 3', 'matches', 1234.5, 1100],
		[1, 'for b in N(a) < a', 'matches', 2.04e15, 9007199254740992],
		[2, 'where a.x > 1, for b', '', null, null],
		[2, 'C2 = N(a) ∩ N(b)', 'elements', 2.1, null],
		[2, 'S = C2, for c, d', 'matches', 412, null],
		[2, 'T = C2, for e', 'matches', 612, 781],
		[2, 'count += |S|·|T| − |S ∩ T|', '', null, null],
	])
})

test('a plan of another form has no loops, and its text is shown', () => {
	expect(loops({ ...answer('watch ring: iso\non each edge e1', []), plan: { plan: ['on each edge e1'] } })).toEqual([])
})
