package stack

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/engine"
)

// Deepest levels that work is moved from, and siblings bound together, where the
// options do not say: as in the paper, but for fewer siblings, since the last
// level, where most of the work is, is flat anyway.
const (
	defaultUnroll = 4
	defaultStop   = 2
	defaultDetect = 1
)

// switches are the engine's options, stack.NAME=VALUE.
type switches struct {
	table  bool   // program=table: the set program as a table, not as code for the plan
	motion bool   // code-motion=off: every set is made where it is used
	unroll int    // unroll=1|2|4|8: siblings whose set operations are one
	steal  int    // steal=off|block|grid
	stop   int    // stop-level=N: the deepest level from whose list siblings steal
	detect int    // detect-level=N: the deepest level whose list is shared with idle blocks
	slot   int    // slot=N: elements a set's memory has; 0: as many as any set may need, if there is room
	tail   bool   // tail=off: every match is visited
	flat   bool   // flat=off: the last level candidate by candidate
	roots  string // roots=vertex|edge|auto: what a task is
	blocks int    // blocks=N: of the grid; 0: as many as the device holds
	thread int    // threads=N: of a block
	chunk  int    // chunk=N: tasks taken at a time; 0: by their number
	sieve  int    // sieve=N: log2 of the bits of a warp's table for membership; 0: none
	stats  bool   // stats=on: techniques and lanes are counted
}

// parse reads the options that begin with "stack.".
func parse(o engine.Options) (switches, error) {
	s := switches{
		motion: true, unroll: defaultUnroll, steal: 2, stop: defaultStop, detect: defaultDetect, tail: true, flat: true,
		roots: "auto", thread: 256, sieve: 14, stats: o.Levels,
	}
	for key, value := range o.Opt {
		name, ok := strings.CutPrefix(key, "stack.")
		if !ok || name == "local" || strings.HasPrefix(name, "local.") {
			continue // of the local method: local.On
		}
		if err := s.set(name, value); err != nil {
			return s, fmt.Errorf("%w %s=%s: %w", engine.ErrOption, key, value, err)
		}
	}
	return s, nil
}

func (s *switches) set(name, value string) error {
	number := func(to *int, least, most int) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > most {
			return fmt.Errorf("want a number from %d to %d", least, most)
		}
		*to = n
		return nil
	}
	choice := func(to *string, of ...string) error {
		if !slices.Contains(of, value) {
			return fmt.Errorf("want one of %s", strings.Join(of, ", "))
		}
		*to = value
		return nil
	}
	onOff := func(to *bool) error {
		var v string
		err := choice(&v, "on", "off")
		*to = v == "on"
		return err
	}
	var v string
	var err error
	switch name {
	case "program":
		err = choice(&v, "code", "table")
		s.table = v == "table"
	case "code-motion":
		err = onOff(&s.motion)
	case "unroll":
		if err = choice(&v, "1", "2", "4", "8"); err == nil {
			s.unroll, err = strconv.Atoi(v)
		}
	case "steal":
		err = choice(&v, "off", "block", "grid")
		s.steal = max(0, slices.Index([]string{"off", "block", "grid"}, v))
	case "stop-level":
		err = number(&s.stop, 0, 31)
	case "detect-level":
		err = number(&s.detect, 0, 31)
	case "slot":
		err = number(&s.slot, 0, 1<<30)
	case "tail":
		err = onOff(&s.tail)
	case "flat":
		err = onOff(&s.flat)
	case "roots":
		err = choice(&s.roots, "vertex", "edge", "auto")
	case "blocks":
		err = number(&s.blocks, 0, 1<<20)
	case "threads":
		if err = number(&s.thread, 32, 1024); err == nil && s.thread%32 != 0 {
			err = fmt.Errorf("want whole warps of 32 threads")
		}
	case "chunk":
		err = number(&s.chunk, 0, 1<<20)
	case "sieve":
		if err = number(&s.sieve, 0, 20); err == nil && s.sieve > 0 && s.sieve < 10 {
			err = fmt.Errorf("want 0 or at least 10")
		}
	case "stats":
		err = onOff(&s.stats)
	default:
		err = fmt.Errorf("no such option")
	}
	return err
}
