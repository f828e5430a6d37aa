// Package globals_test keeps the packages free of variables that change: what searches share
// belongs to a runtime (internal/runtime). What describes the process or the machine may stay,
// and is on the list here, with the reason.
package globals_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/weftgraph/weft"

// allowed are the variables that may change, by package and name, with the reason.
var allowed = map[string]string{
	".defaultRuntime": "the one documented value that all users of the package in a process share",

	// What the process or the machine is.
	"internal/cuda.loadDriver":              "the driver's library: the system loads it once a process",
	"internal/cuda.loadNVRTC":               "the compiler's library: likewise",
	"internal/cuda.only":                    "CUDA_VISIBLE_DEVICES, which the driver reads once a process",
	"internal/disk.origin":                  "the host's name and its boot",
	"internal/disk.swept":                   "folders of the machine, whose leftovers a process removes once",
	"internal/graph.mapped":                 "the address space of the process: what was mapped there",
	"internal/graph.processSeed":            "a random number that tells processes apart",
	"internal/cuda/emu.shared":              "the emulated device's library: the system loads it once a process",
	"internal/memory.limits":                "what the system allows the process",
	"internal/native.active":                "runs by number for takeRows: C calls back with a number alone",
	"internal/native.takeRows":              "a C function of the process: the system never takes one back",
	"internal/native.theC":                  "the machine's C compiler",
	"internal/native.theCXX":                "the machine's C++ compiler",
	"internal/cuda/kernels/check.findClang": "the machine's clang",
	"internal/cuda/kernels/check.haveNVRTC": "whether the machine has NVRTC",

	// What is the same for everybody once it is made.
	"internal/cuda.plainTypes":            "types of Go that were found to be plain data",
	"internal/engine/host/large.keyTable": "random keys, drawn once and read by all",
	"internal/parquet.zstdDecoder":        "a decoder without state between calls",

	"internal/graph.lastHandle": "numbers that tell the relations of a process apart",
	"internal/cuda.faultsMu":    "guards the counters of a test's device",

	// Set by the linker, or constants that tests of their package make small.
	".version":                               "the linker sets it",
	"internal/engine/host/census.batchWords": "a constant, except in tests of the package",
	"internal/engine/host/large.startAfter":  "a constant, except in tests of the package",
	"internal/engine/host/large.attendEvery": "a constant, except in tests of the package",
	"internal/graph.bigBytes":                "a constant, except in tests of the package",
	"internal/graph.settleTime":              "a constant, except in tests of the package",
	"internal/graph.mostRecords":             "a constant, except in tests of the package",
	"internal/gpu/membership.Short":          "a constant, except in tests of engines",
	"internal/gpu/membership.LongLists":      "a constant, except in tests of engines",

	// Scratch memory, which the garbage collector takes back.
	"internal/engine/host.localMemory":       "scratch memory",
	"internal/engine/host/large.workerPool":  "scratch memory",
	"internal/engine/host/large.scratchPool": "scratch memory",
}

// variable is a variable of a package.
type variable struct {
	at      token.Position
	changes string // how; "": it does not
}

// TestGlobals: no variable of a package changes, except those on the list.
func TestGlobals(t *testing.T) {
	set := token.NewFileSet()
	vars := map[string]*variable{}
	all := packages(t, set)
	for _, p := range all {
		p.declared(vars)
	}
	for _, p := range all {
		p.written(vars)
	}
	for name, v := range vars {
		switch {
		case v.changes != "" && allowed[name] == "":
			t.Errorf("%s: %s changes: %s. What searches share belongs to internal/runtime; what describes the process or the machine goes on the list of this test, with the reason", v.at, name, v.changes)
		case v.changes == "" && allowed[name] != "":
			t.Errorf("%s: %s is on the list, and does not change", v.at, name)
		}
	}
	for name := range allowed {
		if vars[name] == nil {
			t.Errorf("%s is on the list, and there is no such variable", name)
		}
	}
}

// checked is a package of the module with its types.
type checked struct {
	path  string // below the module, "" for the root
	set   *token.FileSet
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// packages are those of the module, without their tests, and without what only tests and
// developers run.
func packages(t *testing.T, set *token.FileSet) (out []*checked) {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	list := exec.Command(goCommand, "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", "./...")
	list.Dir = filepath.Join("..", "..", "..")
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	exports := map[string]string{}
	var own []listed
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		rel, ok := strings.CutPrefix(p.ImportPath, module)
		if ok && !strings.HasPrefix(rel, "/internal/testing") && !strings.HasPrefix(rel, "/internal/tools") {
			own = append(own, p)
		}
	}
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range own {
		c := &checked{path: strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/"), set: set, info: &types.Info{
			Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		}}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			c.files = append(c.files, f)
		}
		if c.pkg, err = (&types.Config{Importer: from}).Check(p.ImportPath, set, c.files, c.info); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if len(out) < 50 {
		t.Fatalf("only %d packages", len(out))
	}
	return out
}

