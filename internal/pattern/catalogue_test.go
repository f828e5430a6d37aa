package pattern

import (
	"errors"
	"strings"
	"testing"
)

func TestMotifsAreAllConnectedGraphs(t *testing.T) {
	for k, want := range map[int]int{2: 1, 3: 2, 4: 6, 5: 21} {
		seen := map[string]string{}
		names := map[string]bool{}
		for _, p := range motifs(k) {
			c := p.Canonical()
			if seen[c] != "" || names[p.Name] {
				t.Errorf("%s and %s are one graph or have one name", p.Name, seen[c])
			}
			seen[c], names[p.Name] = p.Name, true
			if !p.Connected() {
				t.Errorf("%s is not connected", p.Name)
			}
			if qs, err := ByName(" " + p.Name); err != nil || len(qs) != 1 || qs[0].Name != p.Name || !qs[0].Isomorphic(p) {
				t.Errorf("%s of motifs is not the catalogue's: %v", p.Name, err)
			}
		}
		if len(seen) != want {
			t.Errorf("%d motifs on %d vertices, want %d", len(seen), k, want)
		}
	}
}

// TestDirectedMotifs: the connected directed graphs are all there, none twice, and each
// is in the catalogue under its name.
func TestDirectedMotifs(t *testing.T) {
	for k, want := range map[int]int{3: 13, 4: 199} {
		ps, err := Named("directed_motifs", []int{k})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, p := range ps {
			seen[p.Canonical()] = true
			if qs, err := ByName(p.Name); err != nil || len(qs) != 1 || qs[0].Name != p.Name || !qs[0].Isomorphic(p) || !p.Connected() {
				t.Errorf("%s: %v, connected %v", p.Name, err, p.Connected())
			}
		}
		if len(seen) != want || len(ps) != want {
			t.Errorf("%d motifs on %d vertices, %d different, want %d", len(ps), k, len(seen), want)
		}
	}
}

func TestEveryEntryBuilds(t *testing.T) {
	for _, e := range Catalogue() {
		for _, args := range [][]int{e.min, {4}, {3, 2}} {
			if len(args) != len(e.Params) {
				continue
			}
			ps, err := Named(e.Name, args)
			if err != nil && !(e.Name == "tetrad" && strings.HasSuffix(err.Error(), "is not connected")) {
				t.Errorf("%s%v: %v", e.Name, args, err)
			}
			for _, p := range ps {
				if err := p.Validate(); err != nil || !p.Connected() {
					t.Errorf("%s%v: %v, connected %v", e.Name, args, err, p.Connected())
				}
			}
		}
	}
}

func TestByNameErrors(t *testing.T) {
	for text, want := range map[string]string{
		"trianlge":        `no pattern is called "trianlge"; did you mean triangle?`,
		"cliqe(5)":        `no pattern is called "cliqe"; did you mean clique(k)?`,
		"zzzzzz":          `no pattern is called "zzzzzz"`,
		"stmatch:q25":     `no pattern is called "stmatch:q25"; did you mean stmatch:q2?`,
		"clique":          "clique(k) takes 1 parameter, not 0",
		"clique(5":        `"clique(5" lacks its closing parenthesis`,
		"clique(x)":       `parameter "x" of clique is not an integer`,
		"clique(33)":      "clique(k) needs k from 2 to 32, not 33",
		"wheel(2)":        "wheel(k) needs k from 3 to 31, not 2",
		"lollipop(31,2)":  "lollipop(m,n) has 33 vertices: a pattern may have at most 32",
		"triangle(3)":     "triangle takes no parameters, not 1",
		"bipartite(2)":    "bipartite(m,n) takes 2 parameters, not 1",
		"bipartite(31,2)": "bipartite(m,n) has 33 vertices: a pattern may have at most 32",
	} {
		if _, err := ByName(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	var unknown *UnknownName
	if _, err := ByName("xyz"); !errors.As(err, &unknown) {
		t.Errorf("the error of an unknown name is a %T", err)
	}
}
