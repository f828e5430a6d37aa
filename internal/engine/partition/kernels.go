package partition

import "fmt"

// kernelsText is the text before each kernel's own.
const kernelsText = "#include \"partition/kernels.cuh\"\n"

const (
	markKernel  = "partition_mark"  // marks the vertices whose lists rows need
	pairsKernel = "partition_pairs" // counts two levels together
	rowsKernel  = "partition_rows"  // makes the next table
)

// kernelTexts are the texts of all kernels by name.
func kernelTexts() map[string]string {
	texts := map[string]string{
		markKernel:  fmt.Sprintf("PARTITION_MARK_KERNEL(%s)\n", markKernel),
		pairsKernel: fmt.Sprintf("PARTITION_PAIRS_KERNEL(%s)\n", pairsKernel),
	}
	for _, goal := range []struct{ name, macro string }{{"rows", "PARTITION_ROWS"}, {"count", "PARTITION_COUNT"}, {"list", "PARTITION_LIST"}} {
		name := "partition_" + goal.name
		texts[name] = fmt.Sprintf("PARTITION_KERNEL(%s, %s, rows)\n", name, goal.macro)
		if goal.name != "rows" {
			texts[name+"_whole"] = fmt.Sprintf("PARTITION_KERNEL(%s_whole, %s, whole)\n", name, goal.macro)
		}
	}
	return texts
}

// kernelFor is the kernel that searches rows of so many vertices, and whether they end there.
func (x *prepared) kernelFor(s *search, width int) (name string, last bool) {
	name = "partition_count"
	if x.listing {
		name = "partition_list"
	}
	switch all := len(s.levels); {
	case width == all:
		return name + "_whole", true
	case width == all-1:
		return name, true
	case width == all-2 && s.pairs > 0:
		return pairsKernel, true
	}
	return rowsKernel, false
}

// needed are the kernels that the searches launch.
func (x *prepared) needed() map[string]bool {
	names := map[string]bool{}
	for i := range x.searches {
		for width, last := 2, false; !last; width++ {
			var name string
			name, last = x.kernelFor(&x.searches[i], width)
			names[name] = true
			if width < len(x.p.Order) {
				names[markKernel] = true
			}
		}
	}
	return names
}
