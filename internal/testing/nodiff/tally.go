package nodiff

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
)

// tally sums up many runs.
type tally struct {
	mu      sync.Mutex
	runs    int
	shown   map[string]int // runs that used each technique
	refused map[string]int // configurations that a plan or the engine refused, by reason
	free    [2]int         // configurations that were made for no technique: those that ran, and those that were refused
	unlike  map[string]int // plans that did not use the technique that they were made for
	most    int            // embeddings of one run
}

func newTally() *tally {
	return &tally{shown: map[string]int{}, refused: map[string]int{}, unlike: map[string]int{}}
}

// refuse notes a configuration for tech that was refused, and why.
func (a *tally) refuse(tech *Technique, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused[why]++
	if tech == nil {
		a.free[1]++
	}
}

// without notes a plan that does not use tech.
func (a *tally) without(tech *Technique) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unlike[tech.Name]++
}

// ran notes a run with n embeddings.
func (a *tally) ran(tech *Technique, r engine.Result, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs++
	a.most = max(a.most, n)
	if tech == nil {
		a.free[0]++
	}
	if tech != nil && (tech.Ran == nil || tech.Ran(r)) {
		a.shown[tech.Name]++
	}
}

// missing are the techniques that have not run often enough.
func (a *tally) missing(c Config) (out []Technique) {
	for _, tech := range c.Techniques {
		if a.shown[tech.Name] < c.LeastRuns {
			out = append(out, tech)
		}
	}
	return out
}

// enough is the number of configurations from which their shares say something.
const enough = 20

// report writes which techniques ran, and fails the test if that is too little.
func (a *tally) report(t *testing.T, c Config) {
	t.Helper()
	refused := 0
	for _, n := range a.refused {
		refused += n
	}
	t.Logf("%d runs compared, all with matches (up to %d); %d configurations refused", a.runs, a.most, refused)
	for _, name := range slices.Sorted(maps.Keys(a.refused)) {
		t.Logf("refused %d times: %s", a.refused[name], name)
	}
	for _, tech := range c.Techniques {
		t.Logf("%s: %d runs, %d plans without it", tech.Name, a.shown[tech.Name], a.unlike[tech.Name])
	}
	if t.Failed() {
		return
	}
	if a.runs == 0 {
		t.Error("no run was compared")
	}
	// What is forced on a pattern may suit few patterns: how often that runs is looked at below.
	if ran, refused := a.free[0], a.free[1]; refused > ran && ran+refused >= enough {
		t.Errorf("%d configurations were refused, and only %d ran", refused, ran)
	}
	for _, tech := range a.missing(c) {
		t.Errorf("%s ran %d times, which is less than %d", tech.Name, a.shown[tech.Name], c.LeastRuns)
	}
}
