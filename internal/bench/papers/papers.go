// Package papers has the experiments of the systems' papers in which one technique after the other is switched on, as switches of
// weft, with the papers' own figures beside them, for `weft bench ablation`.
//
// It knows names of patterns, programs and switches. It must not know graphs or engines.
package papers

import (
	"fmt"
	"slices"
)

// Experiment is a table or a figure of a paper.
type Experiment struct {
	System string // stmatch, gmatch or matcha
	Name   string // as in the paper: "Figure 12"
	What   string
	// Queries are names of the catalogue, or with Programs of the Matcha library.
	Queries  []string
	Programs bool
	// Labels says that queries get vertex labels of the graph, drawn at random; programs get their numbers as inputs l0, l1 and so on.
	Labels bool
	// Times says that programs get the graph's edges with their times as input E. Inputs are the other inputs of programs.
	Times  bool
	Inputs map[string]string
	// Idle says that the paper's figures are shares of idle threads, and not times.
	Idle     bool
	Versions []Version
}

// Version is a setting of the techniques.
type Version struct {
	Name string
	// Settings are as those of a variant of `weft bench`, or TARGET:SCHEDULE of a program.
	Settings string
	// Passes are those of a program; "": all.
	Passes string
	// Program is another program of the library that answers the same question; "": the query.
	Program string
	// Devices is the number of GPUs; 0: those that the command names.
	Devices int
	// Than is the version whose time is divided by this one's for the gain, or -1.
	Than int
	// Paper is what the paper has for the gain, or for the share of idle threads; "": nothing.
	Paper string
	// Whole is what the paper has for the gain over the first version; "": nothing.
	Whole string
	// Gains are the paper's gains by query, where it has them.
	Gains []float64
}

// Systems are the systems with experiments.
func Systems() []string { return []string{"stmatch", "gmatch", "matcha"} }

// Of returns the experiments of a system, or those named. An unknown name is an error.
func Of(system string, named []string) ([]Experiment, error) {
	var out []Experiment
	var names []string
	for _, e := range all {
		if e.System != system {
			continue
		}
		names = append(names, e.Name)
		if len(named) == 0 || slices.Contains(named, e.Name) {
			out = append(out, e)
		}
	}
	for _, n := range named {
		if !slices.Contains(names, n) {
			return nil, fmt.Errorf("the experiments of %s are %q, and not %q", system, names, n)
		}
	}
	return out, nil
}

func numbered(prefix string, first, last int) (out []string) {
	for i := first; i <= last; i++ {
		out = append(out, fmt.Sprintf("%s%d", prefix, i))
	}
	return out
}

// labelled are the programs with labels of programs without.
func labelled(programs []string) (out []string) {
	for _, p := range programs {
		out = append(out, p+"_labelled")
	}
	return out
}

// naive is STMatch's search without its techniques. The local method and the flat last level are weft's own.
const naive = "engine=stack,plan.tail=off,stack.local=off,stack.flat=off,stack.sieve=0,stack.steal=off,stack.unroll=1"

// fine is gMatch's search of small queries, which has neither a candidate graph nor a start by breadth-first search (section 6.2).
const fine = "engine=fine,plan.tail=off,fine.siblings=off,fine.index=none,fine.pool=0"

// started is the same with a start by breadth-first search, as for large queries.
const started = "engine=fine,plan.tail=off,fine.siblings=off,fine.index=none"

// gains are the paper's gains of version a over version b of gMatch's Table 5, from the times of P1 to P9 in milliseconds.
func gains(a, b [9]float64) (out []float64) {
	for i := range a {
		out = append(out, b[i]/a[i])
	}
	return out
}

// Times of P1 to P9 in milliseconds in gMatch's Table 5, the average of several graphs.
var (
	table5Naive   = [9]float64{1355, 4334, 20284, 935433, 617268, 924871, 418832, 186048, 21460}
	table5Unroll4 = [9]float64{1277, 4098, 19022, 877175, 578856, 866658, 392459, 174420, 20106}
	table5Unroll8 = [9]float64{1221, 3917, 18443, 849963, 560772, 839577, 380196, 168945, 19487}
	table5Fine    = [9]float64{1249, 4058, 18855, 869191, 573618, 858787, 388898, 174327, 19922}
	table5Batch   = [9]float64{1132, 3429, 15905, 714827, 483227, 743052, 340906, 140781, 16785}
)

