package session

import (
	"slices"
	"strconv"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
)

// TestSourcesAgain: the source of a job is put together once, another one for each thing that it depends on, and not more are
// remembered than there is room for.
func TestSourcesAgain(t *testing.T) {
	all := &sources{}
	source := func(change func(*Job), text string) cuda.Source {
		j := &Job{Source: cuda.Source{Name: "k.cu", Text: "#include \"base/device.cuh\"\n", Includes: map[string]string{"plan.cuh": "p"}}, sources: all}
		change(j)
		return j.source(text)
	}
	as := func(*Job) {}
	first := source(as, "a")
	if again := source(as, "a"); first.Keys == nil || again.Keys != first.Keys || len(first.Includes) < 2 {
		t.Errorf("keys %p and %p, %d files", first.Keys, again.Keys, len(first.Includes))
	}
	for name, other := range map[string]cuda.Source{
		"text":    source(as, "b"),
		"name":    source(func(j *Job) { j.Source.Name = "l.cu" }, "a"),
		"file":    source(func(j *Job) { j.Source.Includes = map[string]string{"plan.cuh": "q"} }, "a"),
		"options": source(func(j *Job) { j.Source.Options = []string{"-DX"} }, "a"),
		"cache":   source(func(j *Job) { j.cached = true }, "a"),
	} {
		if other.Keys == nil || other.Keys == first.Keys {
			t.Errorf("%s: the source of another job", name)
		}
	}
	for i := range 2 * sourcesMost {
		source(as, strconv.Itoa(i))
	}
	if n := len(all.all); n > sourcesMost {
		t.Errorf("%d sources are remembered", n)
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
