import { useEffect, useState } from 'preact/hooks'
import { ProblemError, type Parts } from '../api'
import type { Client } from '../client'

/** What the server reads in a text. */
export interface Reading {
	/** The text that has the parts. */
	query: string
	parts: Parts | null
	/** What is wrong with a later text, for which there are no parts. */
	problem: string
}

/** The parts of a text that changes. While it has a mistake they are those of the last text without one. */
export function useParts(api: Client, query: string): Reading {
	const [reading, setReading] = useState<Reading>({ query: '', parts: null, problem: '' })
	useEffect(() => {
		if (!query.trim()) {
			setReading({ query, parts: null, problem: '' })
			return
		}
		const abort = new AbortController()
		const timer = setTimeout(() => {
			api.parse(query, abort.signal).then(
				parts => setReading({ query, parts, problem: '' }),
				(e: unknown) => {
					if (abort.signal.aborted) return
					const problem = e instanceof ProblemError ? e.problem.detail : 'The server cannot be reached.'
					setReading(old => ({ ...old, problem }))
				},
			)
		}, 150)
		return () => {
			clearTimeout(timer)
			abort.abort()
		}
	}, [api, query])
	return reading
}
