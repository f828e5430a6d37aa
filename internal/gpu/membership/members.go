// Package membership builds lookup tables on a GPU, so that a kernel tests u ∈ N(v) with one
// load. The tables are bit rows or hash tables, and stay on the device with the graph
// (membership/membership.cuh).
//
// It knows kernel programs and sessions. It must not know any single engine.
package membership

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/kir"
)

// Lookup is the way in which a kernel tests membership in a neighbour list.
type Lookup int

// Lookups.
const (
	Auto   Lookup = iota
	Bits          // by its row of bits
	Hash          // by its hash table
	Search        // by binary search
)

// Lookups are their names in their order, as switches have them.
var Lookups = []string{"auto", "bits", "hash", "search"}

// LookupOf returns the value of an option that has Lookups as its values.
func LookupOf(v option.Values, name string) Lookup {
	return option.Pick(v, name, map[string]Lookup{"auto": Auto, "bits": Bits, "hash": Hash, "search": Search})
}

// Options are the lengths from which lists are looked up in other ways. They are for tests, whose
// random graphs have short lists only.
var Options = option.Table{
	{Name: "membership.short", Default: "0", Most: math.MaxInt32, Hidden: true, Meaning: "MEMBER_SHORT: the longest lists that are searched though there are hash tables; 0: as the kernels have it"},
	{Name: "membership.long", Default: "128", Most: math.MaxInt32, Hidden: true, Meaning: "the mean length, over arcs, of the target's list from which lists count as long"},
}

// Lengths are the values of Options.
type Lengths struct {
	short int
	// Bisection of a long list takes many dependent loads, and most tests fail, so a filter is
	// worth its load.
	long float64
}

// ReadLengths returns the lengths that the options name. The error wraps option.Err.
func ReadLengths(opt map[string]string) (Lengths, error) {
	v, err := Options.Read(opt)
	if err != nil {
		return Lengths{}, err
	}
	return Lengths{v.Number("membership.short"), float64(v.Number("membership.long"))}, nil
}

// Text defines the macros of membership/membership.cuh, for a program and for tables that are rows
// of bits, or hash tables.
func (n Lengths) Text(prog *kir.Program, bits bool) string {
	if bits {
		return "#define MEMBER_BITS\n"
	}
	text := ""
	if n.short > 0 {
		text = fmt.Sprintf("#define MEMBER_SHORT %d\n", n.short)
	}
	if slices.ContainsFunc(prog.Globals, func(g *kir.GlobalDef) bool { return g.Kind == kir.Adj && n.Long(g) }) {
		text += "#define MEMBER_FILTERED\n"
	}
	return text
}

// sampled is how many arcs meanList looks at: a pass over all vertices, at each of several
// questions about one plan, would take longer than lowering it.
const sampled = 2048

// Long reports whether the lists of an adjacency are long.
func (n Lengths) Long(g *kir.GlobalDef) bool {
	if g.Sparse != nil {
		return meanList(g.Sparse.Off) >= n.long
	}
	return len(g.Off) > 0 && meanList(g.Off) >= n.long
}

// meanList is about the mean length of the lists that begin at off, each as often as it
// has entries.
func meanList[T uint32 | uint64](off []T) float64 {
	arcs := uint64(off[len(off)-1])
	sum := uint64(0)
	for k := range uint64(sampled) {
		at := arcs/sampled*k + arcs%sampled*k/sampled
		i := sort.Search(len(off)-1, func(v int) bool { return uint64(off[v+1]) > at })
		if i+1 < len(off) {
			sum += uint64(off[i+1] - off[i])
		}
	}
	return float64(sum) / sampled
}

// Tables is MEMBER_TABLES: the adjacencies that can have a table.
const Tables = 4

// BitsShare says that rows of bits may take 1/BitsShare of a device's memory. They need not fit
// L2, because most look-ups are for hubs, and a row is a few cache lines.
//
// Why: on an H200 the 826 MB of rows of ego-twitter made P5 to P8 2.5 to 6 times as fast as
// hash tables did (docs/gpu.md).
const BitsShare = 32

// hashShare is the part of the memory that is left which hash tables of
// neighbours may take, and rows of bits that nobody asked for: the search takes
// memory too.
const hashShare = 4

// slice is how many entries of lists one launch puts into tables: some
// milliseconds, between which a run can be stopped.
const slice = 1 << 26

