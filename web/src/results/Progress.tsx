import { useEffect, useState } from 'preact/hooks'
import type { Status } from '../api'
import { duration, grouped } from './number'
import './progress.css'

/** How far a query is that the page asked for at a time of performance.now(). */
export function Progress(p: { status: Status | null; rows: number; begun: number }) {
	const { status } = p
	const [time, setTime] = useState(p.begun)
	useEffect(() => {
		const timer = setInterval(() => setTime(performance.now()), 100)
		return () => clearInterval(timer)
	}, [])
	const known = status?.state === 'running' && status.total > 0
	const texts = [status?.state === 'waiting' ? 'waiting for its turn' : 'running', duration(Math.max(0, time - p.begun) / 1000)]
	if (known) texts.push(`${grouped(status.done)} of ${grouped(status.total)} parts`)
	if (p.rows) texts.push(`${grouped(p.rows)} rows`)
	return (
		<div class="progress">
			<progress aria-label="Progress of the query" max={known ? status.total : undefined} value={known ? status.done : undefined} />
			<span class="progress-text">{texts.join(' · ')}</span>
		</div>
	)
}