var all = []Experiment{
	{
		System: "stmatch", Name: "Figure 11", What: "several GPUs, queries of six vertices", Queries: numbered("stmatch:q", 9, 16),
		Versions: []Version{
			{Name: "1 GPU", Settings: "engine=stack", Than: -1, Devices: 1},
			{Name: "2 GPUs", Settings: "engine=stack", Than: 0, Devices: 2},
			{Name: "4 GPUs", Settings: "engine=stack", Than: 0, Devices: 4},
		},
	},
	{
		System: "stmatch", Name: "Figure 12", What: "stealing and unrolling, labelled queries of six vertices", Queries: numbered("stmatch:q", 9, 16), Labels: true,
		Versions: []Version{
			{Name: "naive", Settings: naive, Than: -1},
			{Name: "stealing in blocks", Settings: naive + ",stack.steal=block", Than: 0, Paper: "above 2"},
			{Name: "and across blocks", Settings: naive + ",stack.steal=grid", Than: 1, Paper: "1.3–2.0 (MiCo), 1.1–1.3 (LiveJournal), 1 (Enron, YouTube)"},
			{Name: "and unrolling", Settings: naive + ",stack.steal=grid,stack.unroll=4", Than: 2, Paper: "1.1–2.6 (MiCo), 1.1–1.9 (LiveJournal)", Whole: "up to 12"},
			{Name: "naive without code motion", Settings: naive + ",plan.motion=off", Than: 0, Paper: "about 0.33"},
		},
	},
	{
		System: "stmatch", Name: "Figure 12 unlabelled", What: "the same without labels", Queries: numbered("stmatch:q", 1, 16),
		Versions: []Version{
			{Name: "naive", Settings: naive, Than: -1},
			{Name: "stealing in blocks", Settings: naive + ",stack.steal=block", Than: 0},
			{Name: "and across blocks", Settings: naive + ",stack.steal=grid", Than: 1},
			{Name: "and unrolling", Settings: naive + ",stack.steal=grid,stack.unroll=4", Than: 2},
			{Name: "and weft's own techniques", Settings: "engine=stack,stack.local=off", Than: 3},
			{Name: "and bit matrices of neighbourhoods", Settings: "engine=stack", Than: 4},
		},
	},
	{
		System: "stmatch", Name: "Figure 13", What: "utilisation of threads by the size of unrolling", Queries: numbered("stmatch:q", 9, 16), Labels: true, Idle: true,
		Versions: []Version{
			{Name: "unroll 1", Settings: naive + ",stack.steal=grid,stack.stats=on", Than: -1},
			{Name: "unroll 2", Settings: naive + ",stack.steal=grid,stack.stats=on,stack.unroll=2", Than: 0, Paper: "less"},
			{Name: "unroll 4", Settings: naive + ",stack.steal=grid,stack.stats=on,stack.unroll=4", Than: 0, Paper: "less"},
			{Name: "unroll 8", Settings: naive + ",stack.steal=grid,stack.stats=on,stack.unroll=8", Than: 0, Paper: "the least"},
		},
	},
	{
		System: "stmatch", Name: "Section 1.7", What: "the set program as a table that one kernel reads, and as code", Queries: numbered("stmatch:q", 1, 8),
		Versions: []Version{
			{Name: "table", Settings: "engine=stack,stack.local=off,stack.program=table", Than: -1},
			{Name: "code", Settings: "engine=stack,stack.local=off", Than: 0},
		},
	},
	{
		System: "gmatch", Name: "Table 5", What: "models of execution", Queries: numbered("gmatch:P", 1, 9),
		Versions: []Version{
			{Name: "coarse", Settings: naive + ",stack.steal=grid", Than: -1},
			{Name: "coarse, unroll 4", Settings: naive + ",stack.steal=grid,stack.unroll=4", Than: 0, Gains: gains(table5Unroll4, table5Naive)},
			{Name: "coarse, unroll 8", Settings: naive + ",stack.steal=grid,stack.unroll=8", Than: 0, Gains: gains(table5Unroll8, table5Naive)},
			{Name: "fine", Settings: fine + ",fine.batch=off", Than: 0, Gains: gains(table5Fine, table5Naive)},
			{Name: "fine, batches", Settings: fine, Than: 0, Gains: gains(table5Batch, table5Naive)},
			{Name: "fine, and weft's own techniques", Settings: "engine=fine", Than: 4},
		},
	},
	{
		System: "gmatch", Name: "Table 6", What: "idle rate; the paper has it of queries of 12 vertices", Queries: numbered("gmatch:P", 1, 9), Idle: true,
		Versions: []Version{
			{Name: "coarse", Settings: naive + ",stack.steal=grid,stack.stats=on", Than: -1, Paper: "12 vertices: 0.40–0.71"},
			{Name: "coarse, unroll 2", Settings: naive + ",stack.steal=grid,stack.stats=on,stack.unroll=2", Than: 0, Paper: "12 vertices: 0.30–0.59"},
			{Name: "coarse, unroll 4", Settings: naive + ",stack.steal=grid,stack.stats=on,stack.unroll=4", Than: 0, Paper: "12 vertices: 0.12–0.30"},
			{Name: "coarse, unroll 8", Settings: naive + ",stack.steal=grid,stack.stats=on,stack.unroll=8", Than: 0, Paper: "12 vertices: 0.10–0.19"},
			{Name: "fine, batches", Settings: fine, Than: 0, Paper: "12 vertices: 0.015–0.041"},
		},
	},
	{
		System: "gmatch", Name: "Table 8", What: "stealing, with a start by breadth-first search and without; 12 vertices in the paper", Queries: numbered("gmatch:P", 1, 9),
		Versions: []Version{
			{Name: "no stealing", Settings: started + ",fine.steal=off", Than: -1},
			{Name: "stealing", Settings: started, Than: 0, Paper: "12 vertices: 0.97–1.18 on average, 4.72 at most"},
			{Name: "no stealing, no pool", Settings: fine + ",fine.steal=off", Than: -1},
			{Name: "stealing, no pool", Settings: fine, Than: 2},
		},
	},
	{
		System: "gmatch", Name: "Figure 16", What: "size of the pool that the breadth-first start makes", Queries: numbered("gmatch:P", 1, 9),
		Versions: []Version{
			{Name: "10 thousand", Settings: started + ",fine.pool=10000", Than: -1},
			{Name: "100 thousand", Settings: started + ",fine.pool=100000", Than: 0},
			{Name: "1 million", Settings: started, Than: 0},
			{Name: "10 million", Settings: started + ",fine.pool=10000000", Than: 0},
		},
	},
	{
		System: "matcha", Name: "Figure 32", What: "groups of threads and stealing, motifs of three vertices", Queries: []string{"motifs3"}, Programs: true,
		Versions: []Version{
			{Name: "warps", Settings: "cuda:group=32,steal=off", Than: -1},
			{Name: "groups of 8", Settings: "cuda:group=8,steal=off", Than: 0, Paper: "1.1–2.5"},
			{Name: "warps, stealing", Settings: "cuda:group=32,steal=on", Than: 0, Paper: "about 1"},
			{Name: "groups of 8, stealing", Settings: "cuda:group=8,steal=on", Than: 0},
		},
	},
	{
		System: "matcha", Name: "Table 9", What: "motifs of three and four vertices, as GraphMiner and with groups and stealing", Queries: []string{"motifs3", "motifs4"}, Programs: true,
		Versions: []Version{
			{Name: "as GraphMiner", Settings: "cuda:group=32,steal=off", Than: -1},
			{Name: "groups of 8, stealing", Settings: "cuda:group=8,steal=on", Than: 0, Paper: "1.1–2.6, 1.5 on average"},
		},
	},
	{
		System: "matcha", Name: "Figure 35", What: "groups of threads and stealing, listing", Queries: []string{"diamonds", "clique4", "house", "clique5", "clique6"}, Programs: true,
		Versions: []Version{
			{Name: "warps", Settings: "cuda:group=32,steal=off", Than: -1},
			{Name: "groups of 8", Settings: "cuda:group=8,steal=off", Than: 0, Paper: "1.5–2.8"},
			{Name: "warps, stealing", Settings: "cuda:group=32,steal=on", Than: 0},
			{Name: "groups of 8, stealing", Settings: "cuda:group=8,steal=on", Than: 0, Paper: "1.4–7.5 (DBLP)"},
		},
	},
	{
		System: "matcha", Name: "Table 10", What: "motifs by parts, on the processor and on a GPU", Queries: []string{"motifs4_parts", "motifs5_parts"}, Programs: true,
		Versions: []Version{
			{Name: "processor", Settings: "c", Than: -1},
			{Name: "GPU", Settings: "cuda", Than: 0, Paper: "4–53, 27 on average, of motifs of four and five vertices"},
		},
	},
	{
		System: "matcha", Name: "Table 11", What: "unlabelled listing by vertex extension", Queries: numbered("q", 1, 6), Programs: true,
		Versions: []Version{
			{Name: "as GraphMiner", Settings: "cuda:group=32,steal=off", Than: -1},
			{Name: "warps, stealing", Settings: "cuda:group=32,steal=on", Than: 0},
			{Name: "groups of 8, stealing", Settings: "cuda:group=8,steal=on", Than: 0, Paper: "1.0–5.3"},
			{Name: "16 threads", Settings: "c:threads=16", Than: 1},
		},
	},
	{
		System: "matcha", Name: "Table 12", What: "labelled listing by vertex extension", Queries: labelled(numbered("q", 1, 6)), Programs: true, Labels: true,
		Versions: []Version{
			{Name: "as GraphMiner", Settings: "cuda:group=32,steal=off", Than: -1},
			{Name: "warps, stealing", Settings: "cuda:group=32,steal=on", Than: 0},
			{Name: "groups of 8, stealing", Settings: "cuda:group=8,steal=on", Than: 0},
			{Name: "16 threads", Settings: "c:threads=16", Than: 1},
		},
	},
	{
		System: "matcha", Name: "Table 13", What: "labelled listing by joins", Queries: []string{"join"}, Programs: true, Labels: true,
		Versions: []Version{
			{Name: "as RapidMatch", Settings: "c:threads=1", Passes: "all,-motion,-ir-hoist", Than: -1},
			{Name: "code motion and threads", Settings: "c", Than: 0, Paper: "3.7–17, queries of 4 to 6 vertices"},
			{Name: "GPU", Settings: "cuda", Than: 1, Paper: "1.6–25"},
		},
	},
	{
		System: "matcha", Name: "Figure 36", What: "code motion and threads, joins", Queries: []string{"join"}, Programs: true, Labels: true,
		Versions: []Version{
			{Name: "no code motion, 1 thread", Settings: "c:threads=1", Passes: "all,-motion,-ir-hoist", Than: -1},
			{Name: "code motion, 1 thread", Settings: "c:threads=1", Than: 0, Paper: "1 of three queries, up to 6.9 of the others"},
			{Name: "code motion, 4 threads", Settings: "c:threads=4", Than: 1, Paper: "small: the searches are short"},
			{Name: "code motion, 16 threads", Settings: "c:threads=16", Than: 1, Paper: "small: the searches are short"},
		},
	},
	{
		System: "matcha", Name: "Table 14", What: "labelled counting by parts, and by parts that are joined", Queries: []string{"decompose"}, Programs: true, Labels: true,
		Versions: []Version{
			{Name: "parts, processor", Settings: "c", Than: -1},
			{Name: "parts, GPU", Settings: "cuda", Than: 0, Paper: "2.2–53"},
			{Name: "joined parts, GPU", Settings: "cuda", Program: "decompose_join", Than: 1, Paper: "0.75–5, 1.8 on average"},
		},
	},
	{
		System: "matcha", Name: "Table 15", What: "cliques, as GraphMiner and with groups and stealing", Queries: []string{"clique4", "clique5", "clique6"}, Programs: true,
		Versions: []Version{
			{Name: "as GraphMiner", Settings: "cuda:group=32,steal=off", Than: -1},
			{Name: "groups of 8, stealing", Settings: "cuda:group=8,steal=on", Than: 0, Paper: "1.1–2.6, 1.4 on average"},
		},
	},
	{
		System: "matcha", Name: "Table 16", What: "temporal listing within a day", Queries: []string{"temporal_cycle4", "temporal_tail", "temporal_ways"}, Programs: true, Times: true,
		Inputs: map[string]string{"least": "1", "gap": "86400", "total": "86400"},
		Versions: []Version{
			{Name: "conditions on times", Settings: "cuda", Passes: "all,-slice-window", Than: -1},
			{Name: "windows as slices", Settings: "cuda", Than: 0},
			{Name: "16 threads", Settings: "c:threads=16", Than: 1},
		},
	},
	{
		System: "matcha", Name: "Figure 33", What: "threads of the processor, motifs by parts", Queries: []string{"motifs4_parts"}, Programs: true,
		Versions: []Version{
			{Name: "1 thread", Settings: "c:threads=1", Than: -1},
			{Name: "2 threads", Settings: "c:threads=2", Than: 0, Paper: "nearly 2"},
			{Name: "4 threads", Settings: "c:threads=4", Than: 0, Paper: "nearly 4"},
			{Name: "8 threads", Settings: "c:threads=8", Than: 0, Paper: "nearly 8"},
			{Name: "16 threads", Settings: "c:threads=16", Than: 0, Paper: "nearly 16"},
		},
	},
}
