package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
)

var prepareText = kernels.Source("base/prepare.cu")

// The sizes that base/scan.cuh names.
const (
	toolThreads = 256        // BLOCK
	scanTile    = 4096       // SCAN_TILE
	sortTile    = 8192       // SORT_TILE
	digits      = 256        // DIGITS
	scanShared  = 2 * 32 * 8 // two words a warp of at most 32
	moveShared  = toolThreads / 32 * digits * 4
)

// Tools are preparations that run on a device over arrays in its memory: prefix sums, sorting,
// orders, filters. They are used inside Do and work in the order of one stream. They do not
// block unless their comment says so. Their working memory comes from take.
type Tools struct {
	c      *cuda.Context
	stream *cuda.Stream
	module *cuda.Module
	take   func(what string, bytes int64) (cuda.Buffer, error)
	grid   int
	last   uint64 // where in device memory kernels note their turn; 0: nowhere
	turns  uint64 // launches since last was 0 there
}

// turn is struct Turn.
type turn struct{ Last, Mine uint64 }

func (t *turn) set(to turn) { *t = to }

// Lists is an adjacency in device memory: n+1 offsets of 8 bytes, ids of 4.
type Lists struct{ Off, Adj cuda.Buffer }

// adjacency is struct Lists.
type adjacency struct{ Off, Adj, First uint64 }

func (l Lists) raw() adjacency { return adjacency{Off: l.Off.Ptr, Adj: l.Adj.Ptr} }

// newTools compiles the tools. Close gives them back.
func newTools(ctx context.Context, c *cuda.Context, src cuda.Source, stream *cuda.Stream, sms int, take func(string, int64) (cuda.Buffer, error)) (*Tools, error) {
	m, err := c.ModuleWithin(ctx, src)
	if err != nil {
		return nil, err
	}
	return &Tools{c: c, stream: stream, module: m, take: take, grid: 8 * sms}, nil
}

// toolsSource is the program of the preparations.
func toolsSource() cuda.Source {
	return cuda.Source{Name: "prepare.cu", Text: prepareText, Includes: kernels.Includes(prepareText)}
}

func (t *Tools) close() error { return t.module.Close() }

// launch runs a kernel on `blocks` blocks; 0 means the number for arrays of any size.
func (t *Tools) launch(name string, blocks, shared int, params interface{ set(turn) }) error {
	k, err := t.module.Kernel(name)
	if err != nil {
		return err
	}
	if blocks == 0 {
		blocks = t.grid
	}
	t.turns++
	params.set(turn{t.last, t.turns})
	return k.Launch(cuda.Launch{Blocks: blocks, Threads: toolThreads, Shared: shared, Stream: t.stream}, params)
}

// noteAt has kernels note in a word of device memory, 0 now, that they ran.
func (t *Tools) noteAt(ptr uint64) { t.last, t.turns = ptr, 0 }

// ran is the error of a kernel that the device left out. last is the value of the word at
// noteAt.
func (t *Tools) ran(last uint64) error {
	if last == t.turns {
		return nil
	}
	return &cuda.Error{Op: "preparation", Kind: cuda.ErrLaunch, Text: fmt.Sprintf("of %d kernels the one behind number %d did not run", t.turns, last)}
}

func tiles(n uint64, tile int) int { return int((n + uint64(tile) - 1) / uint64(tile)) }

// Offsets makes out[i] the sum of in[0 … i-1] for i = 0 … n: out has n+1 words of
// 8 bytes, in n of 4.
func (t *Tools) Offsets(out, in cuda.Buffer, n uint64) error {
	sums, err := t.take("prefix sums", OffsetsRoom(n))
	if err != nil {
		return err
	}
	return t.OffsetsIn(out, in, sums, n)
}

// OffsetsRoom is the bytes of memory that OffsetsIn needs for n numbers.
func OffsetsRoom(n uint64) int64 { return 8 * int64(tiles(n, scanTile)+1) }

