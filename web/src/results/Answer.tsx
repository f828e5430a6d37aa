import type { CountAnswer, ExistsAnswer, Result, Run } from '../api'
import { duration, grouped } from './number'
import './answer.css'

/** The numbers of a count, or whether there is a match. */
export function Answer(p: { answer: CountAnswer | ExistsAnswer }) {
	const { answer } = p
	const { result, run } = answer
	return (
		<section class="answer" aria-label="Answer">
			{'exists' in answer ? <Yes exists={answer.exists} /> : <Numbers result={result} run={run} />}
			<dl class="answer-facts">
				<Fact name="Semantics" value={result.semantics + (result.induced ? ', induced' : '')} />
				<Fact name="Symmetries" value={grouped(result.automorphisms)} />
				<Fact name="Engine" value={`${result.engine} on ${result.device}`} />
				{Object.entries(result.seconds)
					.filter(([name]) => name === 'plan' || name === 'search')
					.map(([name, seconds]) => (
						<Fact key={name} name={name === 'plan' ? 'Planning' : 'Search'} value={duration(seconds)} />
					))}
			</dl>
		</section>
	)
}

function Fact(p: { name: string; value: string }) {
	return (
		<div>
			<dt>{p.name}</dt>
			<dd>{p.value}</dd>
		</div>
	)
}

function Yes(p: { exists: boolean | null }) {
	return (
		<p class="answer-number">
			{p.exists === null ? 'Not known' : p.exists ? 'Yes' : 'No'}
			<span class="answer-of">
				{p.exists === null ? 'the search ended before it found a match' : p.exists ? 'the pattern occurs' : 'the pattern does not occur'}
			</span>
		</p>
	)
}

function Numbers(p: { result: Result; run: Run }) {
	const least = p.run.complete ? '' : '≥ '
	return (
		<div class="answer-numbers">
			{p.result.subgraphs !== null && (
				<p class="answer-number">
					{least + grouped(p.result.subgraphs)}
					<span class="answer-of">subgraphs</span>
				</p>
			)}
			{p.result.embeddings !== null && (
				<p class="answer-number">
					{least + grouped(p.result.embeddings)}
					<span class="answer-of">embeddings</span>
				</p>
			)}
		</div>
	)
}
