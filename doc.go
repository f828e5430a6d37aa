// Package weft finds every place where a small pattern occurs in a large graph. It counts the
// matches, lists them, or says whether there is one. It runs on all cores or on GPUs.
//
// Open a graph, parse a pattern, and ask:
//
//	g, err := weft.Open(ctx, "graph.txt.gz")
//	q, err := weft.Parse("MATCH (a)--(b)--(c)--(a)")
//	r, err := g.Count(ctx, q)
//	fmt.Println(r.Subgraphs)             // triangles
//	for m, err := range g.Match(ctx, q) { // each triangle
//		fmt.Println(m.ID("a"), m.ID("b"), m.ID("c"))
//	}
//
// [FromEdges], [FromRecords] and [Read] make graphs of data in memory or from a stream. A [Match]
// also has the items of the query's RETURN and the chosen data edges.
//
// A [Runtime] owns the resources that searches share: open GPUs, compiled code and threads. [Open]
// and the other functions of the package use one runtime for the whole process. A program that
// wants other devices, folders or limits for some of its graphs makes a runtime for them, and
// opens them with its methods:
//
//	rt := weft.NewRuntime(weft.RuntimeOptions{Device: "gpu:1", CacheDir: "/var/cache/job"})
//	defer rt.Close()
//	g, err := rt.Open(ctx, "graph.txt.gz")
//
// A pattern's names are distinct vertices unless the text says otherwise (MATCH DIFFERENT EDGES,
// MATCH REPEATABLE ELEMENTS). Counts are exact, and there are two kinds. Embeddings are the ways
// to map the pattern's names to vertices. Subgraphs are the embeddings up to the pattern's own
// symmetries.
//
// A [Matcha] is a program for matching algorithms that a pattern cannot express.
//
// A context ends any call. The call then returns the results so far, marked as not complete, with
// the context's error. By errors.Is, that error is both ctx.Err() and context.Cause(ctx). A loop
// over an iterator may be left at any time.
//
// Errors wrap one of ErrUsage, ErrInput, ErrQuery, ErrMemory and ErrDevice if they are of that
// kind. An [InputError] and a [QueryError] have the place of the mistake in fields. A call accepts
// only options that concern it; another option is an error of kind ErrUsage.
package weft
