package nodiff

import (
	"cmp"
	"fmt"
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
	made    map[string]*made
	unlike  map[string]int // plans that did not use the technique that they were made for
	most    int            // embeddings of one run
}

// made counts the configurations that were made for a technique, or for none.
type made struct{ accepted, refused int }

// tooFew reports whether less than half were accepted.
func (x made) tooFew() bool { return x.refused > x.accepted }

func newTally() *tally {
	return &tally{shown: map[string]int{}, refused: map[string]int{}, made: map[string]*made{}, unlike: map[string]int{}}
}

// of returns the counts of tech, or with nil those of no technique.
func (a *tally) of(tech *Technique) *made {
	name := ""
	if tech != nil {
		name = tech.Name
	}
	if a.made[name] == nil {
		a.made[name] = &made{}
	}
	return a.made[name]
}

// refuse notes a configuration for tech that was refused, and why.
func (a *tally) refuse(tech *Technique, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused[why]++
	a.of(tech).refused++
}

// without notes a plan that does not use tech.
func (a *tally) without(tech *Technique) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unlike[tech.Name]++
	a.of(tech).accepted++
}

// ran notes a run with n embeddings.
func (a *tally) ran(tech *Technique, r engine.Result, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs++
	a.most = max(a.most, n)
	a.of(tech).accepted++
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

// open reports whether less than half of the configurations for tech were accepted, but so few were drawn that this may be
// chance.
func (a *tally) open(tech *Technique) bool {
	x := a.of(tech)
	return x.tooFew() && x.accepted+x.refused < enough
}

// unsettled reports whether the shares of any technique, or of none, are open.
func (a *tally) unsettled(c Config) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open(nil) || slices.ContainsFunc(c.Techniques, func(tech Technique) bool { return a.open(&tech) })
}

// wanted are the techniques for which more is to be drawn.
func (a *tally) wanted(c Config) (out []Technique) {
	for _, tech := range c.Techniques {
		if a.shown[tech.Name] < c.LeastRuns || a.open(&tech) {
			out = append(out, tech)
		}
	}
	return out
}

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
	t.Logf("no technique: %d accepted, %d refused", a.of(nil).accepted, a.of(nil).refused)
	for _, tech := range c.Techniques {
		t.Logf("%s: %d runs, %d plans without it, %d refused", tech.Name, a.shown[tech.Name], a.unlike[tech.Name], a.of(&tech).refused)
	}
	if t.Failed() {
		return
	}
	for _, wrong := range a.wrong(c) {
		t.Error(wrong)
	}
}

// wrong returns what is too little.
func (a *tally) wrong(c Config) (out []string) {
	if a.runs == 0 {
		out = append(out, "no run was compared")
	}
	for _, name := range slices.Sorted(maps.Keys(a.made)) {
		if x := a.made[name]; x.tooFew() {
			out = append(out, fmt.Sprintf("%s: %d configurations were refused, and only %d accepted", cmp.Or(name, "no technique"), x.refused, x.accepted))
		}
	}
	for _, tech := range a.missing(c) {
		out = append(out, fmt.Sprintf("%s ran %d times, which is less than %d", tech.Name, a.shown[tech.Name], c.LeastRuns))
	}
	return out
}
