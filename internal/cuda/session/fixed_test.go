package session

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
)

// TestFixedSources: the source of a fixed program is put together once, and others each time.
func TestFixedSources(t *testing.T) {
	all := &sources{}
	job := func(fixed bool) *Job {
		return &Job{Source: cuda.Source{Name: "k.cu", Text: "#include \"base/device.cuh\"\n"}, Fixed: fixed, sources: all}
	}
	first, again, other := job(true).source("a"), job(true).source("a"), job(true).source("b")
	if first.Keys == nil || first.Keys != again.Keys || first.Keys == other.Keys || first.Text == other.Text || len(first.Includes) == 0 {
		t.Errorf("%q and %q, keys %p, %p and %p", first.Text, other.Text, first.Keys, again.Keys, other.Keys)
	}
	if x := job(false).source("a"); x.Keys != nil || x.Text != first.Text {
		t.Errorf("%q, %p", x.Text, x.Keys)
	}
}
