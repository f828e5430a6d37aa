import {
	ProblemError,
	type Api,
	type File,
	type Graphs,
	type Kind,
	type Parameter,
	type Parts,
	type Problem,
	type Query,
	type Row,
	type RowsReader,
	type Run,
	type Saved,
	type Schema,
	type Status,
} from './api'
import { inUnits } from './canvas/units'
import { fileName } from './results/file'

/** The server over fetch. The credentials are those of an Authorization header, or empty. */
export class Client implements Api {
	constructor(private readonly credentials: string) {}

	async graphs(): Promise<Graphs> {
		const answer = await this.send('GET', 'graphs')
		return { user: '', ...((await answer.json()) as Partial<Graphs> & Pick<Graphs, 'graphs'>) }
	}

	/** The names in a graph. */
	async schema(graph: string): Promise<Schema> {
		const answer = await this.send('GET', `graphs/${encodeURIComponent(graph)}/schema`)
		return (await answer.json()) as Schema
	}

	/** The parts of a pattern, with their places in UTF-16 code units. */
	async parse(query: string, signal?: AbortSignal): Promise<Parts> {
		const answer = await this.send('POST', 'parse', { query }, 'application/json', signal)
		const value = (await answer.json()) as Parts | { mistake: Problem }
		if ('mistake' in value) throw new ProblemError(value.mistake)
		return inUnits(query, value)
	}

	/** The queries of the user that run or wait. */
	async running(): Promise<Status[]> {
		const answer = await this.send('GET', 'running')
		return ((await answer.json()) as { running: Status[] }).running
	}

	async cancel(run: number): Promise<void> {
		await this.send('DELETE', `jobs/${run}`)
	}

	async ask<T>(kind: Kind, query: Query, signal?: AbortSignal): Promise<T> {
		const answer = await this.send('POST', kind, query, 'application/json', signal)
		return (await answer.json()) as T
	}

	/**
	 * The rows are read from the JSON form, of which each row is a line. Unlike the lines of NDJSON it ends with the run: fetch shows no
	 * trailers, and so not the notes and the time of a complete result.
	 */
	async rows(kind: Kind, query: Query, reader: RowsReader, signal?: AbortSignal): Promise<Run> {
		const answer = await this.send('POST', kind, query, 'application/json', signal)
		reader.run?.(Number(answer.headers.get('Weft-Run')))
		const stream = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
		const head = '{"rows":['
		let rest = ''
		let begun = false
		for (;;) {
			const { done, value } = await stream.read()
			if (done) break
			rest += value
			if (!begun) {
				if (rest.length < head.length) continue
				rest = rest.slice(head.length)
				begun = true
			}
			if (rest.startsWith(']')) continue // all rows are read
			const last = rest.indexOf('\n]')
			const end = (last >= 0 ? last : rest.lastIndexOf('\n')) + 1
			if (end > 0) {
				const lines = rest.slice(0, end).trim().replace(/,$/, '')
				rest = rest.slice(end)
				if (lines) await reader.batch(JSON.parse(exact(`[${lines}]`)) as Row[])
			}
		}
		// What is left is the end of the list and the run.
		const run = rest.trim().replace(/^\]\s*,/, '{')
		if (!run.startsWith('{"run":')) throw new Error('The connection ended before the result was complete.')
		return (JSON.parse(run) as { run: Run }).run
	}

	async save(kind: Kind, query: Query, file: File, reader: Pick<RowsReader, 'run'>, signal?: AbortSignal): Promise<Saved> {
		const nameOf = (cut: boolean) => fileName(file.name, file.end, cut)
		const handle = await place(nameOf(file.cut))
		const answer = await this.send('POST', kind, query, file.accept, signal)
		const id = Number(answer.headers.get('Weft-Run'))
		reader.run?.(id)
		if (!handle) {
			const rows = await answer.blob()
			const run = await this.ended(id)
			const name = nameOf(run ? !run.complete : file.cut)
			download(rows, name)
			return { name, run }
		}
		await answer.body!.pipeTo(await handle.createWritable(), { signal })
		const run = await this.ended(id)
		// The user chose the name before anybody knew of the cut. Where the browser can rename the file, its name says so afterwards.
		if (run && !run.complete && !file.cut) {
			await (handle as Movable).move?.(handle.name.replace(/(\.[^.]*)?$/, '-cut$1')).catch(() => undefined)
		}
		return { name: handle.name, run }
	}

	/** How a query ended. CSV and Arrow have no place for it, and fetch shows no trailers. null: the server does not know any more. */
	private async ended(id: number): Promise<Run | null> {
		try {
			const answer = await this.send('GET', `jobs/${id}`)
			return ((await answer.json()) as { run?: Run }).run ?? null
		} catch {
			return null
		}
	}

	/** Credentials are sent by the header alone: a browser that may send its own asks for them in a window. */
	private async send(method: string, path: string, body?: Query | { query: string }, accept = 'application/json', signal?: AbortSignal): Promise<Response> {
		const headers: Record<string, string> = { Accept: accept }
		if (this.credentials) headers.Authorization = this.credentials
		if (body) headers['Content-Type'] = 'application/json'
		const answer = await fetch(`v1/${path}`, { method, headers, body: body && text(body), signal, credentials: 'omit', cache: 'no-store' })
		if (answer.ok) return answer
		throw new ProblemError(await problem(answer))
	}
}

/** JSON in which whole numbers beyond 2^53 are texts: as numbers they would become others. */
export function exact(json: string): string {
	if (!/\d{16}/.test(json)) return json
	return json.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g, m => (m[0] === '"' || Number.isSafeInteger(Number(m)) ? m : `"${m}"`))
}

/** The error of an answer. A proxy may answer with something else than the server's problems. */
async function problem(answer: Response): Promise<Problem> {
	try {
		const p = (await answer.json()) as Problem
		if (typeof p.detail === 'string') return { ...p, retry: Number(answer.headers.get('Retry-After')) || undefined }
	} catch {
		// It is not JSON.
	}
	const title = answer.statusText || 'no reason given'
	return { type: 'about:blank', title, status: answer.status, detail: `The answer has status ${answer.status} (${title}).`, kind: 'internal' }
}

/** A request as JSON, in which whole numbers of 64 bits keep all digits. */
function text(x: Query | { query: string } | Parameter): string {
	if (typeof x === 'bigint') return String(x)
	if (Array.isArray(x)) return `[${x.map(text).join()}]`
	if (typeof x !== 'object' || x === null) return JSON.stringify(x)
	const fields = Object.entries(x as Record<string, Parameter | undefined>)
	return `{${fields.flatMap(([k, v]) => (v === undefined ? [] : [`${JSON.stringify(k)}:${text(v)}`])).join()}}`
}

interface Picker {
	showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>
}

interface Movable extends FileSystemFileHandle {
	/** Not all browsers have it, or for files outside of their own folder. */
	move?(name: string): Promise<void>
}

/** A file that the user chooses, where the browser can write to one; null where it can only download. */
async function place(name: string): Promise<FileSystemFileHandle | null> {
	const { showSaveFilePicker: show } = window as Picker
	return show ? show.call(window, { suggestedName: name }) : null
}

/** Hands a file to the browser's downloads. */
export function download(blob: Blob, name: string) {
	const link = document.createElement('a')
	link.href = URL.createObjectURL(blob)
	link.download = name
	link.click()
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
