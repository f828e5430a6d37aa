import type { TargetedEvent, TargetedKeyboardEvent } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import type { Parts, Schema } from '../api'
import { useTyped } from '../typed'
import { called } from './describe'
import type { Change } from './edit'
import { quote } from './lex'
import { details, type Details, type Ref } from './parts'
import { read } from './read'

interface Props {
	query: string
	parts: Parts
	of: Ref
	schema: Schema | null
	/** Why nothing can be changed, or empty. */
	fixed: string
	/** Makes a change, and reports whether it could be made. */
	change(c: Change): boolean
}

/** Inspector shows a vertex or edge beside the drawing, in fields. */
export function Inspector({ query, parts, of, schema, fixed, change }: Props) {
	const reading = fixed ? null : read(query)
	const isVertex = 'vertex' in of
	const x = isVertex ? parts.vertices[of.vertex]! : parts.edges[of.edge]!
	const length = 'length' in x ? x.length.slice(1) : ''
	const d: Details = reading ? details(query, reading, parts, of) : { ...x, length, entries: [], absent: parts.groups[x.group]!.kind === 'not' }
	const labels = (isVertex ? schema?.vertex_labels : schema?.edge_labels) ?? []
	const properties = (isVertex ? schema?.vertex_properties : schema?.edge_properties) ?? []
	return (
		<form class="canvas-inspector" aria-label={isVertex ? 'Vertex' : 'Edge'} onSubmit={e => e.preventDefault()}>
			<h3>{isVertex ? 'Vertex' : 'Edge'}</h3>
			<Field label="Name" value={d.name} readOnly={!reading} commit={name => change({ kind: 'name', of, name })} />
			<Field label="Labels" value={d.labels} readOnly={!reading} complete={labels.map(quote)} commit={labels => change({ kind: 'labels', of, labels })} />
			{!isVertex && <EdgeFields parts={parts} edge={of.edge} length={d.length} absent={d.absent} readOnly={!reading} change={change} />}
			{reading ? (
				<fieldset>
					<legend>Properties</legend>
					{d.entries.map((e, i) => (
						<Property key={i} entry={e} names={properties} commit={(key, value) => change({ kind: 'property', of, entry: i, key, value })} />
					))}
					<NewProperty names={properties} commit={(key, value) => change({ kind: 'property', of, entry: d.entries.length, key, value })} />
				</fieldset>
			) : (
				<Field label="Properties" value={x.properties} readOnly commit={() => false} />
			)}
			<Field label="Where" value={d.where} readOnly={!reading} hint={isVertex ? '_.age > 30' : '_.amount > 1e4'} commit={condition => change({ kind: 'condition', of, condition })} />
		</form>
	)
}

interface EdgeProps {
	parts: Parts
	edge: number
	length: string
	absent: boolean
	readOnly: boolean
	change(c: Change): boolean
}

function EdgeFields({ parts, edge, length, absent, readOnly, change }: EdgeProps) {
	const id = useId()
	const e = parts.edges[edge]!
	const a = called(parts, e.from)
	const b = called(parts, e.to)
	return (
		<>
			<div class="canvas-field">
				<label for={id}>Direction</label>
				<select id={id} value={e.direction} disabled={readOnly} onChange={ev => change({ kind: 'direction', edge, direction: ev.currentTarget.value as 'any' | 'out' | 'in' })}>
					<option value="any">
						{a} – {b}, either way
					</option>
					<option value="out">
						{a} → {b}
					</option>
					<option value="in">
						{b} → {a}
					</option>
				</select>
			</div>
			<Field label="Length" value={length} hint="1..3" readOnly={readOnly} commit={length => change({ kind: 'length', edge, length })} />
			<label class="canvas-check">
				<input type="checkbox" checked={absent} disabled={readOnly} onChange={ev => change({ kind: 'absent', edge, absent: !absent }) || (ev.currentTarget.checked = absent)} />
				Must be absent (NOT)
			</label>
		</>
	)
}

interface FieldProps {
	label: string
	value: string
	readOnly?: boolean
	hint?: string
	/** What can stand at the end of the value. */
	complete?: string[]
	commit(value: string): boolean
}

