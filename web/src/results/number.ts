import type { Count } from '../api'

/** A count with its digits in groups of three. */
export function grouped(n: Count | bigint): string {
	if (n === null) return '–'
	return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** An estimate with two digits. */
export function about(x: number): string {
	if (x >= 1e15) return x.toExponential(1)
	if (x < 10) return String(Number(x.toPrecision(2)))
	return grouped(String(Math.round(Number(x.toPrecision(2)))))
}

/** A time in a unit that suits it. */
export function duration(seconds: number): string {
	if (seconds < 1) return `${Number((seconds * 1000).toPrecision(2))} ms`
	if (seconds < 120) return `${seconds.toFixed(1)} s`
	const minutes = Math.floor(seconds / 60)
	return `${minutes} min ${Math.round(seconds - 60 * minutes)} s`
}
