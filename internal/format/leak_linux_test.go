package format

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// resident is the memory of this process in MiB, garbage collected.
func resident(t *testing.T) int {
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var all, pages int
	if _, err := fmt.Sscan(string(b), &all, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}

// TestNothingLeft: a read that fails, is cancelled or starts again with other
// types frees the edges that it has collected, which no garbage collection does.
func TestNothingLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it reads millions of lines, which takes long under the race detector")
	}
	const lines, reads = 400_000, 8
	const kept = reads * lines * 8 >> 20 // MiB, were they not freed
	edges := strings.Repeat("1 2\n", lines)
	bad := put(t, "bad.txt", []byte(edges+"1 x\n"))
	wide := put(t, "wide.txt", []byte(strings.Repeat("1 2 3\n", lines)+"1 2 x\n"))
	good := put(t, "good.txt", []byte(edges))
	for _, c := range []struct {
		name string
		read func() error
	}{
		{"bad last line", func() error {
			_, err := Read(context.Background(), bad, ReadOptions{Threads: 2}, nil)
			if !errors.Is(err, ErrNumber) {
				return fmt.Errorf("not refused: %w", err)
			}
			return nil
		}},
		{"cancelled at the end", func() error {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			_, err := Read(ctx, good, ReadOptions{Threads: 2}, func(done, total int64) {
				if done == total {
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) {
				return fmt.Errorf("not cancelled: %w", err)
			}
			return nil
		}},
		{"read again", func() error {
			g, err := Read(context.Background(), wide, ReadOptions{Threads: 2, Columns: []string{"src", "dst", "w"}}, nil)
			if err != nil {
				return err
			}
			return g.Close()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before int
			for i := range reads + 1 {
				if err := c.read(); err != nil {
					t.Fatal(err)
				}
				if i == 0 { // the first read's own tables and pools are there
					before = resident(t)
				}
			}
			if more := resident(t) - before; more > kept/2 {
				t.Errorf("%d reads left %d MiB", reads, more)
			}
		})
	}
}
