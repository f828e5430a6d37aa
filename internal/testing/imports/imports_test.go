// Package imports_test keeps the packages' order: data goes one way, from text
// to pattern to plan to engine to sink. ARCHITECTURE.md has the same table.
package imports_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/weftgraph/weft"

// may says which packages of weft a package may import; "x/*" is x and all that
// is below it. A folder takes the longest entry that it is, or is below.
var may = map[string][]string{
	"vfs":          {},
	"disk":         {"ctxio", "vfs"},
	"memory":       {},
	"kind":         {"memory"},
	"graph":        {"disk", "memory", "vfs", "memo"},
	"pattern":      {"timetext", "regex"},
	"timetext":     {},
	"regex":        {},
	"kir":          {},
	"cuda":         {"disk", "dynlib", "memory", "runtime/code"},
	"cuda/emu":     {"disk", "dynlib", "vfs", "cuda", "cuda/kernels", "native", "runtime/code"},
	"cuda/session": {"cuda/*", "kir/*", "memory"},
	"process":      {},
	"dynlib":       {},
	"ctxio":        {"vfs"},
	"native":       {"disk", "dynlib", "memory", "vfs", "runtime/code", "kir/*", "process"},
	// code and crew know nothing of devices; runtime owns these.
	"runtime/code": {"disk", "vfs"},
	"runtime/crew": {},
	"runtime":      {"runtime/*", "cuda", "cuda/session", "graph", "kind", "native"},
	// parquet knows Arrow records only.
	"parquet": {},
	"format":  {"ctxio", "disk", "vfs", "graph", "parquet", "timetext", "regex"},
	"memo":    {},
	"broker":  {"broker/*", "stream", "watch"},
	// caret knows lines and columns only.
	"caret":            {},
	"gql":              {"pattern", "caret"},
	"expr":             {"pattern", "graph"},
	"plan":             {"pattern", "graph", "expr"},
	"plan/explain":     {"plan", "pattern"},
	"plan/phases":      {"plan"},
	"plan/delta":       {"plan", "pattern"},
	"plan/checks":      {"plan", "graph", "pattern"},
	"plan/sets":        {"plan", "pattern"},
	"plan/bind":        {"plan", "plan/checks", "plan/sets", "graph", "pattern", "expr"},
	"plan/cost":        {"plan", "plan/bind", "plan/checks", "graph", "pattern", "runtime/crew"},
	"plan/order":       {"plan", "plan/bind", "plan/cost", "pattern"},
	"plan/formula":     {"plan", "graph", "pattern"},
	"plan/planner":     {"plan/*", "graph", "pattern"},
	"matcha":           {"kir/*", "graph", "caret", "memory"},
	"matcha/cpu":       {"kir/*", "memory", "native", "matcha/*"},
	"matcha/device":    {"kir/*", "graph", "cuda", "cuda/kernels", "cuda/session", "matcha/*"},
	"matcha/run":       {"kir/*", "graph", "memory", "native", "runtime", "matcha/*"},
	"matcha/program":   {"matcha/*", "graph", "kind", "memory", "plan", "runtime", "search", "setting", "view"},
	"lower":            {"plan", "expr", "graph", "kir", "pattern"},
	"lower/matchatext": {"plan", "pattern", "matcha/*"},
	"view":             {"gql", "pattern", "plan", "plan/bind", "plan/planner", "expr", "graph", "lower", "kir", "matcha/data", "matcha/types"},
	"graph/gen":        {"graph"},
	"graph/dynamic":    {"graph"},
	"graph/layout":     {"graph", "memo", "disk", "vfs"},
	"stream":           {"format", "graph/dynamic", "timetext", "vfs"},
	"stream/nest":      {"stream", "graph", "graph/dynamic", "plan", "plan/delta", "pattern", "expr", "engine"},
	"stream/cached":    {"stream/nest", "graph/dynamic", "plan/delta", "engine/option", "memory", "cuda", "cuda/kernels"},
	"stream/host":      {"stream", "stream/nest", "graph", "graph/dynamic", "plan", "plan/delta", "pattern", "expr", "engine", "engine/option", "runtime/crew"},
	"stream/pipeline":  {"stream/nest", "graph/dynamic", "engine/option", "cuda/*"},
	"stream/split":     {"graph", "graph/dynamic", "stream"},
	"watch":            {"ctxio", "disk", "engine", "expr", "gql", "graph", "graph/dynamic", "pattern", "plan", "sink", "stream", "stream/nest", "vfs"},
	"broker/kafka":     {"broker/secure", "stream", "vfs", "watch"},
	"broker/nats":      {"broker/secure", "stream", "vfs", "watch"},
	"broker/secure":    {"vfs"},
	"broker/journal":   {"stream", "vfs"},
	"graph/partition":  {"graph", "disk", "dynlib", "vfs", "process"},
	"engine":           {"plan", "graph", "memory", "pattern", "runtime/crew"},
	"engine/option":    {"pattern"},
	"engine/tasks":     {"engine", "runtime/crew"},
	"engine/tail":      {"engine", "engine/tasks", "plan", "pattern"},
	// escape is formulas, of sums that a census adds up on the processor or on GPUs.
	"engine/escape": {"engine", "pattern"},
	"engine/oracle": {"plan", "graph", "pattern", "engine"},
	// setops knows sorted lists and bitmaps only.
	"setops": {},
	// gpu is what the engines of GPUs share around a session.
	"gpu": {"plan", "pattern", "graph", "kir", "lower", "memory", "cuda/*", "engine", "engine/option", "gpu/reads"},
	// reads estimates for the caches of sessions.
	"gpu/reads": {"plan", "plan/checks", "graph", "kir", "cuda/session"},
	// membership is what engines of GPUs find out about neighbour lists by.
	"gpu/membership": {"kir/*", "cuda/*", "engine", "engine/option", "gpu"},
	// neighbourhood is a method that the engines of GPUs share.
	"gpu/census":        {"gpu", "engine", "engine/escape", "graph", "kir/*", "cuda/*", "pattern"},
	"gpu/neighbourhood": {"plan", "graph", "kir/*", "lower", "cuda/*", "engine", "engine/option", "gpu"},
	"engine/stack":      {"plan", "graph", "kir/*", "lower", "cuda/*", "engine", "engine/option", "gpu", "gpu/neighbourhood"},
	"engine/codegen":    {"plan", "graph", "kir/*", "lower", "memory", "cuda/*", "native", "engine", "engine/option", "gpu", "gpu/neighbourhood", "gpu/membership"},
	"engine/host":       {"plan", "graph/*", "memory", "pattern", "engine", "engine/escape", "engine/option", "engine/tasks", "engine/tail", "runtime/crew", "setops"},
	"engine/join":       {"disk", "memory", "plan", "plan/phases", "graph/*", "pattern", "vfs", "engine", "engine/option", "engine/tasks", "engine/tail", "runtime/crew", "setops", "gpu", "lower", "kir/*", "cuda/*"},
	"engine/partition":  {"plan", "plan/planner", "graph", "graph/partition", "pattern", "memory", "vfs", "engine", "engine/option", "gpu", "kir/*", "cuda/*"},
	"engine/fine":       {"plan", "graph", "pattern", "kir/*", "lower", "cuda/*", "engine", "engine/option", "gpu", "gpu/membership"},
	"route":             {"engine/*", "gpu/*", "stream/*", "plan", "graph", "graph/dynamic", "pattern", "memory", "cuda", "cuda/session", "runtime"},
	"sink":              {"engine", "expr", "graph", "pattern", "parquet"},
	// setting knows options; search makes a query of them ready to run, and motifs and verify are made of searches.
	"setting": {"engine", "engine/option", "format", "kind", "pattern", "plan", "route", "runtime", "runtime/crew"},
	"search": {"cuda", "cuda/session", "engine", "format", "gql", "graph", "graph/gen", "kind", "lower/matchatext", "memory", "native", "pattern", "plan",
		"plan/explain", "plan/planner", "route", "runtime", "setting", "sink"},
	"verify": {"engine/oracle", "pattern", "plan", "search"},
	"motifs": {"cuda/session", "engine", "engine/host", "engine/host/census", "gpu", "gpu/census", "gql", "graph", "kind", "matcha/library", "matcha/program", "matcha/schedule", "memory", "pattern",
		"plan", "plan/formula", "plan/planner", "route", "runtime", "search", "setting", "sink"},
	// serve and the protocols below it are users of the root package. gql tells them where the parts of a query stand.
	"serve": {"gql", "matcha/library", "memory", "native", "sink", "vfs", "serve/*"},
	"bench": {"*"},
	// exchange and queryset know graphs and patterns only.
	"bench/exchange": {"graph", "pattern"},
	"bench/queryset": {"graph", "pattern"},
	"testing":        {"*"},
	"tools":          {"*"},
}

