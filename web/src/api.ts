/** What the server takes and answers, as openapi.json describes it. */

/** A request of any kind. Fields that the kind does not have are an error of the server. */
export interface Query {
	graph: string
	query?: string
	pattern?: string
	params?: Record<string, Parameter>
	limit?: number
	seconds?: number
	semantics?: 'iso' | 'trail' | 'hom' | ''
	induced?: boolean
	engine?: string
	k?: number
	profile?: boolean
	allow_product?: boolean
	/** Of participation: the vertex of the pattern. */
	vertex?: string
	/** Of motifs: false counts as if edges had no directions. */
	directions?: boolean
	/** A name of the client's choice, by which it finds the query in the list of those that run. */
	tag?: string
}

export type Kind = 'count' | 'match' | 'exists' | 'explain' | 'motifs' | 'participation' | 'info'

/** A cell of a row. Edges are objects with src and dst. Whole numbers beyond 2^53 are texts. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

/** The value of a parameter. Whole numbers have up to 64 bits. */
export type Parameter = Value | bigint
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
	/** The field of the request's body that has the mistake, and the place there. */
	field?: string
	body?: { line: number; column: number; offset: number }
	/** Seconds after which to ask again. */
	retry?: number
}

export class ProblemError extends Error {
	constructor(readonly problem: Problem) {
		super(problem.detail)
	}
}

/** The graphs that a user may read. */
export interface Graphs {
	/** Who asks; empty on a server without users. */
	user: string
	graphs: Graph[]
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
	kind: Kind | 'statement'
	graph: string
	query?: string
	tag?: string
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

/** The levels of a plan. The text of the answer says the rest in words. */
export interface Plan {
	method: string
	order: string[]
	levels: { vertex: string; estimate: number; actual?: Count; seconds?: number }[]
}

export interface ExplainAnswer {
	run: Run
	engine: string
	reason: string
	plan: { plan?: Plan | string[] }
	text: string
	phases?: string[]
	memory?: string[]
	planning_seconds: number
	result?: Result
}

export interface CountAnswer {
	run: Run
	result: Result
}

export interface ExistsAnswer {
	run: Run
	/** null: the search was cut short before it found a match. */
	exists: boolean | null
	result: Result
}

export interface MotifsAnswer {
	run: Run
	results: Result[]
	/** The motif of each result. */
	motifs: Motif[]
}

/** A pattern of which a census has the number. Its vertices count from 0; a directed edge goes from the first to the second. */
export interface Motif {
	name: string
	directed: boolean
	edges: [number, number][]
}

/** What a reader of rows is told. */
export interface RowsReader {
	/** The number of the query, for its events and to cancel it. It comes before the rows. */
	run?(id: number): void
	/** Some rows more. The search waits until the promise is kept. */
	batch(rows: Row[]): void | Promise<void>
}

/** A file to save rows in. */
export interface File {
	/** The form of the rows, a media type. */
	accept: string
	/** The name without its extension. That of a result that is cut short gets "-cut". */
	name: string
	/** The extension, without a dot. */
	end: string
	/** Whether the result is expected to be cut short: where the user chooses the file, its name comes before the rows. */
	cut: boolean
}

export interface Saved {
	/** The name that the file got. */
	name: string
	/** How the query ended; null if the server does not tell. */
	run: Run | null
}

/** The server, as parts of the page use it. All methods throw ProblemError for an error that the server tells. */
export interface Api {
	graphs(): Promise<Graphs>
	/** An answer that is one object. */
	ask<T>(kind: Kind, query: Query, signal?: AbortSignal): Promise<T>
	/** Rows of match or participation, as they are found. */
	rows(kind: Kind, query: Query, reader: RowsReader, signal?: AbortSignal): Promise<Run>
	/** Saves the rows of a query as a file, without keeping them in memory where the browser can do so. */
	save(kind: Kind, query: Query, file: File, reader: Pick<RowsReader, 'run'>, signal?: AbortSignal): Promise<Saved>
}

/** From and to, in UTF-16 code units of the query. The server counts bytes; canvas/units.ts turns them. */
export type Span = [from: number, to: number]

/** A pattern as it can be drawn, with the places of its parts in the query. Texts are as they are written. */
export interface Parts {
	semantics: 'iso' | 'trail' | 'hom'
	induced: boolean
	/** The words between MATCH and the first path; empty where they can be inserted. */
	mode: Span
	/** Group 0 is that of MATCH. */
	groups: PartGroup[]
	vertices: PartVertex[]
	edges: PartEdge[]
	/** In the order of the text. */
	paths: PartPath[]
	/** That of MATCH. */
	where: string
	/** What stands before and after MATCH and its paths. */
	rest: Span[]
	/** Why the places are not known, so that the drawing cannot be edited; empty if they are. */
	fixed: string
}

/** What MATCH, EXISTS or NOT is about. */
export interface PartGroup {
	/** exists and not are what each match must fulfil; a condition is EXISTS in a larger condition, as under OR. */
	kind: 'match' | 'exists' | 'not' | 'condition'
	/** The group around it, or -1. */
	parent: number
	at: Span
	/** Its paths. */
	inside: Span
	where: string
}

/** A vertex. Its labels, properties and condition are those of its own group, from all its places there. */
export interface PartVertex {
	/** Without quotes; empty if it has none. */
	name: string
	labels: string
	properties: string
	where: string
	group: number
	/** Its places in paths, with the parentheses. */
	at: Span[]
	/** Each place of its name. */
	uses: Span[]
}

export interface PartEdge {
	name: string
	from: number
	to: number
	direction: 'any' | 'out'
	labels: string
	properties: string
	where: string
	/** With the star; empty of one edge. */
	length: string
	group: number
	at: Span
	uses: Span[]
}

/** A path. Edge i is between nodes i and i + 1. */
export interface PartPath {
	group: number
	at: Span
	nodes: { vertex: number; at: Span; labels: string; properties: string; where: string }[]
	edges: number[]
}

/** What a graph has, for completion. */
export interface Schema {
	vertex_labels: string[]
	edge_labels: string[]
	vertex_properties: { name: string; type: string }[]
	edge_properties: { name: string; type: string }[]
	edge_times: boolean
}
