// Package kirgen makes random kir programs that kir.Verify accepts, and runs them. Tests
// compare the results of a program before and after passes, and those of its texts.
//
// A program has globals of each kind, a record, lane and group functions that call each other,
// sets in memory, loops, conditions, early exits and arithmetic of all widths. It keeps to the
// rules of package kir that Verify does not see:
//
//   - an index is within the array that it indexes;
//   - a set's memory is not written while the set is read;
//   - only statements call functions that write.
package kirgen

import (
	"math/rand/v2"

	"github.com/weftgraph/weft/internal/kir"
)

// Choices are where a generator takes its decisions from.
type Choices interface {
	// IntN returns a number from 0 to n-1. Always 0 ends every program.
	IntN(n int) int
}

// Seeded are the choices of a seed.
func Seeded(seed uint64) Choices { return rand.New(rand.NewPCG(seed, 0)) }

// Bytes are choices by a byte each; behind the last byte all are 0.
type Bytes struct{ Data []byte }

// IntN takes a byte.
func (b *Bytes) IntN(n int) int {
	if len(b.Data) == 0 {
		return 0
	}
	x := int(b.Data[0])
	b.Data = b.Data[1:]
	return x % n
}

// Options say what a program may have.
type Options struct {
	// Tame programs have only what every text has: they do not fail, and all their fractions are finite.
	Tame bool
	// Flat programs are many functions of one expression each.
	Flat bool
}

// Program is a program with a function to run it by.
type Program struct {
	*kir.Program
	// Main(state, slots, mem, v) runs the program for a vertex. It emits what it finds,
	// and at the end all results, the fields of the state and mem, in rows of two words.
	Main  *kir.Func
	State *kir.Record
	// Vertices are the vertices of the lists; Slots and Mem are how many numbers the
	// memory of sets and the other memory have.
	Vertices, Slots, Mem int
}

const (
	vertices = 9
	room     = vertices + 16 // of a set: operations may write whole blocks
	ids      = 8             // numbers at the beginning of the memory, before its words
	words    = 3
	mem      = ids + 2*words
)

// New makes a program.
func New(c Choices, o Options) *Program {
	g := &gen{Choices: c, Options: o, p: &kir.Program{}, regions: 2}
	g.globals()
	g.state = &kir.Record{Name: "State", Fields: []kir.FieldDef{
		{Name: "m", Type: kir.ArrayOf(kir.U32, 3)}, {Name: "set", Type: kir.ArrayOf(kir.Set, 2)}, {Name: "k", Type: kir.ArrayOf(kir.U64, 2)},
		{Name: "n", Type: kir.T(kir.U32)}, {Name: "w", Type: kir.T(kir.I64)}, {Name: "t", Type: kir.T(kir.U128)}, {Name: "f", Type: kir.T(kir.F64)},
	}}
	g.p.Records = []*kir.Record{g.state}
	few := 3
	if o.Flat {
		few = 12
	}
	for range 1 + g.IntN(few) {
		g.function(kir.Lane)
	}
	for range 1 + g.IntN(few) {
		g.function(kir.Group)
	}
	main := g.main()
	return &Program{Program: g.p, Main: main, State: g.state, Vertices: vertices, Slots: g.regions * room, Mem: mem}
}

// gen makes one program.
type gen struct {
	Choices
	Options
	p       *kir.Program
	adjs    []*kir.GlobalDef
	bits    []*kir.GlobalDef
	ids     *kir.GlobalDef
	limits  []*kir.GlobalDef
	ints    *kir.GlobalDef
	floats  *kir.GlobalDef
	state   *kir.Record
	regions int // of memory for sets; the first two are those of the state's
	funcs   []*function
}

// function is a function with what its callers must know.
type function struct {
	*kir.Func
	cost   int  // steps at most, about
	states bool // it writes the state's sets
}

// one of several things, each as often as the others.
func one[T any](g Choices, xs ...T) T { return xs[g.IntN(len(xs))] }

// chance is true once in n times.
func (g *gen) chance(n int) bool { return g.IntN(n) == n-1 }

func (g *gen) globals() {
	// N is symmetric; M and W have the same edges, seen from either end.
	var n, m, w [vertices][vertices]bool
	for u := range vertices {
		for v := range u {
			joined, there, back := g.IntN(3) > 0, g.IntN(2) > 0, g.IntN(3) > 1
			n[u][v], n[v][u] = joined, joined
			m[u][v], w[v][u] = there, there
			m[v][u], w[u][v] = back, back
		}
	}
	for i, rows := range [][vertices][vertices]bool{n, m, w} {
		a := &kir.GlobalDef{Name: []string{"N", "M", "W"}[i], Kind: kir.Adj, Off: []uint64{0}}
		for u := range rows {
			for v := range rows[u] {
				if rows[u][v] {
					a.Adj = append(a.Adj, uint32(v))
				}
			}
			a.Off = append(a.Off, uint64(len(a.Adj)))
		}
		g.adjs = append(g.adjs, g.p.AddGlobal(a))
	}
	for range 2 {
		g.bits = append(g.bits, g.p.AddGlobal(&kir.GlobalDef{Name: "bits", Kind: kir.Bits, Words: []uint64{uint64(g.IntN(256))<<1 | uint64(g.IntN(2))}}))
		g.limits = append(g.limits, g.p.AddGlobal(&kir.GlobalDef{Name: "limit", Kind: kir.U32, Value: uint32(g.IntN(vertices + 1))}))
	}
	g.ids = &kir.GlobalDef{Name: "ids", Kind: kir.Array}
	for v := range uint32(vertices) {
		if g.IntN(3) > 0 {
			g.ids.Adj = append(g.ids.Adj, v)
		}
	}
	g.ids.Adj = append(g.ids.Adj, vertices-1)
	if n := len(g.ids.Adj); n > 1 && g.ids.Adj[n-2] == vertices-1 {
		g.ids.Adj = g.ids.Adj[:n-1]
	}
	g.p.AddGlobal(g.ids)
	g.ints = g.p.AddGlobal(&kir.GlobalDef{Name: "ints", Kind: kir.Col, Elem: kir.I64, Valid: []uint64{uint64(g.IntN(512))}})
	g.floats = g.p.AddGlobal(&kir.GlobalDef{Name: "floats", Kind: kir.Col, Elem: kir.F64})
	for range vertices {
		g.ints.Words = append(g.ints.Words, uint64(int64(g.IntN(9)-4)))
		g.floats.Words = append(g.floats.Words, kir.F(float64(g.IntN(9)-4)/2).(kir.Const).Bits)
	}
}
