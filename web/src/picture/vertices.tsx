import { useState } from 'preact/hooks'
import { type Drawing, plain } from './drawing'

const page = 100

/** Vertices is a table of all vertices in view, for those who cannot see or point at the picture. */
export function Vertices(p: { drawing: Drawing; labels: Map<string, string[]>; degrees: Map<string, number>; chosen: string | null; onChoose(key: string): void }) {
	const [open, setOpen] = useState(false)
	const [most, setMost] = useState(page)
	const all = [...p.drawing.vertices.values()]
	const labelled = p.labels.size > 0
	return (
		<details class="picture-vertices" onToggle={e => setOpen(e.currentTarget.open)}>
			<summary>All vertices ({all.length.toLocaleString('en')})</summary>
			{open && (
				<>
					<table>
						<thead>
							<tr>
								<th scope="col">Vertex</th>
								<th scope="col">Is</th>
								{labelled && <th scope="col">Labels</th>}
								<th scope="col" class="picture-number">
									Matches
								</th>
								<th scope="col" class="picture-number">
									Degree
								</th>
							</tr>
						</thead>
						<tbody>
							{all.slice(0, most).map(v => (
								<tr key={v.key}>
									<td>
										<button type="button" class="picture-link" aria-pressed={p.chosen === v.key} onClick={() => p.onChoose(v.key)}>
											{plain(v.id)}
										</button>
									</td>
									<td>{v.matches.length === 0 ? 'neighbour' : v.roles.map(r => p.drawing.roles[r]!.name).join(', ')}</td>
									{labelled && <td>{p.labels.get(v.key)?.join(', ') ?? ''}</td>}
									<td class="picture-number">{v.matches.length}</td>
									<td class="picture-number">{p.degrees.get(v.key)}</td>
								</tr>
							))}
						</tbody>
					</table>
					{most < all.length && (
						<button type="button" onClick={() => setMost(most + page)}>
							Show {Math.min(page, all.length - most)} more
						</button>
					)}
				</>
			)}
		</details>
	)
}
