import type { Value } from '../api'

/**
 * The values of a column. While all are numbers or null they are an array of numbers, in which null is NaN. With the first other value they
 * become codes of the distinct values, because texts and edges repeat.
 */
export class Column {
	private numbers: Float64Array | null = new Float64Array(256)
	private codes = new Uint32Array(0)
	private readonly values: Value[] = []
	private readonly codeOf = new Map<string, number>()
	private size = 0
	/** An estimate of what the distinct values take, in bytes. */
	private kept = 0

	constructor(readonly name: string) {}

	get length() {
		return this.size
	}

	get bytes() {
		return (this.numbers?.byteLength ?? this.codes.byteLength) + this.kept
	}

	/** Whether all values so far are numbers or null. */
	get numeric() {
		return this.numbers !== null
	}

	push(value: Value) {
		if (this.numbers && (typeof value === 'number' || value === null)) {
			if (this.size === this.numbers.length) this.numbers = grown(this.numbers, new Float64Array(2 * this.size))
			this.numbers[this.size++] = value ?? NaN
			return
		}
		if (this.numbers) {
			const old = this.numbers
			this.codes = new Uint32Array(old.length)
			this.numbers = null
			for (let i = 0; i < this.size; i++) this.codes[i] = this.code(Number.isNaN(old[i]) ? null : old[i]!)
		}
		if (this.size === this.codes.length) this.codes = grown(this.codes, new Uint32Array(2 * this.size))
		this.codes[this.size++] = this.code(value)
	}

	at(row: number): Value {
		if (!this.numbers) return this.values[this.codes[row]!]!
		const x = this.numbers[row]!
		return Number.isNaN(x) ? null : x
	}

	/** Some rows in the order of their values, null last. Rows with the same value keep their order. */
	sorted(rows: Uint32Array, descending: boolean): Uint32Array {
		if (this.numbers) return byNumber(rows, this.numbers, descending)
		const order = this.values.map((_, code) => code).sort((a, b) => compare(this.values[a]!, this.values[b]!, descending))
		const rank = new Uint32Array(order.length)
		order.forEach((code, i) => (rank[code] = i))
		const codes = this.codes
		return counted(rows, row => rank[codes[row]!]!, order.length)
	}

	private code(value: Value): number {
		const key = typeof value === 'string' ? value : `\0${JSON.stringify(value)}`
		let code = this.codeOf.get(key)
		if (code === undefined) {
			code = this.values.push(value) - 1
			this.codeOf.set(key, code)
			this.kept += 100 + 4 * key.length
		}
		return code
	}
}

function grown<A extends Float64Array | Uint32Array>(old: A, larger: A): A {
	larger.set(old)
	return larger
}

/** Sorts rows by keys below a number, in one pass over the rows. */
function counted(rows: Uint32Array, key: (row: number) => number, keys: number): Uint32Array {
	const begin = new Uint32Array(keys + 1)
	for (const row of rows) begin[key(row) + 1]!++
	for (let k = 1; k <= keys; k++) begin[k]! += begin[k - 1]!
	const out = new Uint32Array(rows.length)
	for (const row of rows) out[begin[key(row)]!++] = row
	return out
}

/** Sorts rows by numbers: by each 16 bits of keys that are in the order of the numbers, the least first. */
function byNumber(rows: Uint32Array, numbers: Float64Array, descending: boolean): Uint32Array {
	const words = new Uint16Array(numbers.slice().buffer)
	for (let i = 0; i < words.length; i += 4) {
		if (Number.isNaN(numbers[i / 4])) {
			words.fill(0xffff, i, i + 4)
			continue
		}
		const top = words[i + 3]!
		// The bits of numbers below zero fall as these grow, and have the sign set. Descending is the opposite.
		const below = top >= 0x8000
		const flip = below === descending ? 0 : 0xffff
		for (let k = 0; k < 3; k++) words[i + k]! ^= flip
		words[i + 3] = top ^ flip ^ (below ? 0 : 0x8000)
	}
	let out = rows
	for (let part = 0; part < 4; part++) out = counted(out, row => words[4 * row + part]!, 0x10000)
	return out
}

/** The order of values of different types: numbers, texts, other values, null. */
function compare(a: Value, b: Value, descending: boolean): number {
	if (a === null || b === null) return Number(a === null) - Number(b === null)
	const sign = descending ? -1 : 1
	if (typeof a === 'number' && typeof b === 'number') return sign * (a - b)
	const kind = (x: Value) => (typeof x === 'number' ? 0 : typeof x === 'string' ? 1 : 2)
	if (kind(a) !== kind(b)) return sign * (kind(a) - kind(b))
	const [x, y] = [written(a), written(b)]
	return sign * (x < y ? -1 : Number(x > y))
}

/** A value as a cell shows it. An edge is its two ends. */
export function written(value: Value): string {
	if (value === null) return ''
	if (typeof value !== 'object') return String(value)
	if (Array.isArray(value)) return value.map(written).join(', ')
	if ('src' in value && 'dst' in value) return `${written(value.src!)}–${written(value.dst!)}`
	return JSON.stringify(value)
}

/** A value with all that is known of it: of an edge also the label, the time and the properties. */
export function full(value: Value): string {
	if (value === null || typeof value !== 'object' || Array.isArray(value) || !('src' in value)) return written(value)
	const { src: _, dst: __, ...more } = value
	const rest = Object.entries(more).map(([k, v]) => `${k} ${written(v)}`)
	return [written(value), ...rest].join(' · ')
}
