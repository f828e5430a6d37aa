package weft_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/testing/long"
)

// lineCounter counts the lines that are written to it.
type lineCounter struct{ lines uint64 }

func (c *lineCounter) Write(b []byte) (int, error) {
	c.lines += uint64(bytes.Count(b, []byte{'\n'}))
	return len(b), nil
}

// TestWatchDay: a stream goes through a window for a day of its time where long tests are asked for, and nothing is lost: each edge comes, and each leaves when it is due. Once the
// window is full, the live heap stays as it is.
func TestWatchDay(t *testing.T) {
	seconds := long.Rounds(900, 86_400) // the window is full after a third of the first, and what reads the stream is a while behind
	const rate, window, people = 100, 300, 20_000
	g, err := weft.Read(t.Context(), bytes.NewReader([]byte("src,dst,time\n0,1,0\n")), weft.WithDirected(true))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	qs := parsed(t,
		"CREATE WATCH pay AS MATCH (a)-[e]->(b) RETURN a, b, e.time",
		"CREATE WATCH ring AS MATCH (a)-[e]->(b)-[f]->(c)-[g]->(a) ORDERED e < f < g WITHIN 60 RETURN a, b, c, g.time - e.time")
	source, to := io.Pipe()
	var full, most uint64
	added, written := uint64(0), make(chan error, 1)
	go func() {
		w := bufio.NewWriterSize(to, 1<<16)
		r := rand.New(rand.NewPCG(7, 7))
		for s := 1; s <= seconds; s++ {
			for range rate {
				u := r.IntN(people)
				v := (u + 1 + r.IntN(people-1)) % people
				if r.IntN(4) == 0 { // a small group makes rings
					u, v = u%50, 50+v%50
					if r.IntN(2) == 0 {
						u, v = v, u
					}
				}
				fmt.Fprintln(w, "+", u, v, "_", s)
				added++
			}
			if s%max(seconds/12, 1) == 0 {
				if err := w.Flush(); err != nil {
					written <- err
					return
				}
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				if s < seconds*2/3 {
					full = max(full, m.HeapAlloc)
				} else {
					most = max(most, m.HeapAlloc)
				}
			}
		}
		err := w.Flush()
		_ = to.Close()
		written <- err
	}()
	out := &lineCounter{}
	st, err := g.Follow(t.Context(), qs, weft.FollowOptions{
		Source: "-", Stdin: source, Updates: "text", Stdout: out, Window: fmt.Sprint(window),
	})
	_ = source.Close()
	if failed := <-written; err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	pay, changes := st.Queries[0], uint64(0)
	for _, q := range st.Queries {
		changes += q.Added.Uint64() + q.Removed.Uint64()
	}
	if st.Updates != added || pay.Added.Uint64() != added-st.Duplicates {
		t.Errorf("%d updates and %v edges of %d, of which %d were there already", st.Updates, pay.Added, added, st.Duplicates)
	}
	// The edge of the beginning has left, and so have all before the window.
	inWindow := uint64(window+1) * rate
	if left := pay.Added.Uint64() - pay.Removed.Uint64() + 1; left < inWindow-st.Duplicates || left > inWindow {
		t.Errorf("%d edges are left, of at most %d", left, inWindow)
	}
	if out.lines != changes {
		t.Errorf("%d lines for %d changes", out.lines, changes)
	}
	if ring := st.Queries[1]; ring.Added.Sign() == 0 || ring.Added.Cmp(ring.Removed) < 0 {
		t.Errorf("rings: +%v -%v", ring.Added, ring.Removed)
	}
	if most > full+full/4+4<<20 {
		t.Errorf("the live heap grew from %d to %d bytes", full, most)
	}
	t.Logf("%d updates, live heap at most %d and then %d bytes, %.0f updates/s", st.Updates, full, most, float64(st.Updates)/st.Seconds)
}
