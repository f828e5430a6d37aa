// Package serve answers queries of many clients in graphs that stay open. It is the part of weft serve that all protocols share.
//
//   - A Catalog has graphs by name. Graphs are added, reloaded and dropped while queries in the old ones finish.
//   - Users knows passwords, tokens and rights.
//   - A Server runs queries: it checks a Request, lets it wait for its turn, runs it within limits, and lists, follows and cancels it.
//
// A protocol makes an Identity of its client's credentials, calls Server.Begin for each request, and takes the answer from the Run:
//
//	run, err := s.Begin(ctx, who, serve.Request{Kind: serve.Match, Graph: "payments", Query: text, Params: params})
//	if err != nil { … }            // an *Error, or an error of the library
//	defer run.Close()
//	for m, err := range run.Rows() { … }
//	sum := run.Summary()           // the number of rows, the times, and whether the result was cut short, and why
//
// It knows the root package, and writes rows of programs by package sink. It must not know a protocol.
package serve
