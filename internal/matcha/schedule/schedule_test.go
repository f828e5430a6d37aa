package schedule

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		target     Target
		text, want string
	}{
		{CUDA, "", "threads=all,group=32,steal=on,loop=dynamic,block=256,shared=none"},
		{CUDA, "group=8,steal=off", "threads=all,group=8,steal=off,loop=dynamic,block=256,shared=none"},
		{CUDA, "shared=common+ends,loop=static,threads=512,block=64", "threads=512,group=32,steal=on,loop=static,block=64,shared=common+ends"},
		{C, "threads=4", "threads=4,steal=on,loop=dynamic"},
		{Interp, "", "none"},
	} {
		if s, err := Parse(c.target, c.text); err != nil || s.String() != c.want {
			t.Errorf("%s: %v, %v", c.text, s, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		target     Target
		text, want string
	}{
		{Interp, "threads=2", "interp has none"},
		{C, "group=8", `"group=8": the target c has threads, steal, loop`},
		{CUDA, "groups=8", "has threads, group, steal"},
		{CUDA, "group", `"group"`},
		{CUDA, "group=3", "group=3: want 1, 2, 4"},
		{CUDA, "group=64", "group=64"},
		{CUDA, "group=8,group=8", "twice"},
		{CUDA, "steal=yes", "want on or off"},
		{CUDA, "loop=", "want static or dynamic"},
		{CUDA, "block=100", "multiple of 32"},
		{CUDA, "threads=0", "want a number from 1"},
		{CUDA, "threads=300", "not a multiple of the block's, 256"},
		{CUDA, "shared=a++b", "names of lists"},
		{CUDA, "shared=a+a", "each once"},
		{CUDA, ",", `""`},
	} {
		if _, err := Parse(c.target, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.target, c.text, err, c.want)
		}
	}
}

// TestRoundTrip: what String writes, Parse reads.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Default(CUDA)
		s.Block = 32 * rapid.IntRange(1, 32).Draw(t, "block")
		s.Threads = s.Block * rapid.IntRange(0, 9).Draw(t, "blocks")
		s.Group = 1 << rapid.IntRange(0, 5).Draw(t, "group")
		s.Steal, s.Static = rapid.Bool().Draw(t, "steal"), rapid.Bool().Draw(t, "static")
		for i := range rapid.IntRange(0, 2).Draw(t, "lists") {
			s.Shared = append(s.Shared, fmt.Sprint("c", i))
		}
		got, err := Parse(CUDA, s.String())
		if err != nil || fmt.Sprint(got) != fmt.Sprint(s) {
			t.Fatalf("%v became %v: %v", s, got, err)
		}
	})
}
