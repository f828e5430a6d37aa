package fine

import (
	"context"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/kir"
)

// looksUpBits reports whether the plan's lists are rows of bits. They are if the option says
// so, or if they fit devices of that much memory and take a small part of it.
func (r *program) looksUpBits(lists *kir.Program, memory int64) bool {
	switch r.opt.lookup {
	case membership.Auto:
		other := int64(0)
		if r.prunes() {
			other = membership.ListBytes(lists)
		}
		return membership.WorthBits(lists, memory, other)
	case membership.Bits:
		return membership.FitBits(lists, 1<<62)
	}
	return false
}

// maker makes the tables of the run.
func (r *search) maker() *membership.Maker {
	return &membership.Maker{
		Program: r.code.Program, Bits: r.bits, Threads: blockThreads, Note: r.Notes.Add, Ran: &r.prepared,
		Stop: func() error { return context.Cause(r.ctx) },
	}
}

// tables leaves the addresses of rows of bits or hash tables in a, of the lists in
// which the plan's checks look vertices up. Those of pruned lists are of one run, and
// fill makes them as a part of the search.
func (r *search) tables(x *session.Exec, a *args) (fill func() error, err error) {
	fill = func() error { return nil }
	if r.opt.lookup == membership.Search || r.indexed || !membership.Asked(r.code.Program) {
		return fill, nil
	}
	m := r.maker()
	if !r.prunes() {
		a.Tables, err = m.Keep(x)
		return fill, err
	}
	err = m.Each(x, func(g *kir.GlobalDef, what string, bytes int64) error {
		b, err := x.Scratch(what, bytes)
		fill = func() error { return m.Fill(x, b, g, a.Pruned) }
		a.Tables[g.Index] = m.Address(g, b)
		return err
	})
	return fill, err
}