/** handlers make an input commit what was typed by Enter or by leaving it. */
const handlers = (typed: ReturnType<typeof useTyped>, value: string, commit: (text: string) => boolean) => ({
	value: typed.text,
	'aria-invalid': typed.wrong,
	onInput: (e: TargetedEvent<HTMLInputElement>) => typed.set(e.currentTarget.value),
	onKeyDown: (e: TargetedKeyboardEvent<HTMLInputElement>) => e.key === 'Escape' && typed.reset(),
	onChange: (e: TargetedEvent<HTMLInputElement>) => {
		const text = e.currentTarget.value
		if (text !== value) typed.set(text, !commit(text))
	},
})

/** Field is a text that is committed by Enter or by leaving it. A text that is refused stays, to be put right; Escape brings the old one back. */
function Field({ label, value, readOnly, hint, complete = [], commit }: FieldProps) {
	const id = useId()
	const typed = useTyped(value)
	const before = /^.*[|&!(:\s]/s.exec(typed.text)?.[0] ?? ''
	return (
		<div class="canvas-field">
			<label for={id}>{label}</label>
			<input
				id={id}
				readOnly={readOnly}
				placeholder={readOnly ? undefined : hint}
				autocomplete="off"
				autocapitalize="off"
				spellcheck={false}
				list={complete.length > 0 ? id + 'list' : undefined}
				{...handlers(typed, value, commit)}
			/>
			{complete.length > 0 && (
				<datalist id={id + 'list'}>
					{complete.map(c => (
						<option key={c} value={before + c} />
					))}
				</datalist>
			)}
		</div>
	)
}

type Names = { name: string; type: string }[]

function PropertyNames({ id, names }: { id: string; names: Names }) {
	return (
		<datalist id={id}>
			{names.map(p => (
				<option key={p.name} value={p.name}>
					{p.type}
				</option>
			))}
		</datalist>
	)
}

function Property({ entry, names, commit }: { entry: { key: string; value: string }; names: Names; commit(key: string, value: string): boolean }) {
	const id = useId()
	const key = useTyped(entry.key)
	const value = useTyped(entry.value)
	return (
		<div class="canvas-property">
			<input
				aria-label={`Name of property ${entry.key}`}
				list={id}
				autocomplete="off"
				spellcheck={false}
				{...handlers(key, entry.key, text => commit(text, entry.value))}
			/>
			<input
				aria-label={`Value of ${entry.key}`}
				autocomplete="off"
				spellcheck={false}
				{...handlers(value, entry.value, text => commit(entry.key, text))}
			/>
			<button
				type="button"
				aria-label={`Remove property ${entry.key}`}
				title="Remove"
				onClick={e => {
					const next = e.currentTarget.closest('fieldset')!.querySelector<HTMLElement>('.canvas-new input')
					if (commit('', '')) next?.focus()
				}}
			>
				×
			</button>
			<PropertyNames id={id} names={names} />
		</div>
	)
}

/** NewProperty is committed when it has a name and a value, and is then there for the next one. */
function NewProperty({ names, commit }: { names: Names; commit(key: string, value: string): boolean }) {
	const id = useId()
	const [key, setKey] = useState('')
	const [value, setValue] = useState('')
	const [wrong, setWrong] = useState(false)
	const first = useRef<HTMLInputElement>(null)
	const add = () => {
		if (!key.trim() || !value.trim()) return
		const done = commit(key, value)
		setWrong(!done)
		if (!done) return
		setKey('')
		setValue('')
		first.current!.focus()
	}
	return (
		<div class="canvas-property canvas-new">
			<input ref={first} aria-label="Name of a new property" placeholder="name" value={key} list={id} autocomplete="off" spellcheck={false} onInput={e => setKey(e.currentTarget.value)} onChange={add} />
			<input
				aria-label="Value of the new property"
				placeholder="value"
				value={value}
				aria-invalid={wrong}
				autocomplete="off"
				spellcheck={false}
				onInput={e => setValue(e.currentTarget.value)}
				onChange={add}
			/>
			<PropertyNames id={id} names={names} />
		</div>
	)
}
