package gen

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/vfs"
)

// status reads a figure in KiB of /proc/self/status, in bytes.
func status(name string) float64 {
	b, _ := os.ReadFile("/proc/self/status")
	for l := range strings.Lines(string(b)) {
		if f := strings.Fields(l); f[0] == name+":" {
			x, _ := strconv.ParseFloat(f[1], 64)
			return x * 1024
		}
	}
	return 0
}

// measure builds a large graph and reports times and resident memory in parts
// of the CSR's bytes. With twice every edge is given in both directions.
func measure(t *testing.T, s Spec, twice bool) {
	start := time.Now()
	b := graph.NewBuilder(graph.BuildOptions{Directed: s.Directed})
	n, err := Edges(context.Background(), s, 0, func(src, dst []uint64) error {
		if twice {
			if err := b.AddEdges(&graph.EdgeChunk{Src: dst, Dst: src}); err != nil {
				return err
			}
		}
		return b.AddEdges(&graph.EdgeChunk{Src: src, Dst: dst})
	})
	if err != nil {
		t.Fatal(err)
	}
	made := time.Since(start)
	b.AddRange(n)
	g, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	csr := float64(8*len(g.Out.Off) + 4*len(g.Out.Adj))
	if s.Directed {
		csr *= 2
	}
	t.Logf("%d vertices, %d edges, CSR %.0f MB; made in %.1f s, built in %.1f s; RSS %.2f of the CSR, peak %.2f",
		g.NumVertices(), g.NumEdges(), csr/1e6, made.Seconds(), (time.Since(start) - made).Seconds(), status("VmRSS")/csr, status("VmHWM")/csr)
	if name := os.Getenv("WEFT_BIG_FILE"); name != "" {
		start = time.Now()
		if err := g.WriteFile(vfs.OS{}, name); err != nil {
			t.Fatal(err)
		}
		wrote := time.Since(start)
		start = time.Now()
		h, err := graph.Open(t.Context(), name, graph.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		opened := time.Since(start)
		start = time.Now()
		if err := h.Verify(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		t.Logf("written in %.1f s (statistics included), opened in %.2f ms, verified in %.1f s", wrote.Seconds(), opened.Seconds()*1e3, time.Since(start).Seconds())
	}
}
