package serve

import "io"

// WriteOrbits counts the orbits of motifs of up to K vertices, and writes a row for each vertex in a format of Orbits.Write. There are at most as many rows as
// the server and the user allow. The run keeps its turn, and its time goes on, until all is written. An error after the first byte leaves an answer that
// is not complete in its form.
func (r *Run) WriteOrbits(w io.Writer, format string) error {
	stop, err := r.begins()
	if err != nil {
		return err
	}
	defer stop()
	x, err := r.graph().Orbits(r.ctx, r.Request.K, r.of("Graph.Orbits")...)
	var s Summary
	if limit := r.MostRows(); err == nil && limit > 0 && int64(x.Rows()) > limit {
		x.Shorten(int(limit))
		s.Cut = r.limited(limit)
	}
	if s, err = r.judged(s, err); err != nil || x == nil {
		r.finish(s)
		return err
	}
	return r.writes(w, s, func(w io.Writer) error { return x.Write(w, format) })
}
