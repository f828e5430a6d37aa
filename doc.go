// Package weft finds every place where a small pattern occurs in a large graph:
// counted, listed, or asked for once, on all cores or on GPUs, with answers that
// say what they mean.
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
// [FromEdges], [FromRecords] and [Read] make graphs of what is in memory or comes from a
// stream. A [Match] also has the items of the query's
// RETURN and the data edges that were chosen.
//
// A [Runtime] owns what searches share: open GPUs, compiled code and threads. [Open] and the other
// functions of the package use one runtime for the whole process. A program that wants other
// devices, folders or limits for some of its graphs makes a runtime for them, and opens them with
// its methods:
//
//	rt := weft.NewRuntime(weft.RuntimeOptions{Device: "gpu:1", CacheDir: "/var/cache/job"})
//	defer rt.Close()
//	g, err := rt.Open(ctx, "graph.txt.gz")
//
// A pattern's names are distinct vertices unless the text says otherwise (MATCH
// DIFFERENT EDGES, MATCH REPEATABLE ELEMENTS). Counts are exact and come in two
// kinds: embeddings, the ways to map the pattern's names, and subgraphs, the
// embeddings up to the pattern's own symmetries.
//
// A Matcha is a program that says how to match, for what a pattern cannot say.
//
// Contexts cancel everything; what was found until then is returned with the
// context's error and marked as not complete. That error is, by errors.Is, both
// ctx.Err() and context.Cause(ctx). Iterators may be left at any time.
// Errors wrap one of ErrUsage, ErrInput, ErrQuery, ErrMemory and ErrDevice where
// they are of that kind. An [InputError] and a [QueryError] have the place of the mistake
// in fields. A call takes the options that concern it; another one is an error.
package weft
