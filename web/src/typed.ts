import { useState } from 'preact/hooks'

/**
 * useTyped is what a field with a value shows: the text that was typed since the value came, or else the value. What is
 * typed stays when other things on the page change, and goes for good when the value does.
 */
export function useTyped(value: string) {
	const [typed, setTyped] = useState<{ over: string; text: string; wrong: boolean } | null>(null)
	const now = typed?.over === value ? typed : null
	if (typed !== now) setTyped(null) // the value may come back, by undo
	const set = (text: string, wrong = false) => setTyped({ over: value, text, wrong })
	return { text: now?.text ?? value, wrong: now?.wrong ?? false, set, reset: () => setTyped(null) }
}
