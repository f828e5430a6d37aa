import { useMemo, useRef, useState } from 'preact/hooks'
import type { ExplainAnswer } from '../api'
import { loops, type Line } from './loops'
import { fileName } from './file'
import { about, duration, grouped } from './number'
import { saveSvg } from './svg'
import './plan.css'

const rowHeight = 24
const barWidth = 220

/** The plan of a query as loops, with the sizes that were estimated and those that were found. */
export function Plan(p: { answer: ExplainAnswer; name: string }) {
	const { answer } = p
	const lines = useMemo(() => loops(answer), [answer])
	const [asText, setAsText] = useState(!lines.length)
	const picture = useRef<SVGSVGElement>(null)
	const plan = answer.plan.plan
	const profiled = lines.some(l => l.actual !== null)
	const largest = Math.max(1, ...lines.flatMap(l => [l.estimate ?? 0, l.actual ?? 0]))

	return (
		<section class="plan" aria-label="Plan">
			<div class="plan-head">
				<dl class="plan-facts">
					<dt>Engine</dt>
					<dd>
						{answer.engine}
						{answer.reason && <span class="plan-reason">: {answer.reason}</span>}
					</dd>
					{plan && !Array.isArray(plan) && (
						<>
							<dt>Method</dt>
							<dd>{plan.method}</dd>
							<dt>Order</dt>
							<dd>{plan.order.join(', ')}</dd>
						</>
					)}
					<dt>Planning</dt>
					<dd>{duration(answer.planning_seconds)}</dd>
					{answer.result && (
						<>
							<dt>Search</dt>
							<dd>{duration(answer.result.seconds.search ?? answer.run.seconds)}</dd>
						</>
					)}
				</dl>
				<div class="plan-tools">
					{lines.length > 0 && (
						<button type="button" aria-pressed={asText} onClick={() => setAsText(!asText)}>
							As text
						</button>
					)}
					{lines.length > 0 && !asText && (
						<button type="button" onClick={() => saveSvg(picture.current!, fileName(`${p.name}-plan`, 'svg', !answer.run.complete))}>
							Save SVG
						</button>
					)}
				</div>
			</div>
			{asText ? (
				<pre class="plan-text" tabIndex={0} aria-label="The plan as text">
					{answer.text}
				</pre>
			) : (
				<div class="plan-scroll" tabIndex={0} role="region" aria-label="Loops">
					<table class="plan-loops">
						<thead>
							<tr>
								<th scope="col">Loop</th>
								<th scope="col" class="plan-number">
									Estimated
								</th>
								{profiled && (
									<th scope="col" class="plan-number">
										Actual
									</th>
								)}
								<th scope="col">
									Sizes <span class="plan-scale">(logarithmic)</span>
								</th>
							</tr>
						</thead>
						<tbody>
							{lines.map((l, i) => (
								<tr key={i} class={/^for /.test(l.text) ? 'plan-loop' : 'plan-detail'}>
									<td class="plan-line" style={{ paddingLeft: `${8 + l.indent * 22}px` }}>
										{l.text}
									</td>
									<td class="plan-number" title={l.of}>
										{l.estimate === null ? '' : about(l.estimate)}
									</td>
									{profiled && (
										<td class="plan-number" title={l.of}>
											{l.actual === null ? '' : grouped(l.actual)}
										</td>
									)}
									<td class="plan-bars">
										{l.of === 'matches' && (
											<svg width={barWidth} height={18} aria-hidden="true">
												{bars(l, largest).map(b => (
													<rect key={b.class} class={b.class} x={0} y={b.y} width={b.width} height={b.height} />
												))}
											</svg>
										)}
									</td>
								</tr>
							))}
						</tbody>
					</table>
					<p class="plan-legend">
						<span class="plan-key plan-key-estimate" aria-hidden="true" /> estimated
						{profiled && (
							<>
								<span class="plan-key plan-key-actual" aria-hidden="true" /> actual
							</>
						)}
					</p>
					<Drawing lines={lines} largest={largest} profiled={profiled} of={picture} />
				</div>
			)}
			{[...(answer.phases ?? []), ...(answer.memory ?? [])].map(line => (
				<p key={line} class="plan-note">
					{line}
				</p>
			))}
		</section>
	)
}

/** The bars of a line, by the logarithm of its sizes. */
function bars(l: Line, largest: number) {
	const width = (x: number) => Math.max(1, (Math.log1p(x) / Math.log1p(largest)) * barWidth)
	const both = l.estimate !== null && l.actual !== null
	const out: { class: string; y: number; width: number; height: number }[] = []
	if (l.estimate !== null) out.push({ class: 'plan-estimate', y: both ? 2 : 5, width: width(l.estimate), height: both ? 6 : 8 })
	if (l.actual !== null) out.push({ class: 'plan-actual', y: both ? 10 : 5, width: width(l.actual), height: both ? 6 : 8 })
	return out
}

/** The loops as one picture, which is only saved. */
function Drawing(p: { lines: Line[]; largest: number; profiled: boolean; of: preact.Ref<SVGSVGElement> }) {
	const left = Math.max(...p.lines.map(l => l.indent * 22 + l.text.length * 7.9)) + 24
	const numbers = p.profiled ? 220 : 110
	const width = left + numbers + barWidth + 32
	return (
		<svg ref={p.of} class="plan-drawing" aria-hidden="true" width={width} height={(p.lines.length + 1) * rowHeight + 16} font-family="monospace" font-size="13">
			<text x={12} y={20} font-weight="bold">
				Loop
			</text>
			<text x={left + 90} y={20} text-anchor="end" font-weight="bold">
				Estimated
			</text>
			{p.profiled && (
				<text x={left + 200} y={20} text-anchor="end" font-weight="bold">
					Actual
				</text>
			)}
			{p.lines.map((l, i) => {
				const y = (i + 1) * rowHeight + 8
				return (
					<g key={i}>
						<text x={12 + l.indent * 22} y={y + 14}>
							{l.text}
						</text>
						<text x={left + 90} y={y + 14} text-anchor="end">
							{l.estimate === null ? '' : about(l.estimate)}
						</text>
						<text x={left + 200} y={y + 14} text-anchor="end">
							{l.actual === null ? '' : grouped(l.actual)}
						</text>
						{l.of === 'matches' &&
							bars(l, p.largest).map(b => (
								<rect key={b.class} class={b.class} x={left + numbers} y={y + b.y} width={b.width} height={b.height} />
							))}
					</g>
				)
			})}
		</svg>
	)
}
