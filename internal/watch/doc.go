// Package watch reports how the matches of standing queries change while updates change a graph.
//
// A Set has the queries and the graph. It turns the deltas of the matcher into changes, in users' ids and in an order that does not depend
// on batches, threads or internal ids. Run is the service around a Set:
//
//   - a source reads updates ahead, up to a bound, and so holds its producer back;
//   - a batch is all updates that wait, up to a bound: one update when the stream is slow, many when it is fast;
//   - an output writes changes;
//   - checkpoints bring the position in the source and the length of the output to the disk together, so that a service that was killed
//     continues with neither loss nor repetition;
//   - a meter measures rates and response times.
//
// The package knows queries, changing graphs, updates and output formats. It must not know how matches are found.
package watch
