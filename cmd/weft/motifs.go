package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
)

func (a *app) motifsCmd() *cobra.Command {
	var g graphFlags
	var f commonFlags
	var k int
	var edgeInduced, noDirections, matcha, orbits bool
	cmd := &cobra.Command{
		Use:   "motifs [-g] FILE [-k 3|4|5] [flags]",
		Short: "count all connected patterns of k vertices",
		Long: `Count every connected pattern of k vertices. By default counts are induced: each
connected set of k vertices is counted once, in the one motif that it induces.
With --edge-induced each motif's subgraphs are counted even if there are other
edges between their vertices. Labels are ignored.

In a directed graph the motifs are directed. There are 13 of three vertices, named
as in the triad census, and 199 of four, with igraph's numbers. Directed motifs of
five vertices are too many, and are refused. weft info --catalogue describes the
names. --no-directions counts as if the edges had no directions.

With --orbits the result is a row for each vertex: how often it is at each orbit of the
motifs of two to k vertices: its graphlet degrees. An orbit is a set of a motif's
vertices that are alike. The order is that of Pržulj (2007) and ORCA. Up to k = 4:
  0       an edge                          6, 7       a leaf, the middle of a star of three
  1, 2    an end, the middle of a wedge    8          a cycle of four
  3       a triangle                       9, 10, 11  the tail, the far vertices, the middle of
  4, 5    an end, an inner vertex of a                a triangle with a tail
          path of four                     12, 13     an outer, an inner vertex of a diamond
                                           14         a clique of four
For k = 5 these are further ones, where an end is a vertex with one edge:
  15 to 17  a path: an end, the next vertex, the middle
  18 to 21  a fork: the end of the long arm, a short arm, the long arm's other vertex, the middle
  22, 23    a star: a leaf, the middle
  24 to 26  a bull: a horn's end, the vertex without a horn, one with a horn
  27 to 30  a triangle with a tail of two: the end, the next, a far vertex, the one with the tail
  31 to 33  a cricket: an end, a far vertex of the triangle, the middle
  34        a cycle of five
  35 to 38  a banner: the end, the vertex across, one beside, the one with the tail
  39 to 42  a dart: the end, an outer, the inner without, the inner vertex with the tail
  43, 44    a bowtie: an outer vertex, the middle
  45 to 48  a kite: the end, the outer without, the outer with the tail, an inner vertex
  49, 50    bipartite(2,3): one of the three, one of the two
  51 to 53  a house: the floor, the roof, below the roof
  54, 55    a book: one of three pages, the spine
  56 to 58  a clique of four with a tail: the end, a far vertex, the one with the tail
  59 to 61  a gem: an end, an inner vertex of its path, the hub
  62 to 64  a wheel less a spoke: degree 2; beside that; across from it
  65 to 67  a clique less a wedge: degree 2, 3, 4
  68, 69    a wheel: the rim, the hub
  70, 71    a clique less an edge: an end of that edge, another vertex
  72        a clique of five

The motifs share their work; "seconds" is the share of each. --matcha counts
nothing: it writes a program in Matcha that counts all motifs in one pass, without
directions.

` + exitCodesHelp,
		Example: `  weft motifs -g graph.txt.gz -k 4
  weft motifs -g graph.txt.gz -k 5 --edge-induced --to csv
  weft motifs -g follows.csv --directed -k 3
  weft motifs -g proteins.csv -k 4 --orbits -o orbits.parquet`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if orbits {
				if err := onlyOrbits(cmd); err != nil {
					return err
				}
			}
			f.program = matcha
			if err := f.check(a.ctx, a.runtime); err != nil {
				return err
			}
			if err := g.onlyGraph(a.ctx, args); err != nil {
				return err
			}
			if k < 3 || k > 5 {
				return usagef("-k %d: motifs have 3, 4 or 5 vertices", k)
			}
			if orbits && matcha {
				return usagef("--orbits and --matcha: a program counts motifs, and not orbits")
			}
			options := []weft.Option{weft.WithInduced(!edgeInduced), weft.WithDirections(!noDirections)}
			if matcha {
				if err := onlyWritten(cmd); err != nil {
					return err
				}
				return a.motifsMatcha(&g, &f, k, options)
			}
			if orbits {
				return a.orbits(&g, &f, k, options)
			}
			return a.motifs(&g, &f, k, options)
		},
	}
	g.add(cmd)
	f.addSearching(cmd)
	cmd.Flags().IntVarP(&k, "size", "k", 3, "vertices of the motifs: 3, 4 or 5")
	cmd.Flags().BoolVar(&matcha, "matcha", false, "write a Matcha program that counts them, for weft matcha run")
	cmd.Flags().BoolVar(&orbits, "orbits", false, "count the orbits of each vertex, instead of the motifs")
	cmd.Flags().BoolVar(&noDirections, "no-directions", false, "count in a directed graph as if its edges had no directions")
	cmd.Flags().BoolVar(&edgeInduced, "edge-induced", false, "count all subgraphs, not only induced ones")
	return cmd
}

