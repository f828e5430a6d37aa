package boltserver

import (
	"context"
	"iter"
	"log/slog"
	"math/big"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/bolt"
	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// result is the answer to a query. The search begins with the first call of Next.
type result struct {
	ctx     context.Context // of the client
	query   *weft.Query
	text    string
	columns []string
	run     *serve.Run
	start   func() source

	rows    source
	summary bolt.Summary
	done    bool
	closed  bool
	log     *slog.Logger
	large   bool // a count does not fit an integer of Bolt
}

// source is the rows of an answer.
type source interface {
	next() (bool, error)
	encode(e *packstream.Encoder)
	stop()
}

// kind is what the query asks for, and how to answer that.
func (r *result) kind() (serve.Kind, func() source) {
	_, count := r.query.AsksCount()
	_, participation := r.query.AsksParticipation()
	switch {
	case r.query.AsksExists():
		return serve.Exists, func() source {
			return &single{of: func() (any, error) {
				yes, x, err := r.run.Exists()
				r.notes(x.Notes)
				if err == nil && !yes && !x.Complete { // nobody knows
					return nil, nil
				}
				return yes, err
			}}
		}
	case participation:
		return serve.Participation, func() source { return &participants{r: r} }
	case count:
		return serve.Count, func() source {
			return &single{of: func() (any, error) {
				x, err := r.run.Count()
				r.notes(x.Notes)
				return r.total(x), err
			}}
		}
	}
	return serve.Match, func() source { return &matches{r: r} }
}

// total is the count that the query asks for.
func (r *result) total(x weft.Result) any {
	n := x.Embeddings
	if what, _ := r.query.AsksCount(); what == weft.Subgraphs {
		n = x.Subgraphs
	}
	if n == nil {
		return nil
	}
	return r.integer(n)
}

// integer is a count as Bolt has it: beyond 63 bits as text.
func (r *result) integer(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	r.large = true
	return n.String()
}

func (r *result) notes(notes []string) {
	for _, n := range notes {
		r.summary.Notes = append(r.summary.Notes, bolt.Note{Code: "Neo.ClientNotification.Statement.Note", Title: "A note on the query", Description: n})
	}
}

func (r *result) Columns() []string { return r.columns }

func (r *result) Next() (bool, error) {
	if r.done {
		return false, nil
	}
	if r.rows == nil {
		r.rows = r.start()
	}
	more, err := r.rows.next()
	if more && err == nil {
		return true, nil
	}
	r.done = true
	r.rows.stop()
	if err != nil && r.ctx.Err() != nil { // also while it waited for its turn; the connection knows why
		return false, r.ctx.Err()
	}
	return false, translated(err, r.text, r.log)
}

func (r *result) Encode(e *packstream.Encoder) { r.rows.encode(e) }

func (r *result) Done() <-chan struct{} { return r.run.Context().Done() }

func (r *result) Summary() bolt.Summary {
	s := r.summary
	if sum := r.run.Summary(); sum.Cut != serve.NotCut {
		s.Notes = append(s.Notes, bolt.Note{
			Code: "Neo.ClientNotification.Statement.IncompleteResult", Title: "The result is not complete", Description: "the result was cut short: " + reason(sum.Cut), Warning: true, Always: true,
		})
	}
	if r.large {
		s.Notes = append(s.Notes, bolt.Note{
			Code: "Neo.ClientNotification.Statement.LargeNumber", Title: "A number is a text", Description: "a count is beyond the integers of Bolt, which have 64 bits: it is a text", Warning: true,
		})
	}
	return s
}

func reason(c serve.Cut) string {
	switch c {
	case serve.CutRows:
		return "it has as many rows as the server or the user allows"
	case serve.CutLimit:
		return "the limit was reached"
	case serve.CutTime:
		return "the time limit passed"
	case serve.CutDrain:
		return "the server stops"
	case serve.CutCancel:
		return "the query was cancelled"
	case serve.CutMemory:
		return "memory was short"
	case serve.CutError:
		return "an error ended it"
	}
	return string(c)
}

// Close ends the search and logs the query.
func (r *result) Close() {
	if r.closed {
		return
	}
	r.closed = true
	if r.rows != nil {
		r.rows.stop()
	}
	r.run.Close()
	sum := r.run.Summary()
	attributes := []any{"run", r.run.ID, "user", r.run.Who.Name, "graph", r.run.Request.Graph, "kind", r.run.Request.Kind, "rows", sum.Rows, "waited_seconds", sum.Waited.Seconds(), "seconds", sum.Total.Seconds()}
	if sum.Cut != serve.NotCut {
		attributes = append(attributes, "cut", sum.Cut)
	}
	if sum.Err != nil {
		attributes = append(attributes, "error", sum.Err)
	}
	r.log.Info("query over Bolt", attributes...)
}

// single is one row of one value.
type single struct {
	of    func() (any, error)
	value any
	given bool
}

func (s *single) next() (bool, error) {
	if s.given {
		return false, nil
	}
	s.given = true
	x, err := s.of()
	s.value = x
	return err == nil, err
}

func (s *single) encode(e *packstream.Encoder) { encode(e, s.value) }

func (s *single) stop() {}

// matches are the rows of a listing.
type matches struct {
	r     *result
	pull  func() (weft.Match, error, bool)
	end   func()
	match weft.Match
}

func (m *matches) next() (bool, error) {
	if m.pull == nil {
		m.pull, m.end = iter.Pull2(m.r.run.Rows())
	}
	x, err, ok := m.pull()
	if !ok || err != nil {
		return false, err
	}
	m.match = x
	return true, nil
}

func (m *matches) encode(e *packstream.Encoder) {
	for i := range m.r.columns {
		if x, ok := m.match.Element(i); ok {
			encode(e, x)
		} else {
			encode(e, m.match.At(i))
		}
	}
}

func (m *matches) stop() {
	if m.end != nil {
		m.end()
	}
}

// participants are the vertices or groups with their numbers. The run keeps its turn until the last one.
type participants struct {
	r      *result
	pull   func() (serve.ParticipationRow, error, bool)
	end    func()
	values []any
	count  any
}

func (p *participants) next() (bool, error) {
	if p.pull == nil {
		p.pull, p.end = iter.Pull2(p.r.run.ParticipationRows())
	}
	row, err, ok := p.pull()
	if !ok {
		for _, x := range p.r.run.Summary().Results {
			p.r.notes(x.Notes)
		}
	}
	if !ok || err != nil {
		return false, err
	}
	p.values, p.count = row.Values, p.r.integer(row.Count)
	return true, nil
}

func (p *participants) encode(e *packstream.Encoder) {
	for _, x := range p.values {
		encode(e, x)
	}
	encode(e, p.count)
}

func (p *participants) stop() {
	if p.end != nil {
		p.end()
	}
}
