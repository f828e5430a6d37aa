import type { Schema } from '../api'

/** The names in a graph, which queries can use. */
export function Names(p: { schema: Schema }) {
	const { schema: s } = p
	const edge = s.edge_properties.map(typed)
	if (s.edge_times) edge.unshift('time')
	const groups: [title: string, names: string[]][] = [
		['Vertex labels', s.vertex_labels],
		['Edge labels', s.edge_labels],
		['Vertex properties', s.vertex_properties.map(typed)],
		['Edge properties', edge],
	]
	if (groups.every(([, names]) => !names.length)) return null
	return (
		<section class="names" aria-labelledby="names-title">
			<h2 id="names-title">Names</h2>
			<dl>
				{groups.map(
					([title, names]) =>
						names.length > 0 && (
							<div key={title}>
								<dt>{title}</dt>
								<dd>
									{names.slice(0, 100).map(name => (
										<code key={name}>{name}</code>
									))}
									{names.length > 100 && <span class="soft">and {names.length - 100} more</span>}
								</dd>
							</div>
						),
				)}
			</dl>
		</section>
	)
}

function typed(p: { name: string; type: string }): string {
	return `${p.name}: ${p.type}`
}
