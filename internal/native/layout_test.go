package native

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/c"
)

// TestLayout: the structs of this package and of weft.h have their fields at the same
// places; the sizes alone, which the compiler checks, are full of gaps.
func TestLayout(t *testing.T) {
	var h header
	var w worker
	fields := []struct {
		of, name string
		at       uintptr
	}{
		{"Run", "graph", unsafe.Offsetof(h.graph)}, {"Run", "worker", unsafe.Offsetof(h.worker)}, {"Run", "extra", unsafe.Offsetof(h.extra)},
		{"Run", "units", unsafe.Offsetof(h.units)}, {"Run", "chunk", unsafe.Offsetof(h.chunk)}, {"Run", "workers", unsafe.Offsetof(h.workers)},
		{"Run", "fixed", unsafe.Offsetof(h.fixed)}, {"Run", "steal", unsafe.Offsetof(h.steal)}, {"Run", "grain", unsafe.Offsetof(h.most)},
		{"Run", "rows", unsafe.Offsetof(h.rows)}, {"Run", "number", unsafe.Offsetof(h.number)}, {"Run", "per_root", unsafe.Offsetof(h.perRoot)},
		{"Run", "limit", unsafe.Offsetof(h.limit)}, {"Run", "next", unsafe.Offsetof(h.next)}, {"Run", "total", unsafe.Offsetof(h.total)},
		{"Run", "lent", unsafe.Offsetof(h.lent)}, {"Run", "stop", unsafe.Offsetof(h.stop)}, {"Run", "failed", unsafe.Offsetof(h.failed)},
		{"Run", "waiting", unsafe.Offsetof(h.waiting)}, {"Run", "busy", unsafe.Offsetof(h.busy)}, {"Run", "offers", unsafe.Offsetof(h.offers)},
		{"Worker", "run", unsafe.Offsetof(w.run)}, {"Worker", "id", unsafe.Offsetof(w.id)}, {"Worker", "count", unsafe.Offsetof(w.lo)},
		{"Worker", "over", unsafe.Offsetof(w.over)}, {"Worker", "rows", unsafe.Offsetof(w.rows)}, {"Worker", "room", unsafe.Offsetof(w.room)},
		{"Worker", "cap", unsafe.Offsetof(w.cap)}, {"Worker", "most", unsafe.Offsetof(w.most)}, {"Worker", "buffer", unsafe.Offsetof(w.buffer)},
		{"Worker", "mem", unsafe.Offsetof(w.mem)}, {"Worker", "sums", unsafe.Offsetof(w.sums)}, {"Worker", "item", unsafe.Offsetof(w.item)},
		{"Worker", "last", unsafe.Offsetof(w.last)}, {"Worker", "done", unsafe.Offsetof(w.done)}, {"Worker", "range", unsafe.Offsetof(w.units)},
	}
	var text strings.Builder
	text.WriteString(c.Text(&kir.Program{}))
	for _, f := range fields {
		fmt.Fprintf(&text, "_Static_assert(__builtin_offsetof(%s, %s) == %d, \"%s of %s\");\n", f.of, f.name, f.at, f.name, f.of)
	}
	fmt.Fprintf(&text, "_Static_assert(sizeof(Run) == %d && sizeof(Worker) == %d, \"sizes\");\n", unsafe.Sizeof(h), unsafe.Sizeof(w))
	if _, err := (*Cache)(nil).Compile(t.Context(), "layout", text.String(), 0); errors.Is(err, ErrNoCompiler) {
		t.Skip(err)
	} else if err != nil {
		t.Error(err)
	}
}
