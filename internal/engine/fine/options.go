package fine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu/membership"
)

// options are the engine's switches.
type options struct {
	batch bool   // fine.batch=on|off: partial matches share a pool
	tail  bool   // fine.tail=on|off: the plan's last levels are closed by arithmetic
	prune bool   // fine.prune=on|off: vertices of too few neighbours are removed first
	steal uint32 // fine.steal=off|block|grid

	lookup membership.Lookup // fine.lookup=auto|bits|hash|search: membership in a list by its row of bits, its hash table, or binary search
	share  int               // fine.siblings=auto|on|off: the last level's candidates are tested for siblings together
	index  int               // fine.index=auto|none|bitmap|hash: a candidate graph, and how membership in its rows is found out
	pool   uint64            // fine.pool=N: partial matches that the breadth-first start makes; 0: none
}

// How warps without work get some; enum Steal.
const (
	stealOff uint32 = iota
	stealBlock
	stealGrid
)

// Whether siblings share tests: with auto where these are of rows of bits.
const (
	siblingsAuto int = iota
	siblingsOn
	siblingsOff
)

// Whether there is a candidate graph.
const (
	indexAuto int = iota
	indexNone
	indexBitmap
	indexHash
)

// switches are the names of the engine's options.
var switches = []string{"fine.batch", "fine.tail", "fine.prune", "fine.lookup", "fine.steal", "fine.siblings", "fine.index", "fine.pool"}

// optionsOf reads the switches; the error names what cannot be.
func optionsOf(o engine.Options) (options, error) {
	out := options{batch: true, tail: true, steal: stealGrid, pool: 1000000}
	for name := range o.Opt {
		if strings.HasPrefix(name, "fine.") && !slices.Contains(switches, name) {
			return out, fmt.Errorf("%w %s: want one of %s", engine.ErrOption, name, strings.Join(switches, ", "))
		}
	}
	for name, to := range map[string]*bool{"fine.batch": &out.batch, "fine.tail": &out.tail, "fine.prune": &out.prune} {
		switch v := o.Opt[name]; v {
		case "":
		case "on":
			*to = true
		case "off":
			*to = false
		default:
			return out, fmt.Errorf("%w %s=%s: want on or off", engine.ErrOption, name, v)
		}
	}
	switch v := o.Opt["fine.steal"]; v {
	case "", "grid":
	case "block":
		out.steal = stealBlock
	case "off":
		out.steal = stealOff
	default:
		return out, fmt.Errorf("%w fine.steal=%s: want off, block or grid", engine.ErrOption, v)
	}
	var err error
	if out.lookup, err = membership.Parse("fine.lookup", o.Opt["fine.lookup"]); err != nil {
		return out, err
	}
	for _, choice := range []struct {
		name   string
		to     *int
		values []string
	}{
		{"fine.siblings", &out.share, []string{"auto", "on", "off"}},
		{"fine.index", &out.index, []string{"auto", "none", "bitmap", "hash"}},
	} {
		if v := o.Opt[choice.name]; v != "" {
			if *choice.to = slices.Index(choice.values, v); *choice.to < 0 {
				return out, fmt.Errorf("%w %s=%s: want one of %s", engine.ErrOption, choice.name, v, strings.Join(choice.values, ", "))
			}
		}
	}
	if v := o.Opt["fine.pool"]; v != "" {
		n, err := strconv.ParseUint(v, 10, 32)
		if err != nil {
			return out, fmt.Errorf("%w fine.pool=%s: want a number of partial matches", engine.ErrOption, v)
		}
		out.pool = n
	}
	return out, nil
}
