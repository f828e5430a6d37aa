package kernels_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/testing/device"
)

// measureSignedText counts the vertices whose signatures have all that a query asks for. A lane has a vertex. The table is by
// columns, as engine join has it (GSI, section 3.1), or by rows, as it is without that technique.
const measureSignedText = `
#include "join/filter.cuh"
struct P { const u32* table; const u32* want; u64* total; u32 vertices, columns; };

DEV bool signed_by_rows(const P& p, u32 v) {
  const u32* own = p.table + (u64)v * p.columns;
  for (u32 c = 0; c < p.columns; c++)
    if (u32 w = p.want[c])
      if ((ldg(own + c) & w) != w) return false;
  return true;
}

template <class F> DEV void count(const P& p, F has) {
  u64 n = 0;
  for (u64 v = grid_rank(); v < p.vertices; v += grid_size()) n += has((u32)v);
  n = Warp().sum(n);
  if (lane() == 0) atomic_add(p.total, n);
}
WEFT_KERNEL(by_columns, P) {
  JoinFilter x = {};
  x.table = p.table;
  x.columns = p.columns;
  count(p, [&](u32 v) { return join_signed(x, p.want, p.vertices, v); });
}
WEFT_KERNEL(by_rows, P) {
  count(p, [&](u32 v) { return signed_by_rows(p, v); });
}
`

// TestMeasureSignatures prints, as JSON lines, how long a GPU takes to test a vertex by its signature in a table by columns and in
// one by rows, for queries that ask something of one, two or all words of a signature. With WEFT_MEASURE set; skipped elsewhere,
// and where there is no GPU.
func TestMeasureSignatures(t *testing.T) {
	if os.Getenv("WEFT_MEASURE") == "" {
		t.Skip("WEFT_MEASURE is not set")
	}
	d, err := cuda.Open(0, device.Objects().Images)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	if err := d.Do(func(c *cuda.Context) error { return measureSignatures(c, d.Info(), 1<<24, os.Stdout) }); err != nil {
		t.Fatal(err)
	}
}

// TestMeasuredSignatures: the kernels that are measured count the same vertices, on the emulated device.
func TestMeasuredSignatures(t *testing.T) {
	d := device.Emulated(t, emu.Options{})
	if err := d.Do(func(c *cuda.Context) error { return measureSignatures(c, d.Info(), 1000, io.Discard) }); err != nil {
		t.Fatal(err)
	}
}

// measureSignatures measures tables of n vertices with signatures of 256 bits, each of which is set for three of four vertices. It
// fails if a kernel counts wrongly.
func measureSignatures(c *cuda.Context, info cuda.Info, n int, out io.Writer) (err error) {
	const columns = 8
	r := rand.New(rand.NewPCG(device.Seed(), 12))
	tables := map[string][]uint32{"columns": make([]uint32, n*columns), "rows": make([]uint32, n*columns)}
	for v := range n {
		for c := range columns {
			word := r.Uint32() | r.Uint32()
			tables["columns"][c*n+v], tables["rows"][v*columns+c] = word, word
		}
	}
	m, err := c.Module(cuda.Source{Name: "measuresigned.cu", Text: measureSignedText, Includes: kernels.Includes(measureSignedText)})
	if err != nil {
		return err
	}
	defer m.Close()
	start, err := c.Event()
	if err != nil {
		return err
	}
	defer start.Close()
	end, err := c.Event()
	if err != nil {
		return err
	}
	defer end.Close()
	for _, by := range []string{"columns", "rows"} {
		k, err := m.Kernel("by_" + by)
		if err != nil {
			return err
		}
		table := &buffers{c: c}
		at := table.in(raw(tables[by]))
		for _, asked := range [][]uint32{{0, 0, 0, 1}, {0, 0, 2, 0, 0, 4}, {1, 2, 4, 8, 16, 32, 64, 128}} {
			want := make([]uint32, columns)
			words := 0
			for i, w := range asked {
				want[i] = w
				if w != 0 {
					words++
				}
			}
			passing := uint64(0)
			for v := range n {
				has := true
				for c, w := range want {
					has = has && tables["rows"][v*columns+c]&w == w
				}
				if has {
					passing++
				}
			}
			b, total := &buffers{c: c}, []uint64{0}
			p := struct {
				Table, Want, Total uint64
				Vertices, Columns  uint32
			}{at, b.in(raw(want)), b.out(raw(total)), uint32(n), columns}
			launch := cuda.Launch{Threads: 256}
			if info.Emulated {
				launch.Threads = 64
			}
			if launch.Blocks, err = k.Resident(launch.Threads, 0); err != nil {
				return err
			}
			const rounds = 3 // the first one warms up
			err := errors.Join(table.err, b.err)
			for range rounds {
				err = errors.Join(err, start.Record(nil), k.Launch(launch, &p), end.Record(nil), c.Synchronize())
			}
			if err != nil {
				return err
			}
			took, err := end.Since(start)
			for _, f := range b.back {
				err = errors.Join(err, f())
			}
			for _, buf := range b.all {
				err = errors.Join(err, c.Free(buf))
			}
			if err != nil {
				return err
			}
			if total[0] != rounds*passing {
				return fmt.Errorf("by %s, %d words asked for: %d vertices in %d rounds, want %d in each", by, words, total[0], rounds, passing)
			}
			line, _ := json.Marshal(map[string]any{
				"table": by, "words": columns, "asked": words, "vertices": n, "device": info.String(), "ns_a_vertex": float64(took.Nanoseconds()) / float64(n),
			})
			fmt.Fprintln(out, string(line))
		}
		for _, buf := range table.all {
			if err := c.Free(buf); err != nil {
				return err
			}
		}
	}
	return nil
}
