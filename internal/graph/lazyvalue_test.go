package graph

import (
	"sync"
	"testing"
)

// TestLazy: a value is made once, but again after a panic.
func TestLazy(t *testing.T) {
	var l lazy[int]
	made := 0
	for range 3 {
		func() {
			defer func() {
				if recover() != "no" {
					t.Error("no panic")
				}
			}()
			l.get(func() *int { made++; panic("no") })
		}()
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if x := l.get(func() *int { made++; return new(made) }); *x != 4 {
				t.Error(*x)
			}
		})
	}
	wg.Wait()
	if made != 4 || *l.drop() != 4 || l.drop() != nil {
		t.Errorf("made %d times", made)
	}
}

// TestIndexesAgain: indexes over a graph that is damaged fail each time that they are
// asked for, and give no answer.
func TestIndexesAgain(t *testing.T) {
	g := FromEdges(5000, [][2]uint32{{0, 1}, {1, 2}, {3, 1}}, true)
	g.Out.Off[1000], g.In.Off[3] = 1<<40, 1<<40
	g.VertexLabels, g.Classes[0].Labels = []string{"A"}, []uint32{7}
	s := FromEdges(3, nil, false)
	s.IDs = IDs{StrOff: []uint64{0, 1, 1 << 40, 3}, StrBytes: []byte("abc")}
	for what, f := range map[string]func(){
		"Any": func() { g.Any() }, "ClassesWith": func() { g.ClassesWith(0) }, "Lookup": func() { s.Lookup("x") },
	} {
		for range 2 {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: an answer", what)
					}
				}()
				f()
			}()
		}
	}
}
