import type { Problem, Run } from '../api'
import { reason } from './run'

/** What is wrong, with the line of the query and a caret under the place. */
export function Mistake(p: { problem: Problem }) {
	const { problem: x } = p
	return (
		<div class="mistake" role="alert">
			{x.caret ? (
				<pre tabIndex={0} aria-label="The mistake in the query">
					{x.caret}
				</pre>
			) : (
				<p>{sentence(x.detail)}</p>
			)}
			{x.suggestion && !x.caret && <p>Did you mean {x.suggestion}?</p>}
			{x.retry && <p>Try again in {x.retry} s.</p>}
		</div>
	)
}

/** What the server tells about a result: why it is not complete, and its notes. */
export function Notes(p: { run: Run; full: boolean }) {
	const { run } = p
	if (run.complete && !run.notes?.length) return null
	return (
		<div class="notes">
			{!run.complete && (
				<p class="notes-cut">
					<strong>Cut short:</strong> {reason(p.full ? 'full' : run.cut)}
					{run.error && `: ${run.error.detail}`}
				</p>
			)}
			{run.notes?.map(note => (
				<p key={note}>{sentence(note)}</p>
			))}
		</div>
	)
}

/** A text of the server, which begins with a small letter, as a sentence. */
export function sentence(text: string): string {
	const t = text.trim()
	return t.charAt(0).toUpperCase() + t.slice(1) + (/[.!?…]$/.test(t) ? '' : '.')
}
