package watch

import (
	"context"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/gql"
)

// identity is the name of the query, and all that it means.
func (q *Query) identity() string { return q.Name + ": " + q.Meaning() }

// Identities are the names and meanings of queries, for Identity. A dropped one has none.
func Identities(qs []*Query) []string {
	out := []string{}
	for _, q := range qs {
		if q != nil {
			out = append(out, q.identity())
		}
	}
	return out
}

// Kept splits queries into those that a service had at its checkpoint, in the order in which it had them, and others. places are those of the
// first among the queries of the checkpoint.
func (c *Checkpoint) Kept(qs []*Query) (kept []*Query, places []int) {
	for i, id := range c.Of.Queries {
		if k := slices.IndexFunc(qs, func(q *Query) bool { return q.identity() == id }); k >= 0 {
			kept, places = append(kept, qs[k]), append(places, i)
		}
	}
	return kept, places
}

// ask changes the queries if others are wanted.
func (s *service) ask(ctx context.Context) error {
	if s.o.Queries == nil {
		return nil
	}
	if qs := s.o.Queries(); qs != nil {
		return s.change(ctx, qs)
	}
	return nil
}

// change makes some queries the standing ones, between two updates: those of the set that are not among them are dropped, and the others are
// added. With Options.Present, the matches of a new one are written first. Checkpoints before and after it have the queries before and after
// it, so that a service that is killed meanwhile does it again.
func (s *service) change(ctx context.Context, to []*Query) error {
	var add []*Query
	for _, q := range to {
		if !slices.Contains(s.o.Of.Queries, q.identity()) {
			add = append(add, q)
		}
	}
	wanted := Identities(to)
	var drop []*Query
	for _, q := range s.set.queries {
		if q != nil && !slices.Contains(wanted, q.identity()) {
			drop = append(drop, q)
		}
	}
	if len(add)+len(drop) == 0 {
		return nil
	}
	if s.o.State != nil && s.dirty {
		if err := s.checkpoint(ctx); err != nil {
			return err
		}
	}
	s.half = true
	for _, q := range drop {
		if err := s.set.Drop(q.Name); err != nil {
			return err
		}
		s.remark("%s is dropped after update %d", q.Name, s.mark.Seq)
	}
	for _, q := range add {
		if err := s.set.Add(q, false); err != nil {
			s.remark("%s: %v", q.Name, err)
			continue
		}
		s.remark("%s is new after update %d", q.Name, s.mark.Seq)
		for _, text := range s.set.Unknown(q) {
			s.remark("%s", text)
		}
		n := len(s.set.queries) - 1
		for len(s.counts) <= n {
			s.counts = append(s.counts, Counts{})
		}
		if s.o.Present && q.Emit != gql.EmitRemoved {
			if err := s.set.Present(ctx, n, s.mark.Seq, s.emit); err != nil {
				return err
			}
		}
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.half = false
	s.o.Of.Queries = Identities(s.set.queries)
	if s.o.State != nil {
		return s.checkpoint(ctx)
	}
	return nil
}

// remark gives a remark.
func (s *service) remark(format string, a ...any) {
	if s.o.Note != nil {
		s.o.Note(fmt.Sprintf(format, a...))
	}
}

// standing are the counts of the queries that are not dropped.
func (s *service) standing() (out []Counts) {
	for i, q := range s.set.queries {
		if q != nil {
			out = append(out, s.counts[i])
		}
	}
	return out
}
