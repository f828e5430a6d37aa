package neighbourhood

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine"
)

// switches are the options ENGINE.local.NAME=VALUE.
type switches struct {
	universes []int // classes=64,1024: those of these sizes are used
	table     int   // table=N: outside vertices in a table at a time; 0: as many as have room
	alone     bool  // share=off: a root is one team's
	lists     bool  // whole=off: roots are listed by class however small the graph is
	noMotion  bool  // ENGINE.code-motion=off: every set is made where it is used

	made *atomic.Int64 // engine.Options.Lowered
}

// On reads ENGINE.local, which is on or off, and checks the options below it.
func On(name string, opt map[string]string) (bool, error) {
	on, _, err := parse(name, opt)
	return on, err
}

func parse(name string, opt map[string]string) (on bool, w switches, err error) {
	on = true
	w.noMotion = opt[name+".code-motion"] == "off"
	for key, value := range opt {
		of, ok := strings.CutPrefix(key, name+".local")
		if !ok || of != "" && of[0] != '.' {
			continue
		}
		wrong := func(text string) error { return fmt.Errorf("%w %s=%s: %s", engine.ErrOption, key, value, text) }
		switch of {
		case "":
			if on = value == "on"; !on && value != "off" {
				return on, w, wrong("want on or off")
			}
		case ".classes":
			for text := range strings.SplitSeq(value, ",") {
				n, err := strconv.Atoi(text)
				if err != nil {
					return on, w, wrong("want sizes of neighbourhoods, as 64,1024")
				}
				w.universes = append(w.universes, n)
			}
		case ".table":
			if w.table, err = strconv.Atoi(value); err != nil || w.table < 1 {
				return on, w, wrong("want a number of outside vertices")
			}
		case ".share":
			if w.alone = value == "off"; !w.alone && value != "on" {
				return on, w, wrong("want on or off")
			}
		case ".whole":
			if w.lists = value == "off"; !w.lists && value != "on" {
				return on, w, wrong("want on or off")
			}
		default:
			return on, w, wrong("no such option")
		}
	}
	return on, w, nil
}
