package weft

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/setting"
)

// everyOption is an option of each function that makes one.
var everyOption = map[string]Option{
	"WithFormat": WithFormat("csv"), "WithDirected": WithDirected(true), "WithColumns": WithColumns("src", "dst"), "WithNull": WithNull("?"), "WithVertexRecords": WithVertexRecords(nil), "WithVertexRows": WithVertexRows(nil), "WithSkip": WithSkip(0), "WithHeader": WithHeader(true), "WithDuplicates": WithDuplicates(),
	"WithLabels": WithLabels(""), "WithVertices": WithVertices(""), "WithThreads": WithThreads(1), "WithMemory": WithMemory(1 << 40),
	"WithGPUMemory": WithGPUMemory(1 << 30), "WithSpill": WithSpill("."), "WithDevice": WithDevice("cpu"), "WithProgress": WithProgress(func(Progress) {}),
	"WithEngine": WithEngine("host"), "WithEngineOption": WithEngineOption("plan.tail", "off"), "WithOrder": WithOrder("ri"),
	"WithSeed": WithSeed(7), "WithSemantics": WithSemantics("iso"), "WithInduced": WithInduced(true), "WithParam": WithParam("x", 1),
	"WithProduct": WithProduct(), "WithLimit": WithLimit(1), "WithList": WithList(Subgraphs), "WithTimeout": WithTimeout(time.Hour), "WithPlanning": WithPlanning(time.Hour),
	"WithDirections": WithDirections(true), "WithQueryColumn": WithQueryColumn(), "WithListing": WithListing(true), "WithLevels": WithLevels(), "WithPasses": WithPasses("none"),
	"WithSchedule": WithSchedule(""), "WithTarget": WithTarget("interp"), "WithProgramMemory": WithProgramMemory(0), "WithCompilerMemory": WithCompilerMemory(0), "WithDebug": WithDebug(), "WithStats": WithStats(false),
	"WithPartitioner": WithPartitioner("builtin"), "WithImbalance": WithImbalance(0.1),
}

