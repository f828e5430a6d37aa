package join

import (
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// How new rows get their places; see kernels/join/search.cuh.
const (
	atomically = iota // one atomic addition for each batch of rows (GENEVA)
	combined          // Prealloc-Combine (GSI)
	twice             // two passes
)

// windowKernels are the kernels of phases that do not get places by atomic additions: the first
// measures rows, the second fills a window.
var windowKernels = [...][]string{combined: {"join_bounds", "join_fill", "join_link"}, twice: {"join_sizes", "join_placed"}}

// windows is a phase's way through the numbers that prefix sums give to new rows, or to places that they
// might need.
type windows struct {
	measured      bool   // sizes and starts are of the table that is joined
	begin, total  uint64 // the numbers before begin are done
	from          uint32 // where the row that has number begin goes on
	sizes, starts cuda.Buffer
	found, places cuda.Buffer
}

// windowBytes is the memory that phase i needs for each row of a table besides the table.
func (t *tables) windowBytes(i int) int64 {
	switch {
	case !t.phase[i].windowed:
		return 0
	case t.output == combined:
		return 2*(4+8) + 4
	}
	return 4 + 8
}

// allocateWindows takes memory for a phase.
func (t *tables) allocateWindows(p *phase) (err error) {
	if !p.windowed {
		return nil
	}
	room := int64(t.room)
	if t.tools, err = t.x.Tools(); err != nil {
		return err
	}
	take := func(to *cuda.Buffer, what string, bytes int64) {
		if err == nil && to.Ptr == 0 {
			*to, err = t.x.Scratch(what, bytes)
		}
	}
	take(&t.sums, "prefix sums", session.OffsetsRoom(uint64(room)))
	take(&p.sizes, "numbers of new rows", 4*room)
	take(&p.starts, "places of new rows", 8*(room+1))
	if t.output == combined {
		take(&t.buffer, "survivors of rows", 4*room)
		take(&p.found, "numbers of survivors", 4*room)
		take(&p.places, "places of new rows", 8*(room+1))
	}
	return err
}

// sum makes the prefix sums of n sizes, and returns their total.
func (t *tables) sum(sums, sizes cuda.Buffer, n uint32) (uint64, error) {
	if err := t.tools.OffsetsIn(sums, sizes, t.sums, uint64(n)); err != nil {
		return 0, err
	}
	if err := t.x.Stream().Synchronize(); err != nil {
		return 0, err
	}
	total := make([]uint64, 1)
	err := cuda.Download(t.x.Context(), total, sums, 8*int64(n))
	return total[0], err
}

// window makes the next new rows of phase i, as many as its table has room for. First it measures
// the rows of the table before, if that was not done.
func (t *tables) window(i int) (err error) {
	p, in := &t.phase[i], &t.phase[i-1]
	a := t.args(i)
	rows := uint64(in.count - in.base)
	a.Chunk = uint32(min(max(rows/(4*t.warps), 1), 16))
	units := (rows + uint64(a.Chunk) - 1) / uint64(a.Chunk)
	kernels := windowKernels[t.output]
	if !p.measured {
		if err := t.launch(i, kernels[0], &a, units); err != nil || t.x.Stopped() {
			return err
		}
		p.measured, p.begin, p.from = true, 0, 0
		if p.total, err = t.sum(p.starts, p.sizes, in.count); err != nil {
			return err
		}
	}
	if p.begin >= p.total { // no row has more
		in.base = in.count
		return nil
	}
	a.Window, a.End, a.From = p.begin, p.begin+uint64(t.room-p.count), p.from
	if err := t.launch(i, kernels[1], &a, units); err != nil || t.x.Stopped() {
		return err
	}
	next, last := in.count, in.count // rows before next are done; those before last are in the window
	if p.total >= a.End {
		next, last = p.state.Last+p.state.Whole, p.state.Last+1
	}
	made := min(a.End, p.total) - a.Window
	if t.output == combined {
		n := last - in.base
		if made, err = t.sum(p.places, p.found, n); err != nil {
			return err
		}
		a.Count, a.Room = n, p.count
		if err := t.launch(i, kernels[2], &a, (uint64(n)+uint64(a.Chunk)-1)/uint64(a.Chunk)); err != nil {
			return err
		}
	}
	in.base, p.begin, p.from = next, a.End, p.state.From
	had := p.count
	p.count += uint32(made)
	t.held(i, had)
	p.drains = t.room-p.count < max(1, t.room/8) // a window of few rows is not worth its launches
	return nil
}
