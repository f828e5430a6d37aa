import type { TargetedKeyboardEvent } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { MotifsAnswer, Result } from '../api'
import { fileName } from './file'
import { drawn, patternOf, type Figure as Shape } from './motif'
import { grouped } from './number'
import { saveSvg } from './svg'
import './census.css'

const rowHeight = 44
const nameWidth = 230
const countWidth = 130
/** In less width than this, in pixels, the bar of a motif is below its name. */
const narrow = 480

/** The numbers of all motifs as bars. Choosing one gives its pattern. */
export function Census(p: { answer: MotifsAnswer; name: string; onPattern(query: string): void }) {
	const { results, motifs } = p.answer
	const figures = useMemo(() => new Map(motifs.map(m => [m.name, drawn(m)])), [motifs])
	const [log, setLog] = useState(true)
	const [bySize, setBySize] = useState(false)
	const [zeros, setZeros] = useState(results.length <= 30)
	const [at, setAt] = useState(0)
	const [width, setWidth] = useState(800)
	const box = useRef<HTMLDivElement>(null)
	const picture = useRef<SVGSVGElement>(null)

	useLayoutEffect(() => {
		const observer = new ResizeObserver(() => setWidth(Math.max(240, box.current!.clientWidth - 2)))
		observer.observe(box.current!)
		return () => observer.disconnect()
	}, [])

	const shown = useMemo(() => {
		const list = results.filter(r => zeros || count(r) > 0)
		return bySize ? list.sort((a, b) => count(b) - count(a)) : list
	}, [results, zeros, bySize])
	const largest = Math.max(1, ...results.map(count))
	const low = width < narrow
	const left = low ? 56 : nameWidth
	const room = width - left - 16 - (low ? 0 : countWidth)
	const baseline = low ? rowHeight / 2 - 2 : rowHeight / 2 + 5
	const bar = (r: Result) => {
		const share = log ? Math.log1p(count(r)) / Math.log1p(largest) : count(r) / largest
		return count(r) ? Math.max(1, share * room) : 0
	}

	const choose = (r: Result) => p.onPattern(patternOf(r.query, r.induced ?? false))
	const onKeyDown = (e: TargetedKeyboardEvent<SVGGElement>, i: number, r: Result) => {
		const next = ({ ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: shown.length - 1 } as Record<string, number>)[e.key]
		if (next !== undefined) {
			const to = Math.max(0, Math.min(next, shown.length - 1))
			setAt(to)
			picture.current!.querySelectorAll<SVGGElement>('.census-row')[to]!.focus()
		} else if (e.key === 'Enter' || e.key === ' ') {
			if (e.ctrlKey || e.metaKey) return
			choose(r)
		} else {
			return
		}
		e.preventDefault()
	}

	return (
		<section class="census" aria-label="Census">
			<div class="census-tools">
				<label>
					<input type="checkbox" checked={log} onChange={e => setLog(e.currentTarget.checked)} /> Logarithmic scale
				</label>
				<label>
					<input type="checkbox" checked={bySize} onChange={e => setBySize(e.currentTarget.checked)} /> Most frequent first
				</label>
				<label>
					<input type="checkbox" checked={zeros} onChange={e => setZeros(e.currentTarget.checked)} /> Motifs that do not occur
				</label>
				<span class="census-hint">A click puts a motif into the editor.</span>
				<button type="button" onClick={() => saveSvg(picture.current!, fileName(`${p.name}-census`, 'svg', !p.answer.run.complete))}>
					Save SVG
				</button>
			</div>
			<div class="census-box" ref={box} role="region" aria-label="Motifs" tabIndex={0}>
				<svg ref={picture} width={width} height={shown.length * rowHeight + 8} role="group" aria-label="Motifs with their numbers of subgraphs">
					{shown.map((r, i) => (
						<g
							key={r.query}
							class="census-row"
							role="button"
							tabIndex={i === Math.min(at, shown.length - 1) ? 0 : -1}
							aria-label={`${r.query}: ${grouped(r.subgraphs)}`}
							transform={`translate(0 ${i * rowHeight + 4})`}
							onClick={() => choose(r)}
							onFocus={() => setAt(i)}
							onKeyDown={e => onKeyDown(e, i, r)}
						>
							<rect class="census-field" x={2} y={0} width={width - 4} height={rowHeight} rx={4} />
							<Figure of={figures.get(r.query)} />
							<text class="census-name" x={56} y={baseline}>
								{r.query}
							</text>
							<rect class="census-bar" x={left} y={low ? rowHeight / 2 + 4 : 12} width={bar(r)} height={low ? 8 : rowHeight - 24} />
							<text class="census-count" x={width - 16} y={baseline} text-anchor="end">
								{grouped(r.subgraphs)}
							</text>
						</g>
					))}
				</svg>
			</div>
		</section>
	)
}

function count(r: Result): number {
	return Number(r.subgraphs ?? 0)
}

/** A small drawing of a motif. */
function Figure(p: { of: Shape | undefined }) {
	if (!p.of) return null
	const { vertices, edges, directed } = p.of
	const at = vertices.map(([x, y]) => [28 + 15 * x, rowHeight / 2 + 15 * y] as const)
	return (
		<g>
			{edges.map(([u, v]) => {
				const [x1, y1] = at[u]!
				const [x2, y2] = at[v]!
				return <line key={`${u}-${v}`} class="census-edge" x1={x1} y1={y1} x2={x2} y2={y2} />
			})}
			{directed && edges.map(([u, v]) => <polygon key={`${u}-${v}`} class="census-vertex" points={arrow(at[u]!, at[v]!)} />)}
			{at.map(([x, y], v) => (
				<circle key={v} class="census-vertex" cx={x} cy={y} r={3} />
			))}
		</g>
	)
}

/** The head of an arrow that ends at the rim of a vertex. */
function arrow([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number]): string {
	const length = Math.hypot(x2 - x1, y2 - y1)
	const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length]
	const point = (back: number, side: number) => `${x2 - back * dx - side * dy},${y2 - back * dy + side * dx}`
	return [point(3, 0), point(9, 3), point(9, -3)].join(' ')
}
