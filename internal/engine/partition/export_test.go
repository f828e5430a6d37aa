package partition

import "github.com/weftgraph/weft/internal/engine"

// Kernels returns the texts of all kernels, by name.
func Kernels() map[string]string {
	texts := kernelTexts()
	for name, text := range texts {
		texts[name] = kernelsText + text
	}
	return texts
}

// SetCheck replaces the check of the host's memory.
func SetCheck(p engine.Prepared, check func(what string, need uint64, budget int64) error) {
	p.(*prepared).check = check
}