// tabling is struct Tabling without the arguments that every kernel gets.
type tabling struct {
	Instead    [3]uint64
	Tables     [Tables]uint64
	First, End uint64
	Lists, _   uint32
}

// FitBits reports whether the rows of bits of all lists of prog fit `most` bytes.
func FitBits(prog *kir.Program, most int64) bool {
	bytes := int64(0)
	for _, g := range prog.Globals {
		if g.Kind != kir.Adj {
			continue
		}
		one := bitBytes(g)
		if g.Index >= Tables || one/4 > math.MaxUint32 {
			return false
		}
		bytes += one
	}
	return bytes <= most
}

// WorthBits reports whether rows of bits of all lists of prog are the better choice on a device
// with `memory` bytes. A run takes `other` bytes besides the lists and rows. They must fit, and
// take a small share.
func WorthBits(prog *kir.Program, memory, other int64) bool {
	return FitBits(prog, memory/BitsShare) && FitBits(prog, (memory-ListBytes(prog)-other)/hashShare)
}

// ListBytes is the number of bytes that the lists of prog take on a device.
func ListBytes(prog *kir.Program) (bytes int64) {
	seen := map[any]bool{} // two adjacencies may be the same lists
	for _, g := range prog.Globals {
		if g.Kind != kir.Adj || g.Sparse == nil && len(g.Off) == 0 {
			continue
		}
		var key any
		if g.Sparse != nil {
			key = &g.Sparse.Off[0]
		} else {
			key = &g.Off[0]
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		bytes += 4 * int64(len(g.Adj))
		if g.Sparse != nil {
			bytes += 4 * int64(len(g.Sparse.Words)+len(g.Sparse.Off))
			continue
		}
		bytes += 8 * int64(len(g.Off))
		if g.Oriented || g.First != nil {
			bytes += 8 * int64(len(g.Off)-1)
		}
	}
	return bytes
}

// FitHash reports whether `memory` bytes have room for the lists of prog and for the hash
// tables of all lists that can have one.
func FitHash(prog *kir.Program, memory int64) bool {
	for _, g := range prog.Globals {
		if g.Kind == kir.Adj {
			memory -= 4 * int64(len(g.Adj))
		}
	}
	for _, g := range prog.Globals {
		if g.Kind == kir.Adj && g.Index < Tables {
			if hashBytes(g) > memory/hashShare {
				return false
			}
			memory -= hashBytes(g)
		}
	}
	return true
}

// sizes is the number of lists of g that are stored, and of their entries.
func sizes(g *kir.GlobalDef) (lists int, entries uint64) {
	if s := g.Sparse; s != nil {
		lists = len(s.Off) - 1
		return lists, uint64(s.Off[lists])
	}
	lists = len(g.Off) - 1
	return lists, g.Off[lists]
}

// bitBytes is the size of adjacency g as rows of bits, hashBytes as hash tables.
func bitBytes(g *kir.GlobalDef) int64 {
	rows, _ := sizes(g)
	if g.Sparse != nil {
		rows++ // that of vertices without a list
	}
	return max(4*int64(rows)*((int64(g.Vertices())+31)/32), 4)
}

func hashBytes(g *kir.GlobalDef) int64 { return filterBytes(g) + 16*buckets(g) }

// buckets is the number of buckets of all tables of adjacency g. filterBytes is the size of the
// filter before them, one word for each bucket.
func buckets(g *kir.GlobalDef) int64 {
	lists, entries := sizes(g)
	return int64((entries+uint64(lists)+1)/2 + 1)
}

func filterBytes(g *kir.GlobalDef) int64 { return (8*buckets(g) + 255) &^ 255 }

// Address is where kernels find the table of adjacency g that is in b.
func (m *Maker) Address(g *kir.GlobalDef, b cuda.Buffer) uint64 {
	if m.Bits {
		return b.Ptr
	}
	return b.Ptr + uint64(filterBytes(g))
}

// Asked reports whether functions of prog test membership in a list.
func Asked(prog *kir.Program) bool {
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

// Maker makes the tables of a run.
type Maker struct {
	Program *kir.Program
	Bits    bool
	// Threads of a block of the kernel that fills them.
	Threads int
	// Stop gives the reason to leave the filling unfinished, if there is one.
	Stop func() error
	// Note is called with a message for each table that does not fit.
	Note func(format string, args ...any)
	// Ran counts the launches: kernels say that they ran in the run's counter
	// USER_RAN.
	Ran *atomic.Uint64
}

// Each calls table for each adjacency of the program that gets a table, with the table's name
// and size. If there is too little memory for hash tables, lists are searched.
func (m *Maker) Each(x *session.Exec, table func(g *kir.GlobalDef, what string, bytes int64) error) error {
	for _, g := range m.Program.Globals {
		if g.Kind != kir.Adj || g.Index >= Tables {
			continue
		}
		what, size := "hash tables of neighbours", hashBytes(g)
		if m.Bits {
			what, size = "neighbours as bits", bitBytes(g)
		} else if size > x.Room()/hashShare {
			m.Note("lists are searched: hash tables would take %d MB", size>>20)
			continue
		}
		if err := table(g, what, size); err != nil {
			return err
		}
	}
	return nil
}

// Keep makes the tables of the program's own lists, and returns their addresses, 0 for none.
// They depend on the graph alone, and stay on the device with it. The job's text must include
// membership/fill.cuh. It allocates device memory, and blocks until the tables are made.
func (m *Maker) Keep(x *session.Exec) (at [Tables]uint64, err error) {
	err = m.Each(x, func(g *kir.GlobalDef, what string, bytes int64) error {
		b, _, err := x.Keep(what, g, bytes, func(b cuda.Buffer) (any, error) { return nil, m.whole(x, b, g) })
		at[g.Index] = m.Address(g, b)
		return err
	})
	return at, err
}

// whole fills b with the table of adjacency g. It fails if the device left out a launch,
// because later runs take the contents of b for the table.
func (m *Maker) whole(x *session.Exec, b cuda.Buffer, g *kir.GlobalDef) error {
	if err := x.Stream().Synchronize(); err != nil {
		return err
	}
	before, err := x.User(gpu.Counter)
	if err != nil {
		return err
	}
	launches, err := m.fill(x, b, g, [3]uint64{})
	if err := errors.Join(err, x.Stream().Synchronize()); err != nil {
		return err
	}
	after, err := x.User(gpu.Counter)
	if err == nil && after-before != launches {
		err = &cuda.Error{Op: "tables of members", Kind: cuda.ErrLaunch, Text: fmt.Sprintf("%d of %d kernels ran", after-before, launches)}
	}
	return err
}

// Fill makes in b the table of adjacency g or, if `instead` is given, of those lists (a struct
// Adj). A run that must stop returns an error.
func (m *Maker) Fill(x *session.Exec, b cuda.Buffer, g *kir.GlobalDef, instead [3]uint64) error {
	_, err := m.fill(x, b, g, instead)
	return err
}

// fill is Fill, and counts its launches.
func (m *Maker) fill(x *session.Exec, b cuda.Buffer, g *kir.GlobalDef, instead [3]uint64) (launches uint64, err error) {
	k, err := x.Kernel("fill_members")
	if err != nil {
		return 0, err
	}
	threads := m.Threads
	if x.Info().Emulated {
		threads = 64
	}
	blocks, err := k.Resident(threads, 0)
	if err != nil {
		return 0, err
	}
	words, ids := b, cuda.Buffer{}
	if !m.Bits {
		split := filterBytes(g)
		words, ids = cuda.Buffer{Ptr: b.Ptr, Size: split}, cuda.Buffer{Ptr: b.Ptr + uint64(split), Size: b.Size - split}
	}
	if err := errors.Join(x.Context().Fill(words, 0, x.Stream()), x.Context().Fill(ids, 0xff, x.Stream())); err != nil {
		return 0, err
	}
	lists, n := sizes(g)
	t := tabling{Instead: instead, Lists: uint32(lists)}
	t.Tables[g.Index] = m.Address(g, b)
	for ; t.First < n; t.First = t.End {
		if t.First > 0 {
			if err := errors.Join(x.Stream().Synchronize(), m.Stop()); err != nil {
				return launches, err
			}
		}
		t.End = min(t.First+slice, n)
		m.Ran.Add(1)
		launches++
		if err := session.Launch(x, k, cuda.Launch{Blocks: max(blocks, 1), Threads: threads}, &t); err != nil {
			return launches, err
		}
	}
	return launches, nil
}
