package serve

import "github.com/weftgraph/weft"

// of are the options that concern a call of the library.
func (r *Run) of(call string) []weft.Option { return weft.Concerning(call, r.options...) }

// Count counts the matches. A count that was cut short is not an error if it has a result: the summary says why.
func (r *Run) Count() (weft.Result, error) {
	stop, err := r.begins()
	if err != nil {
		return weft.Result{}, err
	}
	defer stop()
	x, err := r.graph().Count(r.ctx, r.query, r.of("Graph.Count")...)
	return x, r.ended(r.result(x, err), err)
}

// Exists reports whether there is a match. If the search was cut short before it found one, the answer is not known, and the summary says so.
func (r *Run) Exists() (bool, weft.Result, error) {
	stop, err := r.begins()
	if err != nil {
		return false, weft.Result{}, err
	}
	defer stop()
	yes, x, err := r.graph().Exists(r.ctx, r.query, r.of("Graph.Exists")...)
	return yes, x, r.ended(r.result(x, err), err)
}

// Explain plans the query, and with Profile runs it.
func (r *Run) Explain() (*weft.Explanation, error) {
	stop, err := r.begins()
	if err != nil {
		return nil, err
	}
	defer stop()
	x, err := r.graph().Explain(r.ctx, r.query, r.of("Graph.Explain")...)
	var s Summary
	if x != nil && x.Result != nil {
		s = r.result(*x.Result, err)
	}
	return x, r.ended(s, err)
}

// Motifs counts the connected patterns of K vertices.
func (r *Run) Motifs() ([]weft.Result, error) {
	stop, err := r.begins()
	if err != nil {
		return nil, err
	}
	defer stop()
	x, err := r.graph().Motifs(r.ctx, r.Request.K, r.of("Graph.Motifs")...)
	return x, r.ended(Summary{Results: x}, err)
}

// Info describes the graph.
func (r *Run) Info() (*weft.Info, error) {
	stop, err := r.begins()
	if err != nil {
		return nil, err
	}
	defer stop()
	x, err := r.graph().Info(r.ctx, r.of("Graph.Info")...)
	return x, r.ended(Summary{}, err)
}
