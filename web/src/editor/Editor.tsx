import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { setDiagnostics } from '@codemirror/lint'
import { Annotation, EditorState, Prec } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view'
import { tags as t } from '@lezer/highlight'
import { useEffect, useRef } from 'preact/hooks'
import type { Problem, Schema } from '../api'
import { completer } from './complete'
import { weft } from './language'
import { place } from './place'
import './editor.css'

const colours = HighlightStyle.define([
	{ tag: t.keyword, color: 'var(--code-keyword)', fontWeight: '600' },
	{ tag: t.typeName, color: 'var(--code-label)' },
	{ tag: t.propertyName, color: 'var(--code-property)' },
	{ tag: t.function(t.variableName), color: 'var(--code-function)' },
	{ tag: [t.number, t.string], color: 'var(--code-value)' },
	{ tag: t.special(t.variableName), color: 'var(--code-parameter)' },
	{ tag: t.comment, color: 'var(--soft)', fontStyle: 'italic' },
	{ tag: t.operator, color: 'var(--code-symbol)' },
	{ tag: t.invalid, color: 'var(--wrong)' },
])

const look = EditorView.theme({
	'&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--field)', fontSize: '14px' },
	'&.cm-focused': { outline: 'none' },
	'.cm-scroller': { fontFamily: 'var(--code)', lineHeight: '1.55' },
	'.cm-content': { padding: '8px 0', caretColor: 'var(--ink)' },
	'.cm-gutters': { backgroundColor: 'transparent', color: 'var(--soft)', border: 'none' },
	'.cm-cursor': { borderLeftColor: 'var(--ink)' },
	'.cm-placeholder': { color: 'var(--soft)' },
	'&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--code-selection)' },
	'&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--code-bracket)', outline: '1px solid var(--line)' },
	'&.cm-focused .cm-nonmatchingBracket': { color: 'var(--wrong)', backgroundColor: 'transparent' },
	'.cm-tooltip': { backgroundColor: 'var(--paper)', color: 'var(--ink)', border: '1px solid var(--line)', borderRadius: '6px' },
	'.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--code)', fontSize: '13px', maxHeight: '15em' },
	// Labels of the graph may be long, and differ only at their ends.
	'.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px', whiteSpace: 'normal', overflowWrap: 'anywhere' },
	'.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--accent-ink)' },
	'.cm-completionDetail': { fontStyle: 'normal', color: 'var(--soft)', fontFamily: 'var(--font)' },
	'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
	'.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
	'.cm-diagnostic': { padding: '4px 10px', borderLeftColor: 'var(--wrong)' },
})

/** Marks a change that the page made, and not the user. */
const given = Annotation.define<boolean>()

/**
 * Deletes and replaces a selection by a transaction. Chromium's own handling merges elements and writes style attributes, which the content
 * security policy reports.
 */
const replacements = EditorView.domEventHandlers({
	beforeinput(event, view) {
		const { main, ranges } = view.state.selection
		const text = event.inputType === 'insertText' ? event.data : event.inputType.startsWith('delete') ? '' : null
		if (text === null || ranges.length > 1 || main.empty || event.isComposing) return false
		event.preventDefault()
		const { from, to } = main
		const insert = () =>
			view.state.update({
				changes: { from, to, insert: text },
				selection: { anchor: from + text.length },
				userEvent: text ? 'input.type' : 'delete.selection',
				scrollIntoView: true,
			})
		// Brackets close, and surround what is selected.
		const handled = text && view.state.facet(EditorView.inputHandler).some(f => f(view, from, to, text, insert))
		if (!handled) view.dispatch(insert())
		return true
	},
})

export interface EditorProps {
	text: string
	onText(text: string): void
	schema: Schema | null
	/** The error to mark. Its place is one in the text. */
	problem: Problem | null
	/** The number of runs so far: lists of completions close when there is one more. */
	runs: number
}

/** The editor of a query. Tab leaves it, so that the keyboard reaches the rest of the page. */
export function Editor(p: EditorProps) {
	const host = useRef<HTMLDivElement>(null)
	const view = useRef<EditorView | null>(null)
	// Texts that were told and have not come back yet. One that comes back late is not a change of the page's.
	const told = useRef<string[]>([])
	const now = useRef(p)
	now.current = p

	useEffect(() => {
		// In a shadow root the editor's styles are style sheets made by script, which the policy allows, and not elements with text.
		const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
		const v = new EditorView({
			root,
			parent: root,
			doc: now.current.text,
			extensions: [
				lineNumbers(),
				history(),
				drawSelection(),
				EditorState.tabSize.of(2),
				EditorView.lineWrapping,
				bracketMatching(),
				closeBrackets(),
				autocompletion({ override: [completer(() => now.current.schema)], activateOnTyping: true, icons: false }),
				replacements,
				placeholder('MATCH (a)--(b)--(c)--(a)'),
				syntaxHighlighting(colours),
				weft,
				look,
				// Ctrl-Enter runs the query, which is the page's.
				Prec.highest(keymap.of([{ key: 'Mod-Enter', run: v => (closeCompletion(v), false) }])),
				keymap.of([...closeBracketsKeymap, ...defaultKeymap.filter(k => k.key !== 'Mod-Enter'), ...historyKeymap, ...completionKeymap]),
				EditorView.contentAttributes.of({ 'aria-label': 'Query', 'aria-multiline': 'true', spellcheck: 'false' }),
				EditorView.updateListener.of(u => {
					if (!u.docChanged || u.transactions.some(t => t.annotation(given))) return
					const text = u.state.doc.toString()
					told.current.push(text)
					now.current.onText(text)
				}),
				EditorView.domEventHandlers({ blur: (_, v) => void closeCompletion(v) }),
			],
		})
		view.current = v
		return () => v.destroy()
	}, [])

	useEffect(() => {
		const v = view.current!
		const back = told.current.indexOf(p.text)
		told.current.splice(0, back < 0 ? Infinity : back + 1)
		const old = v.state.doc.toString()
		if (back >= 0 || old === p.text) return
		const changes = difference(old, p.text)
		const selection = v.hasFocus ? undefined : { anchor: changes.from + changes.insert.length }
		v.dispatch({ changes, selection, annotations: given.of(true) })
	}, [p.text])

	useEffect(() => {
		const v = view.current!
		const at = p.problem && place(p.text, p.problem)
		const marks = at ? [{ ...at, severity: 'error' as const, message: p.problem!.detail }] : []
		v.dispatch(setDiagnostics(v.state, marks))
	}, [p.problem])

	useEffect(() => {
		if (p.runs) closeCompletion(view.current!)
	}, [p.runs])

	return <div class="editor" ref={host} />
}

/** The part of a text that differs from another, so that the cursor stays where it is. */
function difference(old: string, text: string) {
	let from = 0
	while (from < old.length && from < text.length && old[from] === text[from]) from++
	let end = 0
	while (end < old.length - from && end < text.length - from && old.at(-1 - end) === text.at(-1 - end)) end++
	return { from, to: old.length - end, insert: text.slice(from, text.length - end) }
}