// nameOf is a variable of a package as the list has it, "" for any other object.
func nameOf(o types.Object) string {
	v, ok := o.(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return ""
	}
	rel, ok := strings.CutPrefix(v.Pkg().Path(), module)
	if !ok {
		return ""
	}
	return strings.TrimPrefix(rel, "/") + "." + v.Name()
}

// declared adds the package's variables, with what their declarations say.
func (c *checked) declared(vars map[string]*variable) {
	for _, f := range c.files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, name := range v.Names {
					o := c.info.Defs[name]
					if name.Name == "_" || o == nil {
						continue
					}
					x := &variable{at: c.set.Position(name.Pos())}
					vars[nameOf(o)] = x
					switch {
					case shares(o.Type(), map[types.Type]bool{}):
						x.changes = "it has a lock, an atomic value or a channel"
					case len(v.Values) == len(v.Names) && c.fromSync(v.Values[i]):
						x.changes = "it is made once"
					case len(v.Values) == len(v.Names) && c.info.Types[v.Values[i]].Value != nil:
						x.changes = "it could be a constant"
					}
				}
			}
		}
	}
}

// fromSync reports whether a value comes from a function of package sync, as sync.OnceValue.
func (c *checked) fromSync(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && c.info.Uses[f.Sel] != nil && c.info.Uses[f.Sel].Pkg() != nil && c.info.Uses[f.Sel].Pkg().Path() == "sync"
}

// shares reports whether values of a type are for several goroutines that change them.
func shares(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if n, ok := t.(*types.Named); ok {
		if p := n.Obj().Pkg(); p != nil && !strings.HasPrefix(p.Path()+"/", module+"/") {
			return p.Path() == "sync" || p.Path() == "sync/atomic"
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Chan:
		return true
	case *types.Pointer:
		return shares(u.Elem(), seen)
	case *types.Array:
		return shares(u.Elem(), seen)
	case *types.Slice:
		return shares(u.Elem(), seen)
	case *types.Map:
		return shares(u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if shares(u.Field(i).Type(), seen) {
				return true
			}
		}
	}
	return false
}

// written notes the variables that the package's functions write to, or have written to by
// others. What init does is done before all else.
func (c *checked) written(vars map[string]*variable) {
	for _, f := range c.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || fn.Recv == nil && fn.Name.Name == "init" {
				continue
			}
			note := func(x ast.Expr, how string) {
				if v := vars[c.root(x)]; v != nil && v.changes == "" {
					v.changes = how + " at " + c.set.Position(x.Pos()).String()
				}
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, x := range n.Lhs {
						note(x, "it is assigned to")
					}
				case *ast.IncDecStmt:
					note(n.X, "it is counted")
				case *ast.RangeStmt:
					for _, x := range []ast.Expr{n.Key, n.Value} {
						if x != nil && n.Tok == token.ASSIGN {
							note(x, "it is assigned to")
						}
					}
				case *ast.UnaryExpr:
					if n.Op == token.AND {
						note(n.X, "its address is taken")
					}
				case *ast.CallExpr:
					if b, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 {
						if _, builtin := c.info.Uses[b].(*types.Builtin); builtin && (b.Name == "delete" || b.Name == "clear" || b.Name == "copy") {
							note(n.Args[0], "its elements are changed")
						}
					}
					if s, ok := n.Fun.(*ast.SelectorExpr); ok {
						if m := c.info.Selections[s]; m != nil && m.Kind() == types.MethodVal {
							_, byPointer := m.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
							_, isPointer := m.Recv().Underlying().(*types.Pointer)
							if byPointer && !isPointer {
								note(s.X, "a method may change it")
							}
						}
					}
				}
				return true
			})
		}
	}
}

// root is the variable of a package of which x is a part, "" where there is none.
func (c *checked) root(x ast.Expr) string {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.SelectorExpr:
			if p, ok := e.X.(*ast.Ident); ok {
				if _, imported := c.info.Uses[p].(*types.PkgName); imported {
					return nameOf(c.info.Uses[e.Sel])
				}
			}
			x = e.X
		case *ast.Ident:
			return nameOf(c.info.Uses[e])
		default:
			return ""
		}
	}
}