// OffsetsIn is Offsets with memory of OffsetsRoom bytes, for one that is called often: what Tools
// take is only given back at the end of the run.
func (t *Tools) OffsetsIn(out, in, sums cuda.Buffer, n uint64) error {
	if n == 0 {
		return t.c.Fill(cuda.Buffer{Ptr: out.Ptr, Size: 8}, 0, t.stream)
	}
	blocks := tiles(n, scanTile)
	p := struct {
		turn
		In, Out, Sums, N uint64
	}{turn{}, in.Ptr, out.Ptr, sums.Ptr, n}
	return errors.Join(
		t.launch("wide_sums", blocks, scanShared, &p),
		t.launch("wide_top", 1, scanShared, &p),
		t.launch("wide_tiles", blocks, scanShared, &p))
}

// First makes first[v] the offset of the first neighbour above v, for n vertices.
func (t *Tools) First(first cuda.Buffer, l Lists, n uint64) error {
	p := struct {
		turn
		A        adjacency
		First, N uint64
	}{turn{}, l.raw(), first.Ptr, n}
	return t.launch("first", 0, 0, &p)
}

// pairs are keys with their values, both of 4 bytes.
type pairs struct{ keys, values cuda.Buffer }

// sort sorts n pairs stably by the low bits of the keys. It uses other, of the
// same size, and returns where the result is, and the one that is free then.
func (t *Tools) sort(a, other pairs, n uint64, low int) (sorted, free pairs, err error) {
	if n > math.MaxUint32 {
		return a, other, errors.New("session: more than 2^32-1 elements to sort")
	}
	if n == 0 {
		return a, other, nil
	}
	blocks := tiles(n, sortTile)
	counts, err := t.take("digits of a sort", int64(blocks)*digits*4)
	if err != nil {
		return a, other, err
	}
	top := tiles(uint64(blocks)*digits, scanTile)
	sums, err := t.take("prefix sums", 4*int64(top+1))
	if err != nil {
		return a, other, err
	}
	for shift := 0; shift < low; shift += 8 {
		p := struct {
			turn
			Keys, Values, ToKeys, ToValues, Counts, N uint64
			Shift, _                                  uint32
		}{turn{}, a.keys.Ptr, a.values.Ptr, other.keys.Ptr, other.values.Ptr, counts.Ptr, n, uint32(shift), 0}
		s := struct {
			turn
			Data, Sums, N uint64
		}{turn{}, counts.Ptr, sums.Ptr, uint64(blocks) * digits}
		err := errors.Join(
			t.launch("count_digits", blocks, digits*4, &p),
			t.launch("narrow_sums", top, scanShared, &s),
			t.launch("narrow_top", 1, scanShared, &s),
			t.launch("narrow_tiles", top, scanShared, &s),
			t.launch("move_digits", blocks, moveShared, &p))
		if err != nil {
			return a, other, err
		}
		a, other = other, a
	}
	return a, other, nil
}

// Ordered is a graph in weft's degree order, in device memory.
type Ordered struct {
	Order cuda.Buffer // Order[i]: the old id of vertex i; 4 bytes each
	Place cuda.Buffer // its inverse
	Lists Lists       // ascending, in new ids
}

