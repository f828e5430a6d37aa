package gpu

import (
	"fmt"
	"strings"
	"time"
)

// Figures are how a run used memory: sums over its GPUs.
type Figures struct {
	Arrays int64   // bytes of the graph's arrays on the GPU
	Cache  int64   // bytes of the cache of lists
	Lists  int     // in the cache
	Reads  float64 // the part of the expected reads that the cache serves
	Search int64   // bytes of the search's own
	Host   int64   // bytes of arrays in host memory
	Copied int64   // bytes copied to the GPU
}

// figuresLine is a line of a result's statistics for each GPU.
const figuresLine = "memory of a GPU: arrays %d bytes, cache %d bytes with %d lists and %.4f of the reads, search %d bytes; host memory: %d bytes; copied: %d bytes in %v"

// Line is the line of statistics of one GPU, on which all was ready for the search after a time.
func (f *Figures) Line(took time.Duration) string {
	return fmt.Sprintf(figuresLine, f.Arrays, f.Cache, f.Lists, f.Reads, f.Search, f.Host, f.Copied, Round(took))
}

// Read reads the figures from a result's statistics. It returns false if there are none.
func (f *Figures) Read(stats []string) (found bool) {
	for _, line := range stats {
		var x Figures
		n, _ := fmt.Sscanf(line, strings.Replace(figuresLine, "%.4f", "%f", 1), &x.Arrays, &x.Cache, &x.Lists, &x.Reads, &x.Search, &x.Host, &x.Copied)
		if n < 7 {
			continue
		}
		found = true
		f.Arrays, f.Cache, f.Lists, f.Search = f.Arrays+x.Arrays, f.Cache+x.Cache, f.Lists+x.Lists, f.Search+x.Search
		f.Host, f.Copied, f.Reads = max(f.Host, x.Host), f.Copied+x.Copied, max(f.Reads, x.Reads)
	}
	return found
}
