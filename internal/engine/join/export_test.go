package join

import (
	"maps"
	"slices"
	"strings"
)

// AllKernels is one program of all kernels.
func AllKernels() string {
	return kernelsText + strings.Join(slices.Sorted(maps.Values(kernelTexts())), "")
}
