import { render } from 'preact'
import type { Parts, Row, Schema } from '../../src/api'
import { Picture } from '../../src/picture'
import { fakeApi, httpApi, wedges } from './api'
import './main.css'

/** A case is what a test asks the page to show. Without rows, the rows come from the server. */
export interface Case {
	graph: string
	query: string
	parts: Parts | null
	schema: Schema | null
	rows?: Row[]
	limit?: number
}

declare global {
	interface Window {
		show(c: Case): Promise<void>
		wedges: Row[]
		asked: string[]
	}
}

window.asked = []
window.wedges = wedges
window.show = async c => {
	const real = c.rows === undefined
	const api = real ? httpApi() : fakeApi(window.asked)
	const rows: Row[] = c.rows ?? []
	if (real) await api.rows('match', { graph: c.graph, query: c.query, limit: c.limit ?? 1000 }, { batch: more => void rows.push(...more) })
	const columns = Object.keys(rows[0] ?? {})
	render(
		<main>
			<Picture api={api} graph={c.graph} schema={c.schema} query={c.query} params={{}} rows={rows} columns={columns} parts={c.parts} />
		</main>,
		document.getElementById('page')!,
	)
}
