package session

import (
	"errors"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
)

// Meter measures how long copies to a device and kernels took, and how much of the copying was hidden behind
// kernels. It is used inside Do.
type Meter struct {
	c      *cuda.Context
	base   *cuda.Event
	idle   []*cuda.Event
	open   []metered
	spans  [2][]span
	Copied int64 // bytes
}

type span struct{ begin, end time.Duration }

type metered struct {
	what       int
	begin, end *cuda.Event
}

// What a Meter measures.
const (
	copying = iota
	computing
)

// meterOpen is how many spans a Meter leaves open before it waits for them.
const meterOpen = 256

// NewMeter starts a Meter. Close it before the run ends.
func (x *Exec) NewMeter() (*Meter, error) {
	m := &Meter{c: x.c}
	var err error
	if m.base, err = x.c.Event(); err != nil {
		return nil, err
	}
	return m, errors.Join(m.base.Record(x.stream))
}

func (m *Meter) event() (*cuda.Event, error) {
	if n := len(m.idle); n > 0 {
		e := m.idle[n-1]
		m.idle = m.idle[:n-1]
		return e, nil
	}
	return m.c.Event()
}

// Kernels measures the work that f puts into a stream.
func (m *Meter) Kernels(s *cuda.Stream, f func() error) error { return m.measure(computing, s, f) }

// Copies measures a copy of bytes that f puts into a stream.
func (m *Meter) Copies(bytes int64, s *cuda.Stream, f func() error) error {
	m.Copied += bytes
	return m.measure(copying, s, f)
}

func (m *Meter) measure(what int, s *cuda.Stream, f func() error) error {
	if len(m.open) >= meterOpen {
		if err := m.collect(); err != nil {
			return err
		}
	}
	p := metered{what: what}
	var err error
	if p.begin, err = m.event(); err != nil {
		return err
	}
	if p.end, err = m.event(); err != nil {
		return errors.Join(err, p.begin.Close())
	}
	m.open = append(m.open, p)
	if err := p.begin.Record(s); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return p.end.Record(s)
}

// collect waits for all open spans, and reads their times.
func (m *Meter) collect() error {
	for len(m.open) > 0 {
		p := m.open[0]
		if err := p.end.Synchronize(); err != nil {
			return err
		}
		begin, err := p.begin.Since(m.base)
		if err != nil {
			return err
		}
		end, err := p.end.Since(m.base)
		if err != nil {
			return err
		}
		m.spans[p.what] = append(m.spans[p.what], span{begin, end})
		m.open = m.open[1:]
		m.idle = append(m.idle, p.begin, p.end)
	}
	return nil
}

// Metered is the time in which anything was copied, that in which a kernel ran, and that in which both happened.
type Metered struct {
	Copied                     int64 // bytes
	Copying, Computing, Hidden time.Duration
}

// Plus returns the sum of two.
func (a Metered) Plus(b Metered) Metered {
	return Metered{a.Copied + b.Copied, a.Copying + b.Copying, a.Computing + b.Computing, a.Hidden + b.Hidden}
}

// Read waits for all that was measured, and returns it.
func (m *Meter) Read() (Metered, error) {
	if err := m.collect(); err != nil {
		return Metered{}, err
	}
	return m.Sofar(), nil
}

// Sofar is Read without waiting: of what is known to have ended.
func (m *Meter) Sofar() Metered {
	for what := range m.spans {
		m.spans[what] = union(m.spans[what])
	}
	r := Metered{Copied: m.Copied, Copying: length(m.spans[copying]), Computing: length(m.spans[computing])}
	r.Hidden = r.Copying + r.Computing - length(union(slices.Concat(m.spans[copying], m.spans[computing])))
	return r
}

// union returns spans without overlap that cover the same times.
func union(all []span) (out []span) {
	slices.SortFunc(all, func(a, b span) int { return int(a.begin - b.begin) })
	for _, s := range all {
		if n := len(out); n > 0 && s.begin <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
		} else {
			out = append(out, s)
		}
	}
	return out
}

func length(all []span) (sum time.Duration) {
	for _, s := range all {
		sum += s.end - s.begin
	}
	return sum
}

// Close gives the events back.
func (m *Meter) Close() error {
	errs := []error{m.base.Close()}
	for _, p := range m.open {
		errs = append(errs, p.begin.Close(), p.end.Close())
	}
	for _, e := range m.idle {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}
