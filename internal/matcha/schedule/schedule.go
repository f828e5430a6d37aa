// Package schedule describes how a target spreads the items of a Matcha program's parallel
// phases over threads (thesis, section 3.6). A schedule never changes an answer.
//
// It knows targets by their names. It must not know programs.
package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Target is what runs a program.
type Target string

// Targets.
const (
	Interp Target = "interp" // the interpreter, on one core
	C      Target = "c"      // C, on cores
	CUDA   Target = "cuda"   // CUDA C++, on GPUs
)

// Schedule is a choice of each knob. Which of them a target has, Parse knows;
// the others have no meaning for it.
type Schedule struct {
	Target Target
	// Threads is how many threads there are, 0: as many as the machine runs at once.
	Threads int
	// Group is how many neighbouring threads (lanes) work on one item: 1, 2, 4, 8, 16
	// or 32.
	Group int
	// Steal lets a group without work take half of what is left of another's loops.
	Steal bool
	// Static gives each worker its part of the items at the start, instead of a few at
	// a time.
	Static bool
	// Block is how many threads a block has.
	Block int
	// Shared names the lists whose memory lies in the block's shared memory.
	Shared []string
}

// Default is the schedule that a target has where nothing is said. Whole warps
// were the fastest groups of docs/gpu.md wherever a run took a millisecond.
func Default(t Target) Schedule {
	s := Schedule{Target: t, Group: 1, Steal: t == C}
	if t == CUDA {
		s.Group, s.Block, s.Steal = 32, 256, true
	}
	return s
}

// knobs are the knobs in their order, with the targets that have them.
var knobs = []struct {
	name    string
	targets []Target
	text    func(s Schedule) string
	set     func(s *Schedule, value string) error
}{
	{"threads", []Target{C, CUDA}, func(s Schedule) string {
		if s.Threads == 0 {
			return "all"
		}
		return strconv.Itoa(s.Threads)
	}, func(s *Schedule, v string) (err error) {
		s.Threads = 0
		if v != "all" {
			s.Threads, err = number(v, 1, 1<<30)
		}
		return err
	}},
	{"group", []Target{CUDA}, func(s Schedule) string { return strconv.Itoa(s.Group) }, func(s *Schedule, v string) (err error) {
		if s.Group, err = number(v, 1, 32); err != nil || s.Group&(s.Group-1) != 0 {
			return fmt.Errorf("want 1, 2, 4, 8, 16 or 32")
		}
		return nil
	}},
	{"steal", []Target{C, CUDA}, func(s Schedule) string { return pick(s.Steal, "on", "off") }, func(s *Schedule, v string) (err error) {
		s.Steal, err = either(v, "on", "off")
		return err
	}},
	{"loop", []Target{C, CUDA}, func(s Schedule) string { return pick(s.Static, "static", "dynamic") }, func(s *Schedule, v string) (err error) {
		s.Static, err = either(v, "static", "dynamic")
		return err
	}},
	{"block", []Target{CUDA}, func(s Schedule) string { return strconv.Itoa(s.Block) }, func(s *Schedule, v string) (err error) {
		if s.Block, err = number(v, 32, 1024); err != nil || s.Block%32 != 0 {
			return fmt.Errorf("want a multiple of 32 up to 1024")
		}
		return nil
	}},
	{"shared", []Target{CUDA}, func(s Schedule) string {
		if len(s.Shared) == 0 {
			return "none"
		}
		return strings.Join(s.Shared, "+")
	}, func(s *Schedule, v string) error {
		s.Shared = nil
		if v == "none" {
			return nil
		}
		for name := range strings.SplitSeq(v, "+") {
			if name == "" || slices.Contains(s.Shared, name) {
				return fmt.Errorf("want names of lists with + between them, each once, or none")
			}
			s.Shared = append(s.Shared, name)
		}
		return nil
	}},
}

// Parse reads a schedule, "group=8,steal=off": knobs that are not named are as in
// Default, as all are in an empty text. The error says which knobs and values the
// target has.
func Parse(t Target, text string) (Schedule, error) {
	s := Default(t)
	if text == "" {
		return s, nil
	}
	var names []string
	for _, k := range knobs {
		if slices.Contains(k.targets, t) {
			names = append(names, k.name)
		}
	}
	if len(names) == 0 {
		return s, fmt.Errorf("schedule: the target %s has none", t)
	}
	var seen []string
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || !slices.Contains(names, name) {
			return s, fmt.Errorf("schedule: %q: the target %s has %s, as in %s", part, t, strings.Join(names, ", "), Default(t))
		}
		if slices.Contains(seen, name) {
			return s, fmt.Errorf("schedule: %s is given twice", name)
		}
		seen = append(seen, name)
		for _, k := range knobs {
			if k.name != name {
				continue
			}
			if err := k.set(&s, value); err != nil {
				return s, fmt.Errorf("schedule: %s=%s: %w", name, value, err)
			}
		}
	}
	return s, s.check()
}

// check compares knobs with each other.
func (s Schedule) check() error {
	if s.Target == CUDA && s.Threads%s.Block != 0 {
		return fmt.Errorf("schedule: the number of threads, %d, is not a multiple of the block's, %d", s.Threads, s.Block)
	}
	return nil
}

// String is the schedule as Parse reads it, with all knobs of its target; "none"
// where it has no knobs.
func (s Schedule) String() string {
	var out []string
	for _, k := range knobs {
		if slices.Contains(k.targets, s.Target) {
			out = append(out, k.name+"="+k.text(s))
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ",")
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// either is whether v is a, where it is a or b.
func either(v, a, b string) (bool, error) {
	if v != a && v != b {
		return false, fmt.Errorf("want %s or %s", a, b)
	}
	return v == a, nil
}

func number(v string, least, most int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("want a number from %d to %d", least, most)
	}
	return n, nil
}
