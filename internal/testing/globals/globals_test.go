// Package globals_test keeps the packages free of variables that change: what searches share
// belongs to a runtime (internal/runtime). What describes the process or the machine may stay,
// and is on the list here, with the reason.
//
// It does not find a slice, or a map inside another value, that code changes under another name:
// "s := table; s[0] = 1". A map alone may not get another name. Why: finding the others takes an
// analysis of aliases over the whole program, and tables of words are arguments everywhere.
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
	"slices"
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
	"internal/cuda/emu.files":               "the address space of the process: the files of pinned memory",
	"internal/cuda/emu.shared":              "the emulated device's library: the system loads it once a process",
	"internal/memory.limits":                "what the system allows the process",
	"internal/memory.locked":                "how much memory the process has locked, which counts against what the system allows it",
	"internal/native.active":                "runs by number for takeRows: C calls back with a number alone",
	"internal/native.takeRows":              "a C function of the process: the system never takes one back",
	"internal/native.theC":                  "the machine's C compiler",
	"internal/native.theCXX":                "the machine's C++ compiler",
	"internal/cuda/kernels/check.findClang": "the machine's clang",
	"internal/cuda/kernels/check.haveNVRTC": "whether the machine has NVRTC",

	// What is the same for everybody once it is made.
	"internal/cuda.plainTypes":            "types of Go that were found to be plain data",
	"internal/engine/escape.Orbits":       "a table derived from the graphlets",
	"internal/engine/host/large.keyTable": "random keys, drawn once and read by all",
	"internal/parquet.zstdDecoder":        "a decoder without state between calls",

	"internal/kir.fits64":           "a function of programs, which all of them share: no code changes one",
	"internal/kir.within":           "likewise",
	"internal/lower.minInt":         "an expression: programs are made of them, and no code changes one",
	"internal/matcha/irgen.noLabel": "likewise",
	"internal/pattern.catalogue":    "functions that make a new pattern at each call",

	"internal/graph.lastHandle": "numbers that tell the relations of a process apart",

	// Set by the linker, or constants that tests of their package make small.
	".version":                               "the linker sets it",
	"internal/engine/host/census.batchWords": "a constant, except in tests of the package",
	"internal/engine/host/large.startAfter":  "a constant, except in tests of the package",
	"internal/engine/host/large.attendEvery": "a constant, except in tests of the package",
	"internal/graph.bigBytes":                "a constant, except in tests of the package",
	"internal/graph.settleTime":              "a constant, except in tests of the package",
	"internal/graph.mostRecords":             "a constant, except in tests of the package",

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
	vars := variables(packages(t, set))
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

// TestFinds: the check finds each way in which a variable can change, and takes constant tables as
// such.
func TestFinds(t *testing.T) {
	const text = `package p

import "sync"

var counter = func() func() int { n := 0; return func() int { n++; return n } }()
var cache any = &sync.Map{}
var caches = map[string]any{"a": new(sync.Mutex)}
var aliased = map[string]int{}
var passed = map[string]int{}
var written = map[string]int{}
var byLiteral = 1 + len(text)
var literal = func() { byLiteral++ }

var table = map[string]int{"a": 1}
var double = func(x int) int { return 2 * x }
var text = "a" + string(rune(table["b"]))

func f() int {
	m := aliased
	m["a"] = 1
	g(passed)
	written["b"] = 2
	for range table {
	}
	return table["a"] + len(table) + double(1) + counter()
}

func g(m map[string]int) { m["a"] = 2 }
`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	c := &checked{set: set, files: []*ast.File{file}, info: newInfo()}
	if c.pkg, err = (&types.Config{Importer: importer.ForCompiler(set, "source", nil)}).Check(module+"/p", set, c.files, c.info); err != nil {
		t.Fatal(err)
	}
	vars := variables([]*checked{c})
	for name, want := range map[string]string{
		"counter": "a call made a function", "cache": "it holds a lock", "caches": "it holds a lock", "aliased": "the map goes elsewhere",
		"passed": "the map goes elsewhere", "written": "it is assigned to", "byLiteral": "it is counted",
		"literal": "", "table": "", "double": "", "text": "",
	} {
		if v := vars["p."+name]; v == nil || (v.changes == "") != (want == "") || !strings.HasPrefix(v.changes, want) {
			t.Errorf("%s: %+v, want %q", name, v, want)
		}
	}
}

