/** What the server takes and answers, as openapi.json describes it. */

/** A request of any kind. Fields that the kind does not have are an error of the server. */
export interface Query {
	graph: string
	query?: string
	pattern?: string
	params?: Record<string, Value>
	limit?: number
	seconds?: number
	semantics?: 'iso' | 'trail' | 'hom' | ''
	induced?: boolean
	engine?: string
	k?: number
	profile?: boolean
	allow_product?: boolean
}

export type Kind = 'count' | 'match' | 'exists' | 'explain' | 'motifs' | 'participation' | 'info'

/** A cell of a row. Edges are objects with src and dst. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }
export type Row = Record<string, Value>

/** How a query ended. */
export interface Run {
	id: number
	complete: boolean
	cut?: string
	rows?: number
	waited_seconds: number
	seconds: number
	notes?: string[]
	error?: Problem
}

/** An error, as in RFC 9457. Line and column count from 1; the offset is in bytes from 0, the length in bytes. */
export interface Problem {
	type: string
	title: string
	status: number
	detail: string
	kind: string
	line?: number
	column?: number
	offset?: number
	length?: number
	caret?: string
	expected?: string
	suggestion?: string
}

export class ProblemError extends Error {
	constructor(readonly problem: Problem) {
		super(problem.detail)
	}
}

export interface Graph {
	name: string
	vertices: number
	edges: number
	directed: boolean
	vertex_labels: number
	edge_labels: number
	version: number
	queries: number
	replaced: boolean
}

/** How far a query is; done of total parts of the search, total 0 if it is not known. */
export interface Status {
	id: number
	kind: Kind
	graph: string
	query?: string
	state: 'waiting' | 'running' | 'done'
	seconds: number
	waited_seconds: number
	rows: number
	done: number
	total: number
}

/** A count is a number up to 2^53, or its digits as text beyond. */
export type Count = number | string | null

export interface Result {
	query: string
	semantics: string
	induced?: boolean
	subgraphs: Count
	embeddings: Count
	automorphisms: Count
	complete: boolean
	engine: string
	device: string
	seconds: Record<string, number>
	notes?: string[]
}

export interface ExplainAnswer {
	run: Run
	engine: string
	reason: string
	plan: Record<string, unknown>
	text: string
	phases?: string[]
	memory?: string[]
	planning_seconds: number
	result?: Result
}

export interface MotifsAnswer {
	run: Run
	results: Result[]
}

/** What a reader of rows is told. */
export interface RowsReader {
	/** The number of the query, for its events and to cancel it. It comes before the rows. */
	run?(id: number): void
	/** Some rows more. The search waits until the promise is kept. */
	batch(rows: Row[]): void | Promise<void>
}

/** The server, as parts of the page use it. All methods throw ProblemError for an error that the server tells. */
export interface Api {
	graphs(): Promise<Graph[]>
	/** An answer that is one object. */
	ask<T>(kind: Kind, query: Query, signal?: AbortSignal): Promise<T>
	/** Rows of match or participation, as they are found. */
	rows(kind: Kind, query: Query, reader: RowsReader, signal?: AbortSignal): Promise<Run>
	/** Saves the rows of a query as a file in a format (a media type), without keeping them in memory where the browser can do so. */
	save(kind: Kind, query: Query, accept: string, name: string): Promise<void>
}

/** Offsets in UTF-16 code units; the API says bytes. */
export type Span = [from: number, to: number]

/** What a query draws, as POST /v1/parse answers it. */
export interface Parts {
	semantics: string // 'iso' | 'hom' | 'trail'
	induced: boolean
	groups: { kind: string; parent: number; at: Span }[] // kinds: match, not, exists, …; group 0 is the MATCH
	vertices: { name: string; labels: string; properties: string; group: number; at: Span[] }[] // texts as written; at: all places of the node in the text
	edges: { name: string; from: number; to: number; direction: 'any' | 'out'; labels: string; properties: string; length: string; group: number; at: Span }[]
	where: string
	rest: Span[] // what is not drawn
	fixed: string // why the drawing cannot be edited, '' if it can
}

/** The names in a graph. */
export interface Schema {
	vertex_labels: string[]
	edge_labels: string[]
	vertex_properties: { name: string; type: string }[]
	edge_properties: { name: string; type: string }[]
	edge_times: boolean
}
