import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Parts, Schema } from '../../src/api'
import { Canvas, inUnits } from '../../src/canvas'
import './page.css'

const schema: Schema = {
	vertex_labels: ['Person', 'Robot', 'Public figure'],
	edge_labels: ['FOLLOWS', 'LIKES'],
	vertex_properties: [{ name: 'age', type: 'int' }],
	edge_properties: [{ name: 'w', type: 'float' }],
	edge_times: false,
}

/** Page is a text and its drawing, as the page of the product has them. The text is read where there is a server. */
function Page() {
	const [query, setQuery] = useState(decodeURIComponent(location.hash.slice(1)))
	const [parts, setParts] = useState<Parts | null>(null)
	const [problem, setProblem] = useState('')
	useEffect(() => {
		let late = false
		if (!query.trim()) return
		const timer = setTimeout(async () => {
			const answer = await fetch('/v1/parse', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query }) })
			if (answer.status === 404) return
			const value = await answer.json()
			if (late) return
			if (!value.mistake) setParts(inUnits(query, value))
			setProblem(value.mistake?.detail ?? '')
		}, 150)
		return () => {
			clearTimeout(timer)
			late = true
		}
	}, [query])
	return (
		<>
			<textarea aria-label="Query" value={query} onInput={e => setQuery(e.currentTarget.value)} />
			<Canvas parts={parts} problem={problem} schema={schema} query={query} onText={setQuery} />
		</>
	)
}

render(<Page />, document.getElementById('page')!)