// variables are those of packages, with how they change.
func variables(all []*checked) map[string]*variable {
	vars := map[string]*variable{}
	for _, note := range []func(*checked, map[string]*variable){(*checked).declared, (*checked).written, (*checked).lent} {
		for _, p := range all {
			note(p, vars)
		}
	}
	return vars
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
	list.Env = append(os.Environ(), "CGO_ENABLED=0") // the race detector is with cgo, and weft is not: it would be compiled a third time
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
		c := &checked{path: strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/"), set: set, info: newInfo()}
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

func newInfo() *types.Info {
	return &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
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
					case len(v.Values) == len(v.Names):
						x.changes = c.hides(v.Values[i])
					}
				}
			}
		}
	}
}

// hides says why a value may change though no code assigns to its variable; "" means that it may
// not. It may if several goroutines change a part of it. It may if a call made a function in it, or
// the value of an interface in it, and that may keep something. Function literals keep nothing
// here, since there are no local variables around them; written looks at what they write.
func (c *checked) hides(x ast.Expr) (how string) {
	ast.Inspect(x, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok || how != "" || c.fromRegex(n) {
			return false
		}
		e, ok := n.(ast.Expr)
		if !ok || !c.info.Types[e].IsValue() {
			return true
		}
		t := c.info.Types[e].Type
		if _, ok := e.(*ast.CallExpr); ok && opaque(t, map[types.Type]bool{}) {
			how = "a call made a function, or what an interface holds, in it"
		}
		if shares(t, map[types.Type]bool{}) {
			how = "it holds a lock, an atomic value or a channel"
		}
		return true
	})
	return how
}

// opaque reports whether values of a type have functions or interfaces, errors apart, in which
// something can be kept that the type does not show. Types of other modules are taken as they are.
func opaque(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] || types.Identical(t, types.Universe.Lookup("error").Type()) {
		return false
	}
	seen[t] = true
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil && !strings.HasPrefix(n.Obj().Pkg().Path()+"/", module+"/") {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Signature, *types.Interface:
		return true
	case *types.Pointer:
		return opaque(u.Elem(), seen)
	case *types.Array:
		return opaque(u.Elem(), seen)
	case *types.Slice:
		return opaque(u.Elem(), seen)
	case *types.Map:
		return opaque(u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if opaque(u.Field(i).Type(), seen) {
				return true
			}
		}
	}
	return false
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

// fromRegex reports whether a value is a regular expression that is compiled when it is first used: all callers get the same.
func (c *checked) fromRegex(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && c.info.Uses[f.Sel] != nil && c.info.Uses[f.Sel].Pkg() != nil && c.info.Uses[f.Sel].Pkg().Path() == module+"/internal/regex"
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

// lent notes the maps that the package's functions use in another way than to look something up, to
// loop over it or to measure it. The code that gets such a map may change it. Slices may go
// elsewhere, since tables of words are arguments everywhere.
func (c *checked) lent(vars map[string]*variable) {
	for _, f := range c.files {
		var above []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				above = above[:len(above)-1]
				return true
			}
			above = append(above, n)
			x, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			v := vars[nameOf(c.info.Uses[x])]
			if v == nil || v.changes != "" {
				return true
			}
			if _, isMap := c.info.Uses[x].Type().Underlying().(*types.Map); isMap && !c.reads(above) {
				v.changes = "the map goes elsewhere at " + c.set.Position(x.Pos()).String()
			}
			return true
		})
	}
}

// reads reports whether the last of nested nodes, a map, is only read by the one around it.
func (c *checked) reads(above []ast.Node) bool {
	x := above[len(above)-1]
	above = above[:len(above)-1]
	if s, ok := above[len(above)-1].(*ast.SelectorExpr); ok && s.Sel == x { // of another package
		x, above = s, above[:len(above)-1]
	}
	switch n := above[len(above)-1].(type) {
	case *ast.IndexExpr:
		return n.X == x
	case *ast.RangeStmt:
		return n.X == x
	case *ast.BinaryExpr: // compared with nil
		return true
	case *ast.AssignStmt: // written has found that it is assigned to
		return slices.ContainsFunc(n.Lhs, func(l ast.Expr) bool { return l == x })
	case *ast.CallExpr:
		switch f := n.Fun.(type) {
		case *ast.Ident:
			return f.Name == "len"
		case *ast.SelectorExpr:
			o := c.info.Uses[f.Sel]
			return o != nil && o.Pkg() != nil && o.Pkg().Path() == "maps" && (o.Name() == "Keys" || o.Name() == "Values" || o.Name() == "All")
		}
	}
	return false
}

// written notes the variables that the package's functions write to, or have written to by
// others. What init does is done before all else.
func (c *checked) written(vars map[string]*variable) {
	for _, f := range c.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				continue
			}
			note := func(x ast.Expr, how string) {
				if v := vars[c.root(x)]; v != nil && v.changes == "" {
					v.changes = how + " at " + c.set.Position(x.Pos()).String()
				}
			}
			ast.Inspect(d, func(n ast.Node) bool {
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