// everyCall makes each of the calls that take options, with small inputs.
func everyCall(t *testing.T) map[string]func(...Option) error {
	ctx := context.Background()
	dir := t.TempDir()
	g, err := Generate(ctx, Spec{Model: "grid", Dims: []uint64{3, 3}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "g.csv")
	if err := g.Write(ctx, path, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	q, err := Parse("MATCH (a)--(b)--(c)")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseMatcha("", "input G: Graph\nreturn size(vertices(G))\n")
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]any{"G": g}
	return map[string]func(...Option) error{
		"Open": func(o ...Option) error { _, err := Open(ctx, path, o...); return err },
		"Convert": func(o ...Option) error {
			_, err := Convert(ctx, path, filepath.Join(dir, "to.weft"), WriteOptions{}, o...)
			return err
		},
		"Read": func(o ...Option) error {
			_, err := Read(ctx, strings.NewReader("src,dst\n1,2\n"), o...)
			return err
		},
		"FromRecords": func(o ...Option) error {
			_, err := FromRecords(ctx, recordsOf(t, []string{"a", "b"}, [][]any{{int64(1), int64(2)}}), append([]Option{WithColumns("src", "dst")}, o...)...)
			return err
		},
		"FromEdges": func(o ...Option) error { _, err := FromEdges(ctx, Edges(Edge{Src: 1, Dst: 2}), o...); return err },
		"Generate": func(o ...Option) error {
			_, err := Generate(ctx, Spec{Model: "grid", Dims: []uint64{2, 2}}, o...)
			return err
		},
		"Graph.Info":      func(o ...Option) error { _, err := g.Info(ctx, o...); return err },
		"Graph.CheckFile": func(o ...Option) error { return g.CheckFile(ctx, o...) },
		"Graph.Layouts":   func(o ...Option) error { _, err := g.Layouts(ctx, o...); return err },
		"Graph.Partition": func(o ...Option) error { _, err := g.Partition(ctx, 2, o...); return err },
		"Graph.Count":     func(o ...Option) error { _, err := g.Count(ctx, q, o...); return err },
		"Graph.CountEach": func(o ...Option) (err error) {
			for _, err = range g.CountEach(ctx, []*Query{q}, o...) {
			}
			return err
		},
		"Graph.Exists": func(o ...Option) error { _, _, err := g.Exists(ctx, q, o...); return err },
		"Graph.Match": func(o ...Option) (err error) {
			for _, err = range g.Match(ctx, q, o...) {
			}
			return err
		},
		"Graph.List":          func(o ...Option) error { _, err := g.List(ctx, q, io.Discard, "csv", o...); return err },
		"Graph.Explain":       func(o ...Option) error { _, err := g.Explain(ctx, q, o...); return err },
		"Graph.Verify":        func(o ...Option) error { _, err := g.Verify(ctx, q, time.Hour, o...); return err },
		"Graph.Orbits":        func(o ...Option) error { _, err := g.Orbits(ctx, 3, o...); return err },
		"Graph.Participation": func(o ...Option) error { _, err := g.Participation(ctx, q, "a", o...); return err },
		"Graph.Motifs":        func(o ...Option) error { _, err := g.Motifs(ctx, 3, o...); return err },
		"Graph.Cliques":       func(o ...Option) error { _, err := g.Cliques(ctx, 3, o...); return err },
		"Graph.Matcha":        func(o ...Option) error { _, err := g.Matcha(ctx, q, o...); return err },
		"Graph.MotifsMatcha":  func(o ...Option) error { _, err := g.MotifsMatcha(ctx, 3, o...); return err },
		"Query.Check":         func(o ...Option) error { return q.Check(o...) },
		"Query.Semantics":     func(o ...Option) error { _, err := q.Semantics(o...); return err },
		"Matcha.Run":          func(o ...Option) error { _, err := m.Run(ctx, in, nil, o...); return err },
		"Matcha.RunRows":      func(o ...Option) error { _, err := m.RunRows(ctx, in, nil, o...); return err },
		"Matcha.Code":         func(o ...Option) error { _, err := m.Code(ctx, "c", in, o...); return err },
		"Matcha.Graph":        func(o ...Option) error { _, err := m.Graph(o...); return err },
		"Matcha.Explain":      func(o ...Option) error { _, err := m.Explain(in, o...); return err },
		"Graph.Watch":         func(o ...Option) error { _, err := g.Watch(ctx, []*Query{q}, o...); return err },
		"Graph.Follow": func(o ...Option) error {
			_, err := g.Follow(ctx, []*Query{q}, FollowOptions{Source: "-", Stdin: strings.NewReader("+ 1 2\n")}, o...)
			return err
		},
		"Runtime.Check": func(o ...Option) error { return defaultRuntime().Check(ctx, o...) },
	}
}

// TestOptionsOfCalls: every call takes the options that concern it. The error for another option names the
// option.
func TestOptionsOfCalls(t *testing.T) {
	calls := everyCall(t)
	for i, name := range setting.Calls {
		of, do := setting.Call(1<<i), calls[name]
		if of.String() != name || do == nil {
			t.Errorf("call %d is %s, want %s", i, of, name)
			continue
		}
		for option, o := range everyOption {
			err := do(o)
			text := fmt.Sprintf("%s does not concern %s: ", option, name)
			concerned := setting.Concerns[option]&of != 0
			refused := err != nil && errors.Is(err, ErrUsage) && strings.HasPrefix(err.Error(), text)
			if concerned == refused {
				t.Errorf("%s with %s: %v; concerns it: %v", name, option, err, concerned)
			}
			if got := Concerning(name, Option{}, o); (len(got) == 1) != concerned {
				t.Errorf("Concerning(%s) of %s: %d options, concerns it: %v", name, option, len(got), concerned)
			}
			// WithDebug asks for generated code, which a run by default has not. The switches of watches are others than those of searches.
			other := option == "WithDebug" && strings.HasPrefix(name, "Matcha.Run") || option == "WithEngineOption" && of&(setting.Watch|setting.Follow) != 0
			if concerned && err != nil && !other {
				t.Errorf("%s with %s: %v", name, option, err)
			}
		}
		if err := do(Option{}); err != nil {
			t.Errorf("%s with the zero option: %v", name, err)
		}
	}
}

// TestOptionTables: the tables have all options and calls that the package exports.
func TestOptionTables(t *testing.T) {
	pkg := rootPackage(t)
	option := pkg.Scope().Lookup("Option").Type()
	var options, calls []string
	look := func(name string, f *types.Func) {
		s := f.Signature()
		if s.Results().Len() == 1 && types.Identical(s.Results().At(0).Type(), option) {
			options = append(options, name)
		}
		if s.Variadic() && types.Identical(s.Params().At(s.Params().Len()-1).Type(), types.NewSlice(option)) && name != "Concerning" {
			calls = append(calls, name)
		}
	}
	for _, name := range pkg.Scope().Names() {
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			if o.Exported() {
				look(name, o)
			}
		case *types.TypeName:
			if named, ok := o.Type().(*types.Named); ok {
				for m := range named.Methods() {
					// Methods of a runtime that are functions of the package are the same calls.
					if m.Exported() && (name != "Runtime" || pkg.Scope().Lookup(m.Name()) == nil) {
						look(name+"."+m.Name(), m)
					}
				}
			}
		}
	}
	same := func(what string, got, want []string) {
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the table has %q, the package %q", what, got, want)
		}
	}
	var known, tried []string
	for name := range setting.Concerns {
		known = append(known, name)
	}
	for name := range everyOption {
		tried = append(tried, name)
	}
	same("options", known, options)
	same("options of the test", tried, options)
	same("calls", slices.Clone(setting.Calls[:]), calls)
}
