package fine

import (
	"context"
	"errors"
	"math"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
)

// maxTables is FINE_TABLES.
const maxTables = 4

// bitsShare is the part of a device's memory that rows of bits may take by
// themselves. They need not fit L2, since most look-ups ask hubs, and a row is a
// few lines: on an H200 the 826 MB of ego-twitter made P5 to P8 2.5 to 6 times as
// fast as hash tables did (docs/gpu.md).
const bitsShare = 32

// tableShare is the part of the memory that is left which hash tables of
// neighbours may take.
const tableShare = 4

// tableSlice is how many entries of lists one launch puts into tables: some
// milliseconds, between which a run can be stopped.
const tableSlice = 1 << 26

// tabling is struct Tabling without what every kernel gets.
type tabling struct {
	Pruned     [3]uint64
	Tables     [maxTables]uint64
	First, End uint64
}

// looksUpBits reports whether lists are rows of bits: where all of them take at most
// so many bytes, or where that is asked for.
func (r *search) looksUpBits(most int64) bool {
	if r.query != nil || r.opt.lookup != lookupAuto && r.opt.lookup != lookupBits {
		return false
	}
	bytes := int64(0)
	for _, g := range r.prog.Globals {
		if g.Kind != kir.Adj {
			continue
		}
		one := bitBytes(g)
		if g.Index >= maxTables || one/4 > math.MaxUint32 {
			return false
		}
		bytes += one
	}
	return r.opt.lookup == lookupBits || bytes <= most
}

// bitBytes is the size of adjacency g as rows of bits, hashBytes as hash tables.
func bitBytes(g *kir.GlobalDef) int64 {
	n := int64(len(g.Off) - 1)
	return max(4*n*((n+31)/32), 4)
}

func hashBytes(g *kir.GlobalDef) int64 {
	n := len(g.Off) - 1
	return 16 * int64((g.Off[n]+uint64(n)+1)/2+1)
}

// tables leaves the addresses of rows of bits or hash tables in a, of the lists in
// which the plan's checks look vertices up. They depend on the graph alone and stay on the
// device with it; those of pruned lists are of one run, and fill makes them as a
// part of the search. Where there is too little memory for hash tables, lists are
// searched.
func (r *search) tables(x *session.Exec, a *args) (fill func() error, err error) {
	fill = func() error { return nil }
	if r.opt.lookup == lookupSearch || r.query != nil || !looksUp(r.prog) {
		return fill, nil
	}
	for _, g := range r.prog.Globals {
		if g.Kind != kir.Adj || g.Index >= maxTables {
			continue
		}
		what, size := "hash tables of neighbours", hashBytes(g)
		if r.bits {
			what, size = "neighbours as bits", bitBytes(g)
		} else if size > x.Room()/tableShare {
			r.note("lists are searched: hash tables would take %d MB", size>>20)
			continue
		}
		var b cuda.Buffer
		if r.prunes() {
			b, err = x.Scratch(what, size)
			fill = func() error { return r.fillTables(x, b, g, a.Pruned) }
		} else {
			b, _, err = x.Keep(what, g.Off, size, func(b cuda.Buffer) (any, error) {
				return nil, errors.Join(r.fillTables(x, b, g, [3]uint64{}), x.Stream().Synchronize())
			})
		}
		if err != nil {
			return nil, err
		}
		a.Tables[g.Index] = b.Ptr
	}
	return fill, nil
}

// fillTables makes the rows of bits or hash tables of adjacency g in b, or those of the pruned lists
// that stand for it. A run that is to stop leaves with an error.
func (r *search) fillTables(x *session.Exec, b cuda.Buffer, g *kir.GlobalDef, pruned [3]uint64) error {
	k, err := x.Kernel("fine_tables")
	if err != nil {
		return err
	}
	threads := blockThreads
	if x.Info().Emulated {
		threads = 64
	}
	blocks, err := k.Resident(threads, 0)
	if err != nil {
		return err
	}
	empty := byte(0xff)
	if r.bits {
		empty = 0
	}
	if err := x.Context().Fill(b, empty, x.Stream()); err != nil {
		return err
	}
	t := tabling{Pruned: pruned}
	t.Tables[g.Index] = b.Ptr
	for n := g.Off[len(g.Off)-1]; t.First < n; t.First = t.End {
		if t.First > 0 {
			if err := errors.Join(x.Stream().Synchronize(), context.Cause(r.ctx)); err != nil {
				return err
			}
		}
		t.End = min(t.First+tableSlice, n)
		if err := prepare(r, x, k, cuda.Launch{Blocks: max(blocks, 1), Threads: threads}, &t); err != nil {
			return err
		}
	}
	return nil
}

// looksUp reports whether the checks of prog ask who is in a list.
func looksUp(prog *kir.Program) bool {
	found := false
	for _, f := range prog.Funcs {
		kir.WalkStmts(f.Body, func(s kir.Stmt) {
			kir.StmtExprs(s, func(x kir.Expr) {
				c, ok := x.(kir.Call)
				found = found || ok && c.Fn == kir.Adjacent
			})
		})
	}
	return found
}