// motifs counts the motifs of k vertices. Of flags that do not concern motifs, which weft shell may have, it knows nothing.
func (a *app) motifs(g *graphFlags, f *commonFlags, k int, options []weft.Option) error {
	return a.counts(g, f, func(ctx context.Context, graph *weft.Graph, o []weft.Option) ([]weft.Result, error) {
		return graph.Motifs(ctx, k, append(weft.Concerning("Graph.Motifs", o...), options...)...)
	})
}

// onlyOrbits returns an error for a flag that orbits do not have.
func onlyOrbits(cmd *cobra.Command) error {
	same := map[string]string{"device": "cpu", "engine": "host"}
	for _, name := range []string{"engine", "engine-opt", "device", "gpu-memory", "extend", "spill", "stats"} {
		if value := cmd.Flag(name); value.Changed && value.Value.String() != same[name] {
			return usagef("--%s does not go with --orbits, which are counted on the processor in one way", name)
		}
	}
	return nil
}

// orbits writes the numbers of the orbits of all vertices.
func (a *app) orbits(gf *graphFlags, f *commonFlags, k int, options []weft.Option) error {
	bar := a.progress(f.progress)
	g, err := a.load(gf, f, bar)
	if err != nil {
		return err
	}
	defer a.done(g)
	ctx, cancel := a.within(a.ctx, f)
	defer cancel()
	o, err := g.Orbits(ctx, k, append(weft.Concerning("Graph.Orbits", append(f.options(), bar.options()...)...), options...)...)
	bar.clear()
	if err != nil {
		return err
	}
	out, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	return out.finish(o.Write(out, f.outFormat()))
}

// motifsMatcha writes the program that counts motifs.
func (a *app) motifsMatcha(gf *graphFlags, f *commonFlags, k int, o []weft.Option) error {
	if f.to != "" {
		return usagef("--to %s: a program is text", f.to)
	}
	bar := a.progress(f.progress)
	g, err := a.load(gf, f, bar)
	if err != nil {
		return err
	}
	defer a.done(g)
	m, err := g.MotifsMatcha(a.ctx, k, weft.Concerning("Graph.MotifsMatcha", append(f.options(), o...)...)...)
	bar.clear()
	if err != nil {
		return err
	}
	out, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(out, m)
	return out.finish(err)
}

func (a *app) cliquesCmd() *cobra.Command {
	var g graphFlags
	var f commonFlags
	var k int
	cmd := &cobra.Command{
		Use:   "cliques [-g] FILE [-k K] [flags]",
		Short: "count the cliques of k vertices",
		Long: `Count the sets of k vertices that are all adjacent to each other. Directions are
ignored. To list the cliques: weft match --pattern 'clique(K)'.

` + exitCodesHelp,
		Example: `  weft cliques -g graph.txt.gz -k 5`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check(a.ctx, a.runtime); err != nil {
				return err
			}
			if err := g.onlyGraph(a.ctx, args); err != nil {
				return err
			}
			if k < 2 || k > 32 {
				return usagef("-k %d: cliques have 2 to 32 vertices", k)
			}
			return a.counts(&g, &f, func(ctx context.Context, graph *weft.Graph, o []weft.Option) ([]weft.Result, error) {
				r, err := graph.Cliques(ctx, k, o...)
				return []weft.Result{r}, err
			})
		},
	}
	g.add(cmd)
	f.addSearching(cmd)
	f.addOrder(cmd)
	f.addLimit(cmd)
	cmd.Flags().IntVarP(&k, "size", "k", 3, "vertices of the cliques")
	return cmd
}

// together is one result with the times of all.
func together(results []weft.Result) weft.Result {
	sum := results[0]
	for _, r := range results[1:] {
		sum.Plan += r.Plan
		sum.Prepare += r.Prepare
		sum.Search += r.Search
		sum.PeakMemory = max(sum.PeakMemory, r.PeakMemory)
	}
	return sum
}

// counts loads the graph and writes what count returns.
func (a *app) counts(gf *graphFlags, f *commonFlags, count func(context.Context, *weft.Graph, []weft.Option) ([]weft.Result, error)) error {
	bar := a.progress(f.progress)
	g, err := a.load(gf, f, bar)
	if err != nil {
		return err
	}
	defer a.done(g)
	ctx, cancel := a.within(a.ctx, f)
	defer cancel()
	results, err := count(ctx, g, append(f.options(), bar.options()...))
	bar.clear()
	cut := a.interruption(ctx, err)
	if err != nil && cut == nil {
		return err
	}
	out, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	w := newResultWriter(out, f, "", len(results))
	for _, r := range results {
		if err := w.add(r); err != nil {
			return out.finish(err)
		}
		a.notes(r)
	}
	if f.stats && len(results) > 0 {
		a.stats(together(results))
	}
	if err := out.finish(w.close()); err != nil {
		return err
	}
	return a.cutShort(cut)
}
