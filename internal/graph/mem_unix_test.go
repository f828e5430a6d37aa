//go:build unix

package graph

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// endsAfter is a context that has ended when it was asked a number of times.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func mappings() (n int) {
	mapped.Range(func(any, any) bool { n++; return true })
	return n
}

// TestCloseFreesMemory: Close gives back all arrays of a graph, of each kind.
func TestCloseFreesMemory(t *testing.T) {
	defer func(n uint64) { bigBytes = n }(bigBytes)
	bigBytes = tempBytes
	for _, directed := range []bool{false, true} {
		for _, text := range []bool{false, true} {
			before := mappings()
			const n = tempBytes / 4
			c := &EdgeChunk{}
			var src, dst, labels []string
			for v := range uint64(n) {
				for _, w := range []uint64{(v + 1) % n, (v + 5) % n} {
					c.Src, c.Dst, c.Time = append(c.Src, v*7), append(c.Dst, w*7), append(c.Time, int64(v))
					src, dst = append(src, fmt.Sprint("v", v)), append(dst, fmt.Sprint("v", w))
					labels = append(labels, "l")
				}
			}
			if c.Label = stringColumn(labels); text {
				c.Src, c.Dst, c.SrcStr, c.DstStr = nil, nil, stringColumn(src), stringColumn(dst)
			}
			b := NewBuilder(BuildOptions{Directed: directed, Threads: 2})
			if err := b.AddEdges(c); err != nil {
				t.Fatal(err)
			}
			g, err := b.Build(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if during := mappings() - before; during < 8 {
				t.Errorf("directed %t, texts %t: %d arrays are mapped", directed, text, during)
			}
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			if after := mappings(); after != before {
				t.Errorf("directed %t, texts %t: %d arrays are mapped after Close", directed, text, after-before)
			}
		}
	}
}

// TestBuildEndsFreesMemory: wherever a build ends, in the second round as well, it
// gives back what it mapped.
func TestBuildEndsFreesMemory(t *testing.T) {
	for _, directed := range []bool{false, true} {
		before, ended := mappings(), 0
		for left := 0; ; left += 1 + left/24 {
			b := NewBuilder(BuildOptions{Directed: directed, Threads: 1})
			c := &EdgeChunk{}
			const n = 1 << 14
			for v := range uint64(n) {
				for range 1 + v%3 { // so that degrees, without what repeats, have another order
					c.Src, c.Dst = append(c.Src, v), append(c.Dst, (v*7+1)%n)
				}
			}
			if err := b.AddEdges(c); err != nil {
				t.Fatal(err)
			}
			g, err := b.Build(&endsAfter{context.Background(), left})
			if err == nil {
				_ = g.Close()
			} else if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if after := mappings(); after != before {
				t.Fatalf("directed %t: %d arrays are mapped after a build that ended at step %d: %v", directed, after-before, left, err)
			}
			if err == nil {
				break
			}
			ended++
		}
		if ended < 10 {
			t.Errorf("a build has %d steps at which it can end", ended)
		}
	}
}
