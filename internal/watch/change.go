package watch

import (
	"context"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/gql"
)

// identity is the name of the query, and all that it means. It stays as it is when the query is added to a set.
func (q *Query) identity() string {
	if q.id != "" {
		return q.id
	}
	return q.Name + ": " + q.Meaning()
}

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

// Standing returns the queries that a service had at its checkpoint, in their order, and those that a change was about to make the standing
// ones: nil if none was under way. They are taken from qs if they are there, and made again from their texts if they are not. Without texts, of a
// service whose queries did not change, it returns qs. The error wraps ErrCheckpoint.
func (c *Checkpoint) Standing(qs []*Query) (standing, wanted []*Query, err error) {
	if len(c.Texts) != len(c.Of.Queries) {
		return qs, nil, nil
	}
	again := func(texts []Text) ([]*Query, error) {
		out := []*Query{}
		for i := range texts {
			x := &texts[i]
			if k := slices.IndexFunc(qs, func(q *Query) bool { return q.identity() == x.Identity }); k >= 0 {
				out = append(out, qs[k])
				continue
			}
			q, err := x.query()
			if err != nil {
				return nil, fmt.Errorf("%w: its query %s cannot be made again, so that the changes after it are not known: %w", ErrCheckpoint, x.Name, err)
			}
			out = append(out, q)
		}
		return out, nil
	}
	if standing, err = again(c.Texts); err == nil && c.Wanted != nil {
		wanted, err = again(c.Wanted)
	}
	return standing, wanted, err
}

// ask changes the queries if others are wanted. It waits until all sinks are at the present update: the changes that a sink has from before a restart
// are of the queries of that time, so these stay until they have brought them again.
func (s *service) ask(ctx context.Context) error {
	if s.o.Queries == nil || s.behind() {
		return nil
	}
	if qs := s.o.Queries(); qs != nil {
		return s.change(ctx, qs)
	}
	return nil
}

// behind reports whether a sink has changes of updates to come.
func (s *service) behind() bool {
	return slices.ContainsFunc(s.sinks, func(k output) bool { return k.behind(s.mark.Seq) })
}

// change makes some queries the standing ones, between two updates: those of the set that are not among them are dropped, and the others are
// added. If the set refuses one of them, it says so, and all stay as they were. With Options.Present, the matches of a new one are written first.
// The checkpoint before it has both the queries before and after it, so that a service that is killed meanwhile makes the same change again,
// whatever is wanted then.
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
	for _, q := range add {
		if err := s.set.Check(q); err != nil {
			s.remark("%s: %v; the queries stay as they were", q.Name, err)
			return nil
		}
	}
	if s.o.State != nil {
		s.wanted = textsOf(to)
		for range 2 { // both checkpoints of the folder have it, in case one of them is damaged
			if err := s.checkpoint(ctx); err != nil {
				return err
			}
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
			return fmt.Errorf("%s: %w", q.Name, err)
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
	s.half, s.wanted = false, nil
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
