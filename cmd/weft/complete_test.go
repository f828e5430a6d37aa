package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
)

// TestCompletion asks as a shell's script does.
func TestCompletion(t *testing.T) {
	for line, want := range map[string][]string{
		"count --engine-opt":     {"plan.method=local\t", "host.steal=off\t", "stack.unroll=8\t", "fine.pool=\t"},
		"bench --device":         {"auto\n", "cpu\n"},
		"match --engine":         {"auto\n", "host\t", "stack\t"},
		"match --to":             {"ndjson\n", "parquet\n"},
		"convert --to":           {"mtx\n", "weft\n"},
		"explain --to":           {"json\n"},
		"count --pattern":        {"triangle\t", "clique(\t"},
		"verify --order":         {"gsi\n"},
		"info --format":          {"edgelist\n"},
		"exists --semantics":     {"trail\n"},
		"count --count":          {"embeddings\n"},
		"cliques --progress":     {"plain\n"},
		"motifs --engine-opt":    {"host.steal=on\t"},
		"explain --engine-opt":   {"plan.tail=on\t"},
		"matcha run":             {"clique5\t", "motifs4_parts\t"},
		"matcha run --target":    {"interp\t", "c\t", "cuda\t"},
		"matcha run --to":        {"ndjson\n"},
		"matcha emit --emit":     {"asg\n", "cuda\n"},
		"matcha emit --passes":   {"none\n", "fuse-sum\t"},
		"bench matcha --program": {"triangles\t"},
		"bench matcha --engine":  {"host\t"},
		"gen --to":               {"mtx\n"},
		"gen stream --to":        {"rapidflow\n"},
		"gen stream --order":     {"random\n", "time\n"},
		"gen stream --arrivals":  {"poisson\n"},
		"replay --updates":       {"rapidflow\n"},
		"replay --unit":          {"us\n"},
		"watch --to":             {"ndjson\n", "arrow\n"},
		"watch --on-error":       {"skip\n"},
		"watch --updates":        {"rapidflow\n"},
		"bench join --set":       {"walk12\n", "Tr1\n"},
	} {
		var out bytes.Buffer
		args := append([]string{"__complete"}, append(strings.Fields(line), "")...)
		if code := run(t.Context(), args, nil, &out, &bytes.Buffer{}); code != 0 {
			t.Errorf("%s: exit %d", line, code)
		}
		for _, w := range want {
			if !strings.Contains("\n"+out.String(), "\n"+w) {
				t.Errorf("%s offers no %q:\n%s", line, w, out.String())
			}
		}
	}
}

// TestEngineOptions: what is offered is what the engines read.
func TestEngineOptions(t *testing.T) {
	source := map[string]string{}
	for folder, engine := range map[string]string{
		"engine/host": "host", "stream/host": "host", "engine/stack": "stack", "engine/fine": "fine", "engine/codegen": "codegen", "engine/partition": "partition", "gpu/neighbourhood": "local",
		"engine/join": "join", "gpu": "gpu", "stream/cached": "cached", "stream/pipeline": "pipeline",
	} {
		files, err := filepath.Glob(filepath.Join("..", "..", "internal", folder, "*.go"))
		if err != nil || files == nil {
			t.Fatal(engine, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(f, "_test.go") {
				source[engine] += string(text)
			}
		}
	}
	for _, o := range weft.EngineOptions() {
		engine, name, _ := strings.Cut(o.Name, ".")
		key := `"` + o.Name + `"`
		if engine == "gpu" {
			key = "Adjacency" // the constant of the only option of all engines on GPUs
		}
		if of, local := strings.CutPrefix(name, "local"); local {
			engine, key = "local", "(local" // the method that engines share
			if of != "" {
				key = `"` + of + `"`
			}
		}
		if engine != "plan" && strings.Count(source[engine], key) < 2 { // in the table, and where it is read
			t.Errorf("engine %s reads no option %s", engine, o.Name)
		}
	}
}
