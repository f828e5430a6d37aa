package format

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/vfs"
)

// BenchmarkPairs parses a file of two numbers a line (WEFT_BIG names one, or a
// synthetic one is made) without building the graph.
func BenchmarkPairs(b *testing.B) {
	path := bigFile(b)
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	for _, threads := range []int{1, 2} {
		b.Run(map[int]string{1: "one", 2: "two"}[threads], func(b *testing.B) {
			b.SetBytes(st.Size())
			for b.Loop() {
				src, err := openSource(context.Background(), vfs.OS{}, path, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				state, room := make([]pairs, threads), make([][]uint64, threads)
				for w := range room {
					room[w] = make([]uint64, mostPairs(2*blockSize))
				}
				sp := &textSpec{span: 1 << 63}
				err = src.eachBlock(context.Background(), 0, threads, func(w int, k *block) error {
					_, _, err := state[w].narrow(k.data, sp, room[w][:mostPairs(len(k.data))])
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPairsAdd is the same into the segments of a builder.
func BenchmarkPairsAdd(b *testing.B) {
	path := bigFile(b)
	st, _ := os.Stat(path)
	b.SetBytes(st.Size())
	for b.Loop() {
		src, err := openSource(context.Background(), vfs.OS{}, path, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		r := &reading{ctx: context.Background(), src: src, o: ReadOptions{Threads: 1}, build: graph.NewBuilder(graph.BuildOptions{})}
		start := time.Now()
		if _, err := r.edgeText(&textSpec{cols: []column{{kind: colSrc}, {kind: colDst}}, span: 1 << 63}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(st.Size())/1e6/time.Since(start).Seconds(), "MB/s-one-thread")
	}
}

func bigFile(b *testing.B) string {
	if p := os.Getenv("WEFT_BIG"); p != "" {
		return p
	}
	p := b.TempDir() + "/pairs.txt"
	var buf []byte
	x := uint64(1)
	for range 1 << 20 {
		for k := range 2 {
			x = x*6364136223846793005 + 1442695040888963407
			buf = appendUint(buf, x>>42)
			buf = append(buf, "\t\n"[k])
		}
	}
	if err := os.WriteFile(p, buf, 0o666); err != nil {
		b.Fatal(err)
	}
	return p
}
