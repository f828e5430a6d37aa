package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench/papers"
)

// labelled is the text of a query of STMatch's Figure 12.
func labelled(t *testing.T, f *benchAblationFlags, at int) string {
	t.Helper()
	all, err := papers.Of("stmatch", []string{"Figure 12"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := weft.Open(t.Context(), f.path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	q, err := f.queryOf(g, &all[0], at)
	if err != nil {
		t.Fatal(err)
	}
	return q.String()
}

// TestBenchAblation: experiments on the processor run without a GPU, and mistakes say what there is.
func TestBenchAblation(t *testing.T) {
	text := runScript(t.TempDir(), "bench ablation --system matcha --experiment 'Figure 33' -g ../../testdata/graphs/karate.txt --runs 1 --to csv")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[0], "system,experiment,graph,query,version,median_ms,gain,") || !strings.HasPrefix(lines[2], "matcha,Figure 33,../../testdata/graphs/karate.txt,motifs4_parts,2 threads,") ||
		!strings.Contains(lines[2], ",nearly 2,") {
		t.Errorf("%s", text)
	}
	counts := map[string]bool{}
	for _, l := range lines[1:] {
		fields := strings.Split(l, ",")
		counts[fields[len(fields)-2]] = true
	}
	if len(counts) != 1 {
		t.Errorf("counts %v", counts)
	}
	for line, want := range map[string]string{
		"":                    "name the paper's system: --system stmatch, gmatch, matcha",
		"--system gmtch -g x": "did you mean gmatch?",
		"--system gmatch":     "no graph: give a file with -g",
		"--system gmatch -g x --experiment 'Table 9'": `the experiments of gmatch are ["Table 5" "Table 6" "Table 8" "Figure 16"], and not "Table 9"`,
		"--system gmatch -g x --query stmatch:q1":     "--query stmatch:q1: none of the experiments has it",
		"--system gmatch -g x --device cpu":           "--device cpu: versions of Table 5 run on GPUs",
		"--system matcha -g x --runs 0":               "--runs must be at least 1",
	} {
		if text := runScript(t.TempDir(), "bench ablation "+line); !strings.Contains(text, want) || !strings.Contains(text, "exit 2") {
			t.Errorf("%s: %s", line, text)
		}
	}
}

// TestLabelledQueries: the labels of an experiment's queries depend on the seed and on the query alone.
func TestLabelledQueries(t *testing.T) {
	dir := t.TempDir()
	if text := runScript(dir, "gen er --n 200 --p 0.1 --vertex-labels 3 -o $D/g.weft"); strings.Contains(text, "exit") {
		t.Fatal(text)
	}
	texts := map[string]bool{}
	for range 2 {
		for seed := range 3 {
			f := benchAblationFlags{}
			f.path, f.seed = dir+"/g.weft", uint64(seed)
			texts[labelled(t, &f, 0)] = true
			texts[labelled(t, &f, 1)] = true
		}
	}
	if len(texts) != 6 {
		t.Errorf("%d texts for three seeds and two queries: %v", len(texts), texts)
	}
}

// TestExperimentInputs: every input of an experiment's programs has a value, labels are those that the graph has, and edges have its times.
func TestExperimentInputs(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.csv": "src,dst,time\n5,7,100\n7,9,300\n5,7,200\n"})
	for _, line := range []string{"gen er --n 50 --p 0.1 --vertex-labels 3 -o $D/labelled.weft", "convert --directed $D/g.csv -o $D/timed.weft"} {
		if text := runScript(dir, line); strings.Contains(text, "exit") {
			t.Fatal(text)
		}
	}
	open := func(path string) *weft.Graph {
		g, err := weft.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close() })
		return g
	}
	labelled, timed := open(dir+"/labelled.weft"), open(dir+"/timed.weft")
	f := &benchAblationFlags{}
	for _, system := range papers.Systems() {
		all, _ := papers.Of(system, nil)
		for _, e := range all {
			if !e.Programs {
				continue
			}
			g := labelled
			if e.Times {
				g = timed
			}
			for at, query := range e.Queries {
				in, err := f.inputs(t.Context(), g, &e, at)
				if err != nil {
					t.Errorf("%s, %s: %v", e.Name, query, err)
				}
				for name, value := range in {
					if n, ok := value.(int64); ok && strings.HasPrefix(name, "l") && len(name) == 2 && (n < 0 || n > 2) {
						t.Errorf("%s, %s: %s is %v", e.Name, query, name, value)
					}
				}
				if edges, ok := in["E"].([]int64); e.Times && (!ok || len(edges) != 9 || !slices.Contains(edges, 300)) {
					t.Errorf("%s, %s: edges %v", e.Name, query, in["E"])
				}
			}
		}
	}
}
