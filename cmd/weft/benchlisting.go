package main

import (
	"context"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench"
)

// listing is what a contestant has listed of a query: the number of rows and the sum of their hashes, which do not depend on
// their order.
type listing struct {
	rows, sum uint64
	done      bool  // it has ended
	agrees    bool  // with the first one that has ended, and with the count
	err       error // that ended it early
}

// list has each variant list the embeddings of a query, if it has counted at most as many as --listing says, and compares the listings.
func (f *benchJoinFlags) list(ctx context.Context, g *weft.Graph, m *measured, variants []variant) {
	m.listings = make([]listing, len(variants))
	for i, v := range variants {
		r := &m.rows[i]
		if n, err := strconv.ParseUint(r.Answer, 10, 64); r.Err == nil && err == nil && n <= uint64(f.listing) {
			m.listings[i] = f.listOnce(ctx, g, m.text, v)
		}
	}
	compareListings(m.rows, m.listings)
}

// compareListings says which listings agree.
func compareListings(rows []bench.Row, all []listing) {
	first := slices.IndexFunc(all, func(l listing) bool { return l.done })
	for i := range all {
		l := &all[i]
		l.agrees = l.done && l.rows == all[first].rows && l.sum == all[first].sum && strconv.FormatUint(l.rows, 10) == rows[i].Answer
	}
}

// listOnce lists a query's embeddings once. A listing with more rows than --listing, as a wrong one may have, ends there.
func (f *benchJoinFlags) listOnce(ctx context.Context, g *weft.Graph, text string, v variant) (l listing) {
	q, err := weft.Parse(text)
	if err != nil {
		return listing{err: err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.limit, errTimeout)
	defer cancel()
	options := weft.Concerning("Graph.Match", slices.Concat(f.commonFlags.options(), v.options, []weft.Option{weft.WithList(weft.Embeddings)})...)
	for match, err := range g.Match(ctx, q, options...) {
		if err != nil {
			l.err = err
			return l
		}
		l.rows++
		l.sum += rowHash(match.IDs())
		if l.rows > uint64(f.listing) {
			break
		}
	}
	l.done = true
	return l
}

// rowHash is a hash of a row's ids in their order.
func rowHash(ids []string) uint64 {
	h := fnv.New64a()
	for _, id := range ids {
		h.Write([]byte(id))
		h.Write([]byte{0})
	}
	// Sums of FNV's values would keep too much of the rows: their bits are mixed (the finalizer of 64-bit MurmurHash3).
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
