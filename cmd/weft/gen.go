package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/format"
)

func (a *app) genCmd() *cobra.Command {
	var f commonFlags
	var spec weft.Spec
	var dims string
	cmd := &cobra.Command{
		Use:   "gen MODEL -o FILE [flags]",
		Short: "generate a graph",
		Long: `Generate a graph. The same model, parameters and seed give the same graph on
every machine and with any number of threads. Without -o an edge list goes to
standard output.

Models and their parameters:
  rmat     --scale, --m      recursive matrix (0.45, 0.22, 0.22, 0.11): 2^scale vertices, m draws
  er       --n, --m or --p   Erdős–Rényi
  ws       --n, --k, --p     Watts–Strogatz: k neighbours, rewired with probability p
  ba       --n, --k          Barabási–Albert: k edges for each new vertex
  rgg      --scale, --degree random geometric graph on the unit square
  grid     --dims, --torus   a grid of any number of dimensions, as 100x100
  cliques  --n, --k, --ring  n cliques of k vertices
  star     --n               a star of n leaves

With --vertex-labels N each vertex has one of the labels 0 to N-1, and with
--edge-labels N each edge. Label k is drawn with a weight of (k+1)^-SKEW: by
--skew 1, label 0 is twice as frequent as label 1.

weft gen stream makes a stream of updates from a graph.

` + exitCodesNoTimeout,
		Example: `  weft gen rmat --scale 20 --m 16000000 --seed 1 -o rmat20.weft
  weft gen rmat --scale 19 --m 5000000 --directed --edge-labels 200 --skew 1 -o labelled.weft
  weft gen er --n 1000 --m 5000 | weft count -g - --pattern triangle`,
		Args:        takes("MODEL, as er"),
		Annotations: map[string]string{hasArguments: ""},
		RunE: func(cmd *cobra.Command, args []string) error {
			spec.Model = args[0]
			if err := checkGiven(spec.Model, cmd.Flags().Changed); err != nil {
				return err
			}
			for d := range strings.SplitSeq(dims, "x") {
				if dims == "" {
					break
				}
				n, err := strconv.ParseUint(strings.TrimSpace(d), 10, 32)
				if err != nil {
					return usagef("--dims %q: want sides with x between them, as 100x100", dims)
				}
				spec.Dims = append(spec.Dims, n)
			}
			if _, err := format.ParseFormat(f.to); err != nil {
				return usagef("--to: %v%s", err, didYouMean(f.to, format.Formats()))
			}
			if err := format.CheckOutput(f.out, f.to, ""); err != nil {
				return usagef("%v%s", err, extensionMeant(f.out))
			}
			if err := checkFiles(a.ctx, f.out); err != nil {
				return err
			}
			if _, err := parseBytes(f.memory); err != nil {
				return usagef("--memory: %v", err)
			}
			return a.gen(spec, &f)
		},
	}
	cmd.AddCommand(a.genStreamCmd())
	fs := cmd.Flags()
	fs.IntVar(&spec.Scale, "scale", 0, "binary logarithm of the number of vertices")
	fs.Uint64Var(&spec.N, "n", 0, "vertices, cliques or leaves")
	fs.Uint64Var(&spec.M, "m", 0, "edges")
	fs.Uint64Var(&spec.K, "k", 0, "neighbours or edges of a vertex, or the size of cliques")
	fs.Float64Var(&spec.P, "p", 0, "probability")
	fs.Float64Var(&spec.Degree, "degree", 0, "mean degree")
	fs.StringVar(&dims, "dims", "", "sides of a grid, such as 100x100")
	fs.BoolVar(&spec.Torus, "torus", false, "join the ends of a grid")
	fs.BoolVar(&spec.Ring, "ring", false, "join the cliques in a ring")
	fs.BoolVar(&spec.Directed, "directed", false, "keep directions")
	fs.Uint64Var(&spec.Seed, "seed", 0, "seed")
	fs.Uint64Var(&spec.VertexLabels, "vertex-labels", 0, "number of vertex labels; 0 means none")
	fs.Uint64Var(&spec.EdgeLabels, "edge-labels", 0, "number of edge labels; 0 means none")
	fs.Float64Var(&spec.Skew, "skew", 0, "exponent of the labels' power law; 0 means that all are equally frequent")
	fs.IntVar(&f.threads, "threads", 0, "threads; 0 means one for each core")
	f.addMemory(cmd)
	fs.StringVarP(&f.out, "output", "o", "-", "write to `FILE`; its name decides the format")
	fs.StringVar(&f.to, "to", "", "format of the output; default by its name")
	return cmd
}

// modelFlags are the flags that each model needs, in groups of which one will
// do, those that it may have, and an example.
var modelFlags = map[string]struct {
	need    []string
	may     string
	example string
}{
	"rmat":    {[]string{"scale", "m"}, "", "--scale 20 --m 16000000"},
	"er":      {[]string{"n", "m|p"}, "", "--n 1000 --m 5000"},
	"ws":      {[]string{"n", "k", "p"}, "", "--n 1000 --k 6 --p 0.1"},
	"ba":      {[]string{"n", "k"}, "", "--n 1000 --k 3"},
	"rgg":     {[]string{"scale", "degree"}, "", "--scale 16 --degree 40"},
	"grid":    {[]string{"dims"}, "torus", "--dims 100x100"},
	"cliques": {[]string{"n", "k"}, "ring", "--n 10 --k 5"},
	"star":    {[]string{"n"}, "", "--n 100"},
}

// checkGiven names the flags that a model lacks, rather than take 0 for them, and
// those that it does not know.
func checkGiven(model string, given func(flag string) bool) error {
	m, ok := modelFlags[model]
	if !ok {
		models := slices.Sorted(maps.Keys(modelFlags))
		return usagef("gen: no model is called %q; there are %s%s", model, strings.Join(models, ", "), didYouMean(model, models))
	}
	known := strings.Split(strings.Join(append(m.need, m.may), "|"), "|")
	for _, flag := range []string{"scale", "n", "m", "k", "p", "degree", "dims", "torus", "ring"} {
		if given(flag) && !slices.Contains(known, flag) {
			return usagef("gen %s has no --%s, as in: weft gen %s %s", model, flag, model, m.example)
		}
	}
	var missing []string
	for _, group := range m.need {
		if names := strings.Split(group, "|"); !slices.ContainsFunc(names, given) {
			missing = append(missing, "--"+strings.Join(names, " or --"))
		}
	}
	if missing == nil {
		return nil
	}
	return usagef("gen %s needs %s, as in: weft gen %s %s", model, strings.Join(missing, " and "), model, m.example)
}

func (a *app) gen(spec weft.Spec, f *commonFlags) error {
	memory, _ := parseBytes(f.memory)
	g, err := a.runtime.Generate(a.ctx, spec, weft.WithThreads(f.threads), weft.WithMemory(memory))
	if err != nil {
		return err
	}
	defer g.Close()
	to := f.to
	if to == "" && f.out == "-" {
		to = string(format.EdgeList)
	}
	if err := g.Write(a.ctx, f.out, weft.WriteOptions{Format: to, AllowLoss: true, Lost: a.lost(f.out), Stdout: a.stdout, Memory: memory}); err != nil {
		return err
	}
	if f.out != "-" {
		fmt.Fprintf(a.stderr, "weft: %s: %d vertices, %d edges\n", f.out, g.NumVertices(), g.NumEdges())
	}
	return nil
}
