package fine

import (
	"fmt"
	"strconv"

	"github.com/weftgraph/weft/internal/engine"
)

// options are the engine's switches.
type options struct {
	batch bool   // fine.batch=on|off: partial matches share a pool
	tail  bool   // fine.tail=on|off: the plan's last levels are closed by arithmetic
	steal uint32 // fine.steal=off|block|grid
	pool  uint64 // fine.pool=N: partial matches that the breadth-first start makes; 0: none
}

// How warps without work get some; enum Steal.
const (
	stealOff uint32 = iota
	stealBlock
	stealGrid
)

// optionsOf reads the switches; the error names what cannot be.
func optionsOf(o engine.Options) (options, error) {
	out := options{batch: true, tail: true, steal: stealGrid, pool: 1000000}
	for name, to := range map[string]*bool{"fine.batch": &out.batch, "fine.tail": &out.tail} {
		switch v := o.Opt[name]; v {
		case "", "on":
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
	if v := o.Opt["fine.pool"]; v != "" {
		n, err := strconv.ParseUint(v, 10, 32)
		if err != nil {
			return out, fmt.Errorf("%w fine.pool=%s: want a number of partial matches", engine.ErrOption, v)
		}
		out.pool = n
	}
	return out, nil
}
