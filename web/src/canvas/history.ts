import type { Parts } from '../api'
import type { Positions } from './layout'

/** A drawing with its text. */
export interface Snapshot {
	query: string
	parts: Parts
	positions: Positions
}

/** History holds what edits of the drawing have changed. An edit of the text by other hands ends it: what was before does not fit the text then. */
export class History {
	private past: { before: Snapshot; after: Snapshot }[] = []
	private future: { before: Snapshot; after: Snapshot }[] = []

	add(before: Snapshot, after: Snapshot) {
		this.past.push({ before, after })
		if (this.past.length > 200) this.past.shift()
		this.future = []
	}

	/** undo returns the drawing before the last edit, or null if the text is not what this edit made. */
	undo(query: string): Snapshot | null {
		if (this.past.at(-1)?.after.query !== query) return null
		const step = this.past.pop()!
		this.future.push(step)
		return step.before
	}

	redo(query: string): Snapshot | null {
		if (this.future.at(-1)?.before.query !== query) return null
		const step = this.future.pop()!
		this.past.push(step)
		return step.after
	}

	canUndo(query: string): boolean {
		return this.past.at(-1)?.after.query === query
	}

	canRedo(query: string): boolean {
		return this.future.at(-1)?.before.query === query
	}
}
