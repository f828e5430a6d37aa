package fine

import (
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
)

// maxTables is FINE_TABLES.
const maxTables = 4

// tableShare is the part of the memory that is left which hash tables of
// neighbours may take.
const tableShare = 4

// tables takes memory for the hash tables of the lists in which the plan's checks
// look vertices up, and leaves their addresses in a. fill makes them, which is
// part of the search. Where there is too little memory, lists are searched.
func (r *search) tables(x *session.Exec, a *args) (fill func() error, err error) {
	none := func() error { return nil }
	if !r.opt.hash || r.query != nil || !looksUp(r.prog) {
		return none, nil
	}
	var all []cuda.Buffer
	var bytes int64
	t := struct {
		Pruned [3]uint64
		Tables [maxTables]uint64
	}{}
	for _, g := range r.prog.Globals {
		if g.Kind != kir.Adj || g.Index >= maxTables {
			continue
		}
		n := len(g.Off) - 1
		size := 16 * int64((g.Off[n]+uint64(n)+1)/2+1)
		if size > x.Room()/tableShare {
			r.note("lists are searched: hash tables would take %d MB", size>>20)
			continue
		}
		b, err := x.Scratch("hash tables of neighbours", size)
		if err != nil {
			return nil, err
		}
		t.Tables[g.Index] = b.Ptr
		all = append(all, b)
		bytes += size
	}
	a.Tables = t.Tables
	if len(all) == 0 {
		return none, nil
	}
	k, err := x.Kernel("fine_tables")
	if err != nil {
		return nil, err
	}
	threads := blockThreads
	if x.Info().Emulated {
		threads = 64
	}
	blocks, err := k.Resident(threads, 0)
	if err != nil {
		return nil, err
	}
	return func() error {
		for _, b := range all {
			if err := x.Context().Fill(b, 0xff, x.Stream()); err != nil {
				return err
			}
		}
		t.Pruned = a.Pruned
		return session.Launch(x, k, cuda.Launch{Blocks: max(blocks, 1), Threads: threads}, &t)
	}, nil
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
