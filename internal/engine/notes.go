package engine

import (
	"fmt"
	"slices"
	"sync"
)

// Notes are sentences for a result, each once, whichever devices say it. The zero
// value has none. Calls may be concurrent.
type Notes struct {
	mu  sync.Mutex
	all []string
}

// Add keeps a sentence, formatted as by fmt.Sprintf.
func (n *Notes) Add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s := fmt.Sprintf(format, args...); !slices.Contains(n.all, s) {
		n.all = append(n.all, s)
	}
}

// All returns the sentences, the first first.
func (n *Notes) All() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}
