package join

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/plan/phases"
)

// kernelsText is the text before each kernel's own.
const kernelsText = "#include \"join/kernels.cuh\"\n"

// kernelTexts are the texts of all kernels by name. They are the same for all plans, and a plan needs few of them: GPUs
// compile those, each by itself.
func kernelTexts() map[string]string {
	texts := map[string]string{
		filterKernel:      "#include \"join/filter.cuh\"\n",
		"join_forget":     "JOIN_MERGE_KERNEL(join_forget)\n",
		"join_same":       "JOIN_MERGE_KERNEL(join_same)\n",
		"join_move":       "JOIN_MERGE_KERNEL(join_move)\n",
		"join_tail_count": "JOIN_TAIL_KERNEL(join_tail_count)\n",
		"join_histogram":  "JOIN_SORT_KERNEL(join_histogram)\n",
		"join_deal":       "JOIN_SORT_KERNEL(join_deal)\n",
		// Rows that get the number of their candidates as a factor of their weight.
		"join_weigh": "JOIN_KERNEL(join_weigh, JOIN_WEIGH, rows)\n",
		// Two passes: sizes of all rows of a table, and then windows of new rows.
		"join_sizes":  "JOIN_KERNEL(join_sizes, JOIN_SIZES, sizes)\n",
		"join_placed": "JOIN_KERNEL(join_placed, JOIN_PLACED, placed)\n",
		// Prealloc-Combine: upper bounds of all rows of a table, and then windows of survivors, linked to new rows.
		"join_bounds": "JOIN_KERNEL(join_bounds, JOIN_SIZES, bounds)\n",
		"join_fill":   "JOIN_KERNEL(join_fill, JOIN_FILL, placed)\n",
		"join_link":   "JOIN_KERNEL(join_link, JOIN_PLACED, link)\n",
	}
	for _, goal := range []string{"rows", "count", "list"} {
		add := func(name, macro, work string) {
			name += goal
			texts[name] = fmt.Sprintf("%s(%s, JOIN_%s%s)\n", macro, name, strings.ToUpper(goal), work)
		}
		add("join_roots_", "JOIN_KERNEL", ", roots")
		add("join_", "JOIN_KERNEL", ", rows")
		add("join_several_", "JOIN_SEVERAL_KERNEL", "")
		add("join_keep_", "JOIN_KEEP_KERNEL", "")
		add(sharing, "JOIN_SHARED_KERNEL", "")
		add("join_grid_", "JOIN_LAYER_KERNEL", ", grid")
		add("join_block_", "JOIN_LAYER_KERNEL", ", blockwise")
		add("join_pool_", "JOIN_LAYER_KERNEL", ", pool")
	}
	return texts
}

// filterKernel is the name of the kernel that filters by signatures.
const filterKernel = "join_filter"

// phaseKernel is how phase i is run.
type phaseKernel struct {
	name     string // of its kernel
	goal     string // the end of that: rows, count or list
	keeps    bool   // it is an elimination
	several  bool   // it matches several vertices
	divides  bool   // a row may be for several warps
	late     bool   // lists of the last vertex are found for each match of the others
	windowed bool   // new rows get places by prefix sums
	layered  bool   // rows are joined by layers
	merges   bool   // it merges rows, by mergeKernels
}

// phaseKernels returns how each phase is run.
func (x *onGPU) phaseKernels() []phaseKernel {
	all := make([]phaseKernel, len(x.steps))
	last := len(all) - 1
	for i := range all {
		p, s := &all[i], &x.steps[i]
		p.name = "join_"
		switch {
		case i == 0:
			p.name = "join_roots_"
		case s.merging != nil:
			p.merges = true
			continue
		case i == last && x.closing != nil:
			p.name = "join_tail_"
		case s.Pattern == phases.Eliminate:
			p.name, p.keeps = "join_keep_", true
		case len(s.levels) > 1:
			p.name, p.several, p.divides = "join_several_", true, len(s.levels) <= maxPlaces
			p.late = s.levels[len(s.levels)-1].late
		}
		single := p.name == "join_"
		if p.layered = single && x.balance; single && x.share {
			p.name = sharing
		}
		p.goal = "count"
		switch {
		case s.Weigh:
			p.goal = "weigh"
		case i < last:
			p.goal = "rows"
			p.windowed = single && x.output != atomically
		case x.listing:
			p.goal = "list"
		}
		p.name += p.goal
	}
	return all
}

// needed are the names of the kernels of all phases, sorted.
func (x *onGPU) needed() []string {
	var all []string
	for _, p := range x.phaseKernels() {
		if p.merges {
			all = append(all, mergeKernels[:]...)
			continue
		}
		all = append(all, p.name)
		if p.windowed {
			all = append(all, windowKernels[x.output]...)
		}
		if p.layered {
			for _, name := range layerKernels {
				all = append(all, name+p.goal)
			}
			all = append(all, "join_bounds", "join_histogram", "join_deal")
		}
	}
	x.eachFiltered(func(*group) { all = append(all, filterKernel) })
	slices.Sort(all)
	return slices.Compact(all)
}
