package session

import (
	"slices"
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

// TestNeeds: a GPU compiles the parts that a job needs, and an emulated device one program of all.
func TestNeeds(t *testing.T) {
	j := &Job{Parts: map[string]string{"a": "x", "b": "y", "c": "x"}}
	for _, c := range []struct {
		needs    []string
		emulated bool
		want     []string
	}{
		{nil, false, []string{"x", "y"}}, {[]string{"a", "c"}, false, []string{"x"}}, {[]string{"b"}, false, []string{"y"}},
		{nil, true, []string{"xy"}}, {[]string{"b"}, true, []string{"xy"}},
	} {
		j.Needs = c.needs
		if got := j.texts(cuda.Info{Emulated: c.emulated}); !slices.Equal(got, c.want) {
			t.Errorf("%v, emulated %v: %q, want %q", c.needs, c.emulated, got, c.want)
		}
	}
}
