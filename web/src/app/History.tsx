import { useState } from 'preact/hooks'
import type { Past } from './past'
import { hashOf, kinds, type Request } from './request'

/** Queries that were asked before. */
export function History(p: { list: Past[]; onRequest(r: Request): void; onRemove(past: Past): void; onClear(): void }) {
	const [search, setSearch] = useState('')
	const words = search.toLowerCase().split(/\s+/).filter(Boolean)
	const shown = p.list.filter(({ request: r }) => {
		const text = `${r.graph} ${nameOf(r)} ${r.query}`.toLowerCase()
		return words.every(w => text.includes(w))
	})

	return (
		<section class="history" aria-labelledby="history-title">
			<h2 id="history-title">
				History
				{p.list.length > 0 && (
					<button type="button" class="quiet" onClick={p.onClear}>
						Remove all
					</button>
				)}
			</h2>
			{p.list.length > 0 && (
				<input type="search" aria-label="Search the history" placeholder="Search" value={search} onInput={e => setSearch(e.currentTarget.value)} />
			)}
			{!p.list.length && <p class="soft">Queries that you run are kept in this browser.</p>}
			{p.list.length > 0 && !shown.length && <p class="soft">No query has these words.</p>}
			<ul>
				{shown.map(past => (
					<li key={hashOf(past.request)}>
						<button type="button" class="history-query" onClick={() => p.onRequest(past.request)} title={past.request.query}>
							<span class="history-text">{past.request.kind === 'motifs' ? `motifs of ${past.request.options.k} vertices` : past.request.query}</span>
							<span class="history-facts">
								{past.request.graph} · {nameOf(past.request)} · {past.outcome} · <time dateTime={new Date(past.at).toISOString()}>{when(past.at)}</time>
							</span>
						</button>
						<button
							type="button"
							class="quiet history-remove"
							aria-label={`Remove ${past.request.query || 'this census'} from the history`}
							onClick={() => p.onRemove(past)}
						>
							×
						</button>
					</li>
				))}
			</ul>
		</section>
	)
}

function nameOf(r: Request): string {
	return kinds.find(k => k.kind === r.kind)?.name ?? r.kind
}

function when(at: number): string {
	const date = new Date(at)
	const today = date.toDateString() === new Date().toDateString()
	return today ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : date.toLocaleDateString()
}
