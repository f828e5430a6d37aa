import { optionsOf, parameters, parameterText, textOf, type Options, type Request } from './request'

const engines = ['host', 'join', 'oracle', 'stack', 'fine', 'codegen', 'partition']

/** The options of a request, and the values of its parameters. */
export function Fields(p: { request: Request; directed: boolean; onRequest(r: Request): void }) {
	const { request: r } = p
	const set = (options: Partial<Options>) => p.onRequest({ ...r, options: { ...r.options, ...options } })
	const names = r.kind === 'motifs' ? [] : parameters(r.query)

	const text = (option: 'limit' | 'seconds' | 'vertex', label: string, placeholder: string, numeric: boolean) => (
		<label class="field" key={option}>
			{label}
			<input
				class="short"
				inputMode={numeric ? 'decimal' : undefined}
				placeholder={placeholder}
				value={r.options[option]}
				onInput={e => set({ [option]: e.currentTarget.value })}
			/>
		</label>
	)
	const check = (option: 'induced' | 'profile' | 'allow_product' | 'directions', label: string, title: string) => (
		<label class="check" key={option} title={title}>
			<input type="checkbox" checked={r.options[option]} onChange={e => set({ [option]: e.currentTarget.checked })} />
			{label}
		</label>
	)

	const field = (option: keyof Options) => {
		switch (option) {
			case 'limit':
				return text('limit', 'Limit', 'none', true)
			case 'seconds':
				return text('seconds', 'Seconds', 'no end', true)
			case 'vertex':
				return text('vertex', 'Vertex', 'of RETURN', false)
			case 'induced':
				return check('induced', 'Induced', 'No edges between matched vertices beyond those of the pattern')
			case 'profile':
				return check('profile', 'Run it too', 'Run the query, and show what each level found')
			case 'allow_product':
				return check('allow_product', 'Unconnected', 'Take a pattern that is not connected: the matches of its parts multiply')
			case 'directions':
				return p.directed && check('directions', 'With directions', 'Tell motifs apart by the directions of their edges')
			case 'k':
				return (
					<label class="field" key="k">
						Vertices
						<select value={r.options.k} onChange={e => set({ k: e.currentTarget.value })}>
							{['3', '4', '5'].map(k => (
								<option key={k}>{k}</option>
							))}
						</select>
					</label>
				)
			case 'semantics':
				return (
					<label class="field" key="semantics">
						Semantics
						<select value={r.options.semantics} onChange={e => set({ semantics: e.currentTarget.value as Options['semantics'] })}>
							<option value="">as in the query</option>
							<option value="iso">iso: distinct vertices</option>
							<option value="trail">trail: distinct edges</option>
							<option value="hom">hom: may repeat</option>
						</select>
					</label>
				)
			case 'engine':
				return (
					<label class="field" key="engine">
						Engine
						<select value={r.options.engine} onChange={e => set({ engine: e.currentTarget.value })}>
							<option value="">automatic</option>
							{engines.map(name => (
								<option key={name}>{name}</option>
							))}
						</select>
					</label>
				)
		}
	}

	return (
		<div class="fields">
			{optionsOf(r.kind).map(field)}
			{r.kind === 'motifs' && <span class="soft">A census is of all connected patterns, whatever the query says.</span>}
			{names.map(name => (
				<label class="field" key={`$${name}`}>
					<code>{parameterText(name)}</code>
					<input
						placeholder="a number, a text, [1, 2]"
						value={textOf(r, name)}
						onInput={e => p.onRequest({ ...r, params: { ...r.params, [name]: e.currentTarget.value } })}
					/>
				</label>
			))}
		</div>
	)
}
