package partition

import "fmt"

// kernelsText is the text before each kernel's own.
const kernelsText = "#include \"partition/kernels.cuh\"\n"

// The kernel that marks the vertices whose lists rows need.
const markKernel = "partition_mark"

// kernelTexts are the texts of all kernels by name.
func kernelTexts() map[string]string {
	texts := map[string]string{markKernel: fmt.Sprintf("PARTITION_MARK_KERNEL(%s)\n", markKernel)}
	for _, goal := range []struct{ name, macro string }{{"rows", "PARTITION_ROWS"}, {"count", "PARTITION_COUNT"}, {"list", "PARTITION_LIST"}} {
		name := "partition_" + goal.name
		texts[name] = fmt.Sprintf("PARTITION_KERNEL(%s, %s, rows)\n", name, goal.macro)
		if goal.name != "rows" {
			texts[name+"_whole"] = fmt.Sprintf("PARTITION_KERNEL(%s_whole, %s, whole)\n", name, goal.macro)
		}
	}
	return texts
}

// ending is the kernel of the last level.
func (x *prepared) ending() string {
	name := "partition_count"
	if x.listing {
		name = "partition_list"
	}
	if len(x.p.Order) == 2 {
		name += "_whole"
	}
	return name
}

// needed are the kernels that the searches launch.
func (x *prepared) needed() map[string]bool {
	names := map[string]bool{x.ending(): true}
	if len(x.p.Order) > 2 {
		names[markKernel] = true
	}
	if len(x.p.Order) > 3 {
		names["partition_rows"] = true
	}
	return names
}
