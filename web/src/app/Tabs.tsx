import type { TargetedKeyboardEvent } from 'preact'
import { useRef } from 'preact/hooks'
import type { Tab } from './run'

export const tabNames: Record<Tab, string> = { answer: 'Answer', table: 'Table', picture: 'Picture', plan: 'Plan', census: 'Census' }

/** The tabs of results. Arrow keys move between them. */
export function Tabs(p: { tabs: Tab[]; shown: Tab; onTab(t: Tab): void }) {
	const list = useRef<HTMLDivElement>(null)
	const onKeyDown = (e: TargetedKeyboardEvent<HTMLDivElement>) => {
		const i = p.tabs.indexOf(p.shown)
		const n = p.tabs.length
		const to = ({ ArrowRight: (i + 1) % n, ArrowLeft: (i + n - 1) % n, Home: 0, End: n - 1 } as Record<string, number>)[e.key]
		if (to === undefined) return
		e.preventDefault()
		p.onTab(p.tabs[to]!)
		list.current!.querySelectorAll('button')[to]!.focus()
	}
	return (
		<div class="tabs" role="tablist" aria-label="Results" ref={list} onKeyDown={onKeyDown}>
			{p.tabs.map(t => (
				<button
					key={t}
					type="button"
					role="tab"
					id={`tab-${t}`}
					aria-selected={t === p.shown}
					aria-controls={t === p.shown ? 'panel' : undefined}
					tabIndex={t === p.shown ? 0 : -1}
					onClick={() => p.onTab(t)}
				>
					{tabNames[t]}
				</button>
			))}
		</div>
	)
}