// DegreeOrder relabels an undirected graph of n vertices and m list entries. The new order is
// by class, inside a class by descending degree, and by old id among equals. class has a number
// below classes for each vertex, in 4 bytes; an empty buffer means one class. Lists need not be
// sorted. The host's twin is package graph's degreeOrder.
func (t *Tools) DegreeOrder(l Lists, class cuda.Buffer, classes int, n, m uint64) (Ordered, error) {
	var o Ordered
	var err error
	get := func(what string, bytes uint64) (b cuda.Buffer) {
		if err == nil {
			b, err = t.take(what, int64(bytes))
		}
		return b
	}
	size := max(n, m)
	a := pairs{get("relabelling", 4*size), get("relabelling", 4*size)}
	b := pairs{get("relabelling", 4*size), get("relabelling", 4*size)}
	o.Order, o.Place = get("the order", 4*n), get("the order", 4*n)
	o.Lists.Off, o.Lists.Adj = get("offsets", 8*(n+1)), get("neighbours", 4*m)
	if err != nil {
		return o, err
	}
	type order struct {
		turn
		A                                                 adjacency
		Classes, NewOff, Keys, Values, Order, Place, Size uint64
	}
	args := func(x pairs) *order {
		return &order{turn{}, l.raw(), class.Ptr, o.Lists.Off.Ptr, x.keys.Ptr, x.values.Ptr, o.Order.Ptr, o.Place.Ptr, n}
	}
	if err := t.launch("degree_keys", 0, 0, args(a)); err != nil {
		return o, err
	}
	if a, b, err = t.sort(a, b, n, 32); err != nil {
		return o, err
	}
	if class.Size > 0 {
		if err := t.launch("class_keys", 0, 0, args(a)); err != nil {
			return o, err
		}
		if a, b, err = t.sort(a, b, n, bits.Len(uint(max(classes-1, 1)))); err != nil {
			return o, err
		}
	}
	if err := t.c.Copy(o.Order, 0, a.values, 0, 4*int64(n), t.stream); err != nil {
		return o, err
	}
	if err := t.launch("places", 0, 0, args(a)); err != nil {
		return o, err
	}
	if err := t.Offsets(o.Lists.Off, a.keys, n); err != nil {
		return o, err
	}
	if err := t.launch("turned", 0, 0, args(a)); err != nil {
		return o, err
	}
	if a, _, err = t.sort(a, b, m, bits.Len64(max(n, 2)-1)); err != nil {
		return o, err
	}
	return o, t.c.Copy(o.Lists.Adj, 0, a.values, 0, 4*int64(m), t.stream)
}

// Core makes alive a bitmap of the vertices that remain when those with fewer than least
// remaining neighbours are removed repeatedly. Every match of a pattern with that least degree
// lies among them. alive has whole 64-bit words. Core blocks in each round.
func (t *Tools) Core(alive cuda.Buffer, l Lists, n, least uint32) error {
	degrees, err := t.take("degrees", 4*int64(n))
	if err != nil {
		return err
	}
	changed, err := t.take("a flag", 4)
	if err != nil {
		return err
	}
	p := struct {
		turn
		A                       adjacency
		Degrees, Alive, Changed uint64
		N, Least                uint32
	}{turn{}, l.raw(), degrees.Ptr, alive.Ptr, changed.Ptr, n, least}
	if err := t.launch("peel_start", 0, 0, &p); err != nil {
		return err
	}
	for again := []uint32{1}; again[0] != 0; {
		if err := t.c.Clear(changed, t.stream); err != nil {
			return err
		}
		if err := t.launch("peel_round", 0, 0, &p); err != nil {
			return err
		}
		if err := t.stream.Synchronize(); err != nil {
			return err
		}
		if err := cuda.Download(t.c, again, changed, 0); err != nil {
			return err
		}
	}
	return nil
}

// Want is the conditions on a data vertex for a pattern vertex: an id range, a least degree,
// and least numbers of neighbours in id ranges.
type Want struct {
	First, End, Degree uint32
	Needs              []Need
}

// Need is a number of neighbours in an id range (a label).
type Need struct{ First, End, Least uint32 }

// Candidates makes a bitmap of n bits, in whole 64-bit words, for each of wants,
// one after the other: the data vertices that pass.
func (t *Tools) Candidates(words cuda.Buffer, l Lists, wants []Want, n uint32) error {
	type flat struct{ First, End, Degree, Needs, At uint32 }
	var ws []flat
	var ns []Need
	for _, w := range wants {
		ws = append(ws, flat{w.First, w.End, w.Degree, uint32(len(w.Needs)), uint32(len(ns))})
		ns = append(ns, w.Needs...)
	}
	a, err := t.take("conditions", int64(20*len(ws)))
	if err != nil {
		return err
	}
	b, err := t.take("conditions", int64(12*len(ns)))
	if err != nil {
		return err
	}
	if err := errors.Join(cuda.Upload(t.c, a, 0, ws), cuda.Upload(t.c, b, 0, ns)); err != nil {
		return err
	}
	p := struct {
		turn
		A                           adjacency
		Wants, Needs, Words, Stride uint64
		Queries, N                  uint32
	}{turn{}, l.raw(), a.Ptr, b.Ptr, words.Ptr, uint64(n+63) / 64 * 2, uint32(len(ws)), n}
	return t.launch("candidates", 0, 0, &p)
}
