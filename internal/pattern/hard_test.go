package pattern

import (
	"math/rand"
	"testing"
	"time"
)

// hardGraphs are regular, so that colour refinement alone says nothing.
func hardGraphs() map[string]*Pattern {
	torus := func(shrikhande bool) *Pattern {
		var edges [][2]int
		for u := range 16 {
			for v := range u {
				dx, dy := (u/4-v/4+4)%4, (u%4-v%4+4)%4
				adjacent := dx == 0 || dy == 0
				if shrikhande {
					adjacent = dx == 0 && dy%2 == 1 || dy == 0 && dx%2 == 1 || dx == dy && dx%2 == 1
				}
				if adjacent {
					edges = append(edges, [2]int{u, v})
				}
			}
		}
		return shape(16, Either, edges)
	}
	var cube [][2]int
	for u := range 32 {
		for b := range 5 {
			if v := u ^ 1<<b; u < v {
				cube = append(cube, [2]int{u, v})
			}
		}
	}
	rng := rand.New(rand.NewSource(1))
	var random [][2]int
	for u := range 32 {
		for v := range u {
			if rng.Intn(3) == 0 {
				random = append(random, [2]int{u, v})
			}
		}
	}
	triangles := shape(30, Either, nil)
	for i := range 10 {
		for _, e := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
			triangles.Edges = append(triangles.Edges, Edge{From: 3*i + e[0], To: 3*i + e[1], Min: 1, Max: 1})
		}
	}
	return map[string]*Pattern{
		"rook": torus(false), "shrikhande": torus(true), "hypercube": shape(32, Either, cube),
		"random": shape(32, Either, random), "triangles": triangles, "isolated": shape(32, Either, nil),
	}
}

func TestHardGraphs(t *testing.T) {
	order := map[string]string{
		"rook": "1152", "shrikhande": "192", "hypercube": "3840", "random": "1",
		"triangles": "219419659468800", "isolated": "263130836933693530167218012160000000",
	}
	graphs := hardGraphs()
	for name, p := range graphs {
		start := time.Now()
		if got := p.Automorphisms().Order().String(); got != order[name] {
			t.Errorf("%s: order %s, want %s", name, got, order[name])
		}
		aut := time.Since(start)
		q := p.Permute(rand.New(rand.NewSource(2)).Perm(len(p.Vertices)))
		if !p.Isomorphic(q) {
			t.Errorf("%s: another canonical form after a permutation", name)
		}
		t.Logf("%s: group %v, with two canonical forms %v", name, aut, time.Since(start))
	}
	if graphs["rook"].Isomorphic(graphs["shrikhande"]) {
		t.Error("the rook's and the Shrikhande graph, with equal parameters, are taken for one")
	}
}
