import type { Row, Value } from '../api'
import { Column } from './column'

/** The most rows that the page keeps, and about the most bytes that they take. */
export const most = { rows: 5_000_000, bytes: 1 << 29 }

/** The rows of a result, by column. They grow while the search goes on. */
export class Rows {
	readonly columns: Column[] = []
	length = 0
	/** The first rows as they came, for the picture of them. */
	readonly first: Row[] = []

	private readonly byName = new Map<string, Column>()

	/** Keeps more rows. It returns false once there is no room for further ones. */
	add(rows: Row[]): boolean {
		for (const row of rows) {
			if (this.length >= most.rows) return false
			if (this.first.length < 1000) this.first.push(row)
			for (const name in row) this.column(name).push(row[name]!)
			this.length++
			for (const c of this.columns) if (c.length < this.length) c.push(null)
		}
		return this.bytes < most.bytes
	}

	get bytes() {
		return this.columns.reduce((sum, c) => sum + c.bytes, 0)
	}

	get names() {
		return this.columns.map(c => c.name)
	}

	/** The places of all rows, in the order of a column. */
	sorted(column: Column, descending: boolean): Uint32Array {
		return column.sorted(Uint32Array.from({ length: this.length }, (_, i) => i), descending)
	}

	row(i: number): Value[] {
		return this.columns.map(c => c.at(i))
	}

	/** The column of a name. One that comes later has no values in earlier rows. */
	private column(name: string): Column {
		let c = this.byName.get(name)
		if (!c) {
			c = new Column(name)
			for (let i = 0; i < this.length; i++) c.push(null)
			this.byName.set(name, c)
			this.columns.push(c)
		}
		return c
	}
}
