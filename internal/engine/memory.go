package engine

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/memory"
)

// Memory says how a run uses the memory of a GPU.
type Memory struct {
	// Budget is how many bytes a run may use on each GPU. Least is the smallest budget that works; 0: unknown.
	Budget int64 `json:"budget"`
	Least  int64 `json:"least,omitempty"`
	// Parts say in words how the memory is used by a run that has only a part of the graph there at a time. Such a run has none of the
	// following.
	Parts []string `json:"parts,omitempty"`
	// Arrays are those of the graph and of conditions.
	Arrays []MemoryArray `json:"arrays,omitempty"`
	// Cache has copies of lists that lie in host memory; nil: there is none, or it is not known before a run.
	Cache *MemoryCache `json:"cache,omitempty"`
	// Search is the bytes of the search's own memory; 0: not known.
	Search int64 `json:"search,omitempty"`
}

// MemoryArray is an array that kernels read.
type MemoryArray struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Place string `json:"place"` // device, host or managed
}

// MemoryCache is a cache of neighbour lists. Reads is the part of the expected reads of lists that find
// a copy.
type MemoryCache struct {
	Bytes int64   `json:"bytes"`
	Lists int     `json:"lists"`
	Reads float64 `json:"reads"`
}

// Host is the bytes of arrays in host memory, also of those in managed memory.
func (m *Memory) Host() (n int64) {
	for _, a := range m.Arrays {
		if a.Place != "device" {
			n += a.Bytes
		}
	}
	return n
}

// Lines says it in words, a line for each kind of memory.
func (m *Memory) Lines() []string {
	if m.Parts != nil {
		return m.Parts
	}
	size := func(n int64) string { return memory.Text(uint64(n)) }
	first := fmt.Sprintf("%s of a GPU may be used", size(m.Budget))
	switch {
	case m.Least > m.Budget:
		first += fmt.Sprintf(", which is too little: %d bytes are the least that works", m.Least)
	case m.Least > 0:
		first += fmt.Sprintf("; %d bytes are the least that works", m.Least)
	}
	out := []string{first}
	for _, place := range []string{"device", "host", "managed"} {
		var arrays []string
		sum := int64(0)
		for _, a := range m.Arrays {
			if a.Place == place {
				arrays = append(arrays, fmt.Sprintf("%s %s", a.Name, size(a.Bytes)))
				sum += a.Bytes
			}
		}
		if len(arrays) > 0 {
			out = append(out, fmt.Sprintf("%s: %s: %s", map[string]string{"device": "on the GPU", "host": "in host memory", "managed": "in managed memory"}[place], size(sum), strings.Join(arrays, ", ")))
		}
	}
	if c := m.Cache; c != nil {
		out = append(out, fmt.Sprintf("cache on the GPU: %s with %d lists, for %.0f %% of the expected reads", size(c.Bytes), c.Lists, 100*c.Reads))
	}
	if m.Search > 0 {
		out = append(out, fmt.Sprintf("the search's own memory on the GPU: %s", size(m.Search)))
	}
	return out
}
