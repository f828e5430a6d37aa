package stream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/weftgraph/weft/internal/vfs"
)

// updates returns n updates in a format.
func updates(f Format, n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range n {
		u, v := r.IntN(1<<20), r.IntN(1<<20)
		switch f {
		case Lines:
			fmt.Fprintf(&b, "%c %d %d L%d %d\n", "+-"[r.IntN(2)], u, v, r.IntN(10), i)
		case RapidFlow:
			fmt.Fprintf(&b, "%s %d %d %d\n", []string{"e", "-e"}[r.IntN(2)], u, v, r.IntN(10))
		case NDJSON:
			fmt.Fprintf(&b, `{"op":"%c","u":%d,"v":%d,"label":"L%d","time":%d}`+"\n", "+-"[r.IntN(2)], u, v, r.IntN(10), i)
		}
	}
	return b.Bytes()
}

// BenchmarkRead reads updates on one core.
func BenchmarkRead(b *testing.B) {
	const n = 200_000
	for _, f := range []Format{Lines, RapidFlow, NDJSON} {
		for _, texts := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s,texts=%v", f, texts), func(b *testing.B) {
				in := updates(f, n)
				b.SetBytes(int64(len(in)))
				b.ReportAllocs()
				for b.Loop() {
					s, err := Open(context.Background(), vfs.OS{}, "-", bytes.NewReader(in), Options{TextIDs: texts}, nil)
					if err != nil {
						b.Fatal(err)
					}
					var u Update
					k := 0
					for err = s.Next(&u); err == nil; err = s.Next(&u) {
						k++
					}
					if err != io.EOF || k != n {
						b.Fatal(k, err)
					}
					s.Close()
				}
				b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "updates/s")
			})
		}
	}
}

// TestNoAllocation checks that a line is read without an allocation, once its texts have been seen.
func TestNoAllocation(t *testing.T) {
	for _, line := range []string{"+ 12 345 likes 17", "-,12,345,likes,17", "e 12 345 0", "+v 12 A;B",
		`{"op":"+","u":12,"v":345,"label":"likes","time":17,"properties":{"w":1.5,"a":"x\n"}}`, `{"op":"+v","id":12,"labels":["A","B"]}`} {
		for _, texts := range []bool{false, true} {
			d, b := NewDecoder(Options{TextIDs: texts}), []byte(line)
			var u Update
			if n := testing.AllocsPerRun(100, func() {
				if _, err := d.Decode("", b, &u); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s: %v allocations", line, n)
			}
		}
	}
}
