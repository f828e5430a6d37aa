const formats = [
	{ name: 'CSV', end: 'csv', accept: 'text/csv' },
	{ name: 'Arrow', end: 'arrows', accept: 'application/vnd.apache.arrow.stream' },
	{ name: 'JSON', end: 'json', accept: 'application/json' },
]

/** Saves the rows as a file. The server makes them again, so that a file may have more rows than the page keeps. */
export function Export(p: { disabled: boolean; onSave(accept: string, end: string): void }) {
	return (
		<div class="export" role="group" aria-label="Save all rows">
			<span class="soft">Save as</span>
			{formats.map(f => (
				<button key={f.end} type="button" disabled={p.disabled} onClick={() => p.onSave(f.accept, f.end)}>
					{f.name}
				</button>
			))}
		</div>
	)
}
