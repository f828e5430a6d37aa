// Package bolt speaks Bolt 5.0 to 5.8, the protocol of Neo4j's drivers, in front of a Backend that answers queries.
//
// A connection has two goroutines. One reads messages, and ends the search at once when a RESET comes or the client goes. The other
// answers the messages in their order. Rows are pulled from the backend only when the client asks for them, and are encoded straight
// into the connection's one buffer. So a client that stops reading stops the search, and holds no more than that buffer.
//
// It knows messages, states, status codes and the procedures that tools call. It must not know graphs, the pattern language or the
// library.
//
// The specification is at neo4j.com/docs/bolt.
package bolt
