package neighbourhood

import (
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// dealer deals the vertices of a graph to the devices of a run, which search them in rounds. A
// device first gets half of its share. Each time it has ended, it gets a part of the rest, so
// that a slow device gets less and all end together. A part is every parts-th vertex, because
// neighbours in the order of ids are alike. A single device gets all vertices at once.
type dealer struct {
	mu             sync.Mutex
	devices, parts int
	next           int
}

// partsOfDevice is how many parts there are for each of several devices.
const partsOfDevice = 32

// shortRound is the length of a round after which another round is hardly worth it. The rest is
// then dealt in equal shares.
const shortRound = 2 * time.Millisecond

func newDealer(devices int) *dealer {
	d := &dealer{devices: devices, parts: 1}
	if devices > 1 {
		d.parts = partsOfDevice * devices
	}
	return d
}

// most bounds the parts of a round.
func (d *dealer) most() int { return max(1, d.parts/(2*d.devices)) }

// first is a device's first round: parts from … from+n-1.
func (d *dealer) first() (from, n int) { return d.give(d.most()) }

// another is the next round of a device whose last took so long; none: n is 0.
func (d *dealer) another(took time.Duration) (from, n int) {
	d.mu.Lock()
	left := d.parts - d.next
	d.mu.Unlock()
	n = (left + 2*d.devices - 1) / (2 * d.devices)
	if took < shortRound {
		n = (left + d.devices - 1) / d.devices
	}
	return d.give(min(n, d.most()))
}

func (d *dealer) give(n int) (from, got int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from, got = d.next, min(n, d.parts-d.next)
	d.next += got
	return from, got
}

// rounds is the search of one device.
type rounds struct {
	x       *session.Exec
	d       *dealer
	clear   []cuda.Buffer // before each round
	list    func(from, parts int) error
	classes []func() error
	again   func() (others uint64, err error) // has all listed roots to be taken once more; others are vertices that are none
	columns func() error                      // the search in sweeps over columns; nil: it cannot be made so
}

// cleared is scratch that is zero when a round begins.
func (r *rounds) cleared(what string, bytes int64) (cuda.Buffer, error) {
	b, err := r.x.Scratch(what, bytes)
	if err != nil {
		return b, err
	}
	r.clear = append(r.clear, b)
	return b, r.x.Context().Clear(b, r.x.Stream())
}

// search goes through all rounds. The session waits for the last one.
func (r *rounds) search() error {
	if r.x.Columns() {
		return r.columns()
	}
	from, n := r.d.first()
	for {
		begun := time.Now()
		if err := r.round(from, n); err != nil {
			return err
		}
		if r.d.devices == 1 {
			return r.sweep()
		}
		if err := r.x.Join(); err != nil {
			return err
		}
		if from, n = r.d.another(time.Since(begun)); n == 0 || r.x.Stopped() {
			return nil
		}
		for _, b := range r.clear {
			if err := r.x.Context().Clear(b, r.x.Stream()); err != nil {
				return err
			}
		}
	}
}

func (r *rounds) round(from, parts int) error {
	if err := r.list(from, parts); err != nil {
		return err
	}
	return r.launch()
}

// launch searches the roots that are listed.
func (r *rounds) launch() error {
	if err := r.x.Fork(); err != nil {
		return err
	}
	for _, launch := range r.classes {
		if err := launch(); err != nil {
			return err
		}
	}
	return nil
}

// sweep searches the listed roots once more for each block of lists behind the first.
func (r *rounds) sweep() error {
	for i := 1; i < r.x.Blocks(); i++ {
		if err := r.x.Join(); err != nil || r.x.Stopped() {
			return err
		}
		others, err := r.again()
		if err != nil {
			return err
		}
		if more, err := r.x.Again(others); err != nil || !more {
			return err
		}
		if err := r.x.Bring(i); err != nil {
			return err
		}
		if err := r.launch(); err != nil {
			return err
		}
	}
	return nil
}
