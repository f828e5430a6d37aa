package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/plan/explain"
	"github.com/weftgraph/weft/internal/sink"
)

func (a *app) verifyCmd() *cobra.Command {
	var f searchFlags
	var budget time.Duration
	cmd := &cobra.Command{
		Use:   "verify [-g] FILE [flags] [QUERY]",
		Short: "count in other ways and compare, or check a graph file",
		Long: `Count a pattern in several ways, and compare the counts:
  - as weft count does;
  - with other matching orders;
  - without the counting tail;
  - without breaking symmetries;
  - with the oracle, a slow search that shares no code with the engines. If the
    oracle does not finish within --budget, it is compared at sampled vertices.

The exit code is 1 if any two counts differ. A count that did not finish is
reported, and is not compared. If no count finished, the exit code is 124.

Without a pattern, check the structure of the graph and, for a .weft file, the
checksum of every section.

` + exitCodesHelp,
		Example: `  weft verify -g graph.txt.gz --pattern house
  weft verify graph.weft`,
		RunE: func(_ *cobra.Command, args []string) error {
			a.answers = true
			if err := f.checkWithoutDevices(a.ctx); err != nil {
				return err
			}
			if budget <= 0 {
				return usagef("--budget must be more than 0")
			}
			args = f.fromArgs(a.ctx, args)
			if f.path != "" && len(args)+len(f.files)+len(f.names) == 0 {
				if err := f.checkDevices(a.ctx, a.runtime); err != nil {
					return err
				}
				return a.verifyFile(&f)
			}
			return a.verify(&f, args, budget)
		},
	}
	f.add(cmd)
	cmd.Flags().DurationVar(&budget, "budget", 10*time.Second, "time limit of each recount")
	return cmd
}

// verifyFile checks a graph file.
func (a *app) verifyFile(f *searchFlags) error {
	bar := a.progress(f.progress)
	g, err := a.load(&f.graphFlags, &f.commonFlags, bar)
	if err != nil {
		return err
	}
	defer g.Close()
	if err := g.CheckFile(a.ctx, weft.WithThreads(f.threads)); err != nil {
		return err
	}
	out, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	return out.finish(writeSound(out, f, g))
}

// writeSound says that the graph file of f, with graph g, is sound.
func writeSound(out *output, f *searchFlags, g *weft.Graph) error {
	w := jsonWriter{w: out, to: f.outFormat()}
	switch {
	case w.takes():
		return w.add(map[string]any{"path": f.path, "ok": true, "vertices": g.NumVertices(), "edges": g.NumEdges()})
	case w.to == "table":
		_, err := fmt.Fprintf(out, "%s: ok: %d vertices, %d edges, every section and list checked\n", f.path, g.NumVertices(), g.NumEdges())
		return err
	}
	return writeRows(out, w.to, 1, []sink.Column{
		column("path", sink.String, func(int) any { return f.path }),
		column("result", sink.String, func(int) any { return "ok" }),
		column("vertices", sink.Int, func(int) any { return int64(g.NumVertices()) }),
		column("edges", sink.Int, func(int) any { return int64(g.NumEdges()) }),
	})
}

func (a *app) verify(f *searchFlags, args []string, budget time.Duration) error {
	return a.withQueries(f, args, func(queries []*weft.Query, g *weft.Graph, _ *progress, out *output) error {
		ok, compared := true, true
		w := jsonWriter{w: out, to: f.outFormat(), many: len(queries) > 1}
		var cut error
		for _, q := range queries {
			ctx, cancel := a.within(a.ctx, &f.commonFlags)
			v, err := g.Verify(ctx, q, budget, f.commonFlags.options()...)
			c := a.interruption(ctx, err)
			cancel()
			if err != nil && c == nil {
				return out.finish(err)
			}
			if v != nil {
				ok, compared = ok && v.OK, compared && v.Compared > 0
				a.report(&f.commonFlags, v.Result)
				if err := writeVerification(out, &w, v); err != nil {
					return out.finish(err)
				}
			}
			if c != nil {
				cut = c
			}
			if c == errInterrupted {
				break
			}
		}
		if err := out.finish(w.close()); err != nil {
			return err
		}
		if !ok {
			fmt.Fprintln(a.stderr, "weft: counts differ")
			return exitError(exitFailure)
		}
		if cut == nil && !compared {
			fmt.Fprintf(a.stderr, "weft: nothing was compared: no recount finished within --budget %s\n", budget)
			return exitError(exitTimeout)
		}
		return a.cutShort(cut)
	})
}

func writeVerification(out *output, w *jsonWriter, v *weft.Verification) error {
	text := func(i int) string {
		switch s := &v.Steps[i]; {
		case s.Embeddings == nil:
			return "not finished"
		case s.Reference:
			return "counted"
		case s.OK:
			return "ok"
		}
		return "DIFFERS"
	}
	if w.takes() {
		type step struct {
			Check      string            `json:"check"`
			Embeddings explain.JSONCount `json:"embeddings,omitzero"`
			Want       explain.JSONCount `json:"want"`
			Result     string            `json:"result"`
			Seconds    float64           `json:"seconds"`
			Note       string            `json:"note,omitempty"`
		}
		var steps []step
		for i, s := range v.Steps {
			steps = append(steps, step{s.Name, explain.JSONCount{N: s.Embeddings}, explain.JSONCount{N: s.Want}, text(i), seconds(s.Took), s.Note})
		}
		return w.add(map[string]any{"query": v.Query, "ok": v.OK, "compared": v.Compared, "checks": steps})
	}
	return writeRows(out, w.to, len(v.Steps), []sink.Column{
		column("result", sink.String, func(i int) any { return text(i) }),
		column("embeddings", sink.String, func(i int) any {
			if n := v.Steps[i].Embeddings; n != nil {
				return n.String()
			}
			return nil
		}),
		column("want", sink.String, func(i int) any { return v.Steps[i].Want.String() }),
		column("seconds", sink.Float, func(i int) any { return seconds(v.Steps[i].Took) }),
		column("check", sink.String, func(i int) any {
			if n := v.Steps[i].Note; n != "" {
				return v.Steps[i].Name + ": " + n
			}
			return v.Steps[i].Name
		}),
	})
}