// engines may not know each other.
var engines = []string{"oracle", "host", "stack", "fine", "codegen", "join", "partition"}

func TestImports(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != root || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		// Tests may look at anything: they import no package that imports them.
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		files++
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if why := wrong(path.Dir(filepath.ToSlash(rel)), imported); why != "" {
				t.Errorf("%s imports %s: %s", rel, imported, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("only %d files were looked at", files)
	}
}

// wrong says why a package in dir must not import another, or "".
func wrong(dir, imported string) string {
	if imported == "C" || imported == "unsafe" && dir == "." {
		return "the module is built without cgo"
	}
	if imported == module {
		if dir != "cmd/weft" && !strings.HasPrefix(dir, "internal/tools/") && !inside(dir, "internal/serve") {
			return "only cmd/weft, internal/serve and internal/tools import the root package"
		}
		return ""
	}
	to, ok := strings.CutPrefix(imported, module+"/internal/")
	if !ok {
		return ""
	}
	from, ok := strings.CutPrefix(dir, "internal/")
	if !ok {
		return "" // the root package and cmd/weft
	}
	if to == from {
		return ""
	}
	if a, b := engineOf(from), engineOf(to); a != "" && b != "" && a != b {
		return "an engine knows no other engine"
	}
	entry := from
	for ; entry != "."; entry = path.Dir(entry) {
		if _, ok := may[entry]; ok {
			break
		}
	}
	if entry == "." {
		return "the table has no entry for internal/" + from
	}
	if entry != from && inside(to, entry) || inside(to, from) {
		return ""
	}
	ok = slices.ContainsFunc(may[entry], func(p string) bool {
		below, all := strings.CutSuffix(p, "*")
		return p == to || all && (strings.HasPrefix(to, below) || to == strings.TrimSuffix(below, "/"))
	})
	if !ok {
		return "internal/" + entry + " may only import " + strings.Join(append(may[entry], "its own parts"), ", ")
	}
	return ""
}

// inside reports whether package a is b or below it.
func inside(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") }

// engineOf is the engine that a package belongs to, or "".
func engineOf(p string) string {
	rest, ok := strings.CutPrefix(p, "engine/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if slices.Contains(engines, name) {
		return name
	}
	return ""
}

func TestWrong(t *testing.T) {
	in := func(p string) string { return module + "/internal/" + p }
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"internal/plan", in("pattern"), true},
		{"internal/pattern", in("plan"), false},
		{"internal/plan", in("gql"), false},
		{"internal/engine/host", in("setops"), true},
		{"internal/engine/host/large", in("setops"), true},
		{"internal/setops", in("engine/host"), false},
		{"internal/engine/host", in("engine/oracle"), false},
		{"internal/engine/host", in("gql"), false},
		{"internal/engine/host", in("graph/layout"), true},
		{"internal/route", in("engine/host"), true},
		{"internal/graph", in("graph/layout"), true},
		{"internal/unknown", in("graph"), false},
		{"cmd/weft", module, true},
		{"internal/plan", module, false},
		{".", in("gql"), true},
		{"internal/plan", "C", false},
	} {
		if why := wrong(c.from, c.to); (why == "") != c.ok {
			t.Errorf("%s → %s: %q", c.from, c.to, why)
		}
	}
}
