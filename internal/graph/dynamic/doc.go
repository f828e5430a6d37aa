// Package dynamic holds a graph that changes by one update at a time. It can be read at each version of a window of updates.
//
// Versions. Each update makes a version, also one that changes nothing. Between Begin and Settle the graph can be read at any
// version since Begin. An update then leaves marks: from this version on, this entry of this list is turned round. So an entry is in
// the list at version k if it is in the settled list, turned round once for each of its marks up to k. The marks of a vertex are
// a sorted list, and a vertex without marks is read as the settled list itself. Settle brings the marks into the lists. Outside a
// window updates change the lists at once. A Follower sees updates one by one: it gets a window of one update only where it needs
// both versions. Views of a window may be read by many goroutines while nothing changes the graph.
//
// Why: marks that turn an entry round need half of the room of entries with the versions of their birth and death, and an edge
// that is added and removed many times in a window is not a special case.
//
// Vertices. Internal ids are given by class, the set of a vertex's labels. A class has a range of ids with room to grow, and gets another
// range if that is full. So the neighbours of a class are a slice of a sorted list, or seldom several. A vertex with other labels
// moves to another id, at a version of its own. Ids of removed vertices are used again after the window.
//
// A user's number that is not much larger than the number of vertices is a place in an array; other numbers, and texts, are hashed.
//
// Why: pages of ids that belong to classes in turn would keep ids dense, but lists sorted by class would have to look pages up for
// each comparison.
//
// Lists. A vertex has one list of its neighbours in each direction. If its edges have several labels, a directory has a list for
// each of them too. An arena gives memory to lists, in chunks. If more than an eighth of it is free, each update moves some lists out of
// the chunk that has the fewest, in proportion to the memory that it gave back.
//
// The lists are in shards, each with an arena, directories and marks of its own. The vertices of one page of ids are in one shard, and pages take
// turns. Make makes the changes of a batch of updates, as its caller's workers, each of which changes other shards. One end of an edge decides whether
// the graph has it, and then the other end follows. A graph that begins small has one shard, so that it is small in memory.
//
// Why: each block in the arena names its owner, so that a chunk is cleaned without a scan of the graph. This is how file systems
// with logs clean their segments. Arrays by id are tables of pages, and hash tables split one chain at a time. So no
// update takes a pause in proportion to the graph: it takes time in proportion to the lists that it changes.
//
// Late changes. A caller that looks at some edges only may put off changes of the others: both ends of each are written into logs, which are made by
// vertex. Whatever reads other lists makes them first (late.go). In a graph whose edges all have rows only the entries in lists are put off, and rows are changed
// at once.
//
// Windows without marks. If nobody reads lists at the versions of a window, Record opens one in which lists change at once. Remember gives it marks later, if somebody
// does need them (record.go).
//
// Times and properties. An edge with a time or a property has a row: a number, under which its time and its values are found. An
// index finds the rows between two vertices. Edges of equal ends and label and of distinct times are distinct edges, of which
// each list has one entry. A row that a window makes or removes has a tag with its versions. A property that a window changes
// keeps its old values until the window ends. Rows with times are in a queue by time too, for sliding windows. In a graph without
// times each edge has a row if three of four edges that it begins with have properties, or if its first edge has one. Otherwise only edges with properties have rows.
//
// Why: if each edge has a row, the index says which edges there are, and nobody has to read a list for that.
//
// Files. WriteTo writes the state between windows, and Read reads it.
//
// Why: a .weft file of a Snapshot would do for the graph, but not for its internal ids. A graph that goes on from a file gives the same
// ids and events in the same order as one that was never stopped, so matches found in their order have the same order too. It is also read
// without sorting.
//
// The package knows static graphs, from which a Graph begins and which a View gives as a Snapshot. It must not know patterns, plans,
// engines or formats of updates.
package dynamic
