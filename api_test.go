package weft

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestNoInternalTypes walks all types that a program can reach from the exported names of package weft.
// None of them may be of a package that programs cannot import.
func TestNoInternalTypes(t *testing.T) {
	pkg := rootPackage(t)
	for _, bad := range internalTypes(pkg) {
		t.Error(bad)
	}
	// The walk finds what it looks for.
	const planted = `package p
import "github.com/weftgraph/weft/internal/graph"
type hidden struct{ G graph.Graph }
type behind struct{ G graph.Graph }
type Alias = graph.Stats
type Embeds struct{ graph.Stats }
type Field struct{ F map[string][]*graph.Stats }
type Method struct{}
func (*Method) M(func(graph.Stats)) {}
type Iface interface{ M() chan graph.Stats }
type Through struct{ h hidden; H *behind }
type Promotes struct{ hidden }
type Fine struct{ h hidden }
func Func() (*graph.Graph, error) { return nil, nil }
func Generic[T interface{ graph.Stats }](T) {}
var Var graph.Stats
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", planted, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{Importer: exports(t, fset)}).Check("p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := internalTypes(p)
	for _, name := range []string{"Alias", "Embeds", "Field", "Method", "Iface", "Through", "Promotes", "Func", "Generic", "Var"} {
		if !slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, name) }) {
			t.Errorf("the walk does not find the internal type of %s: %q", name, found)
		}
	}
	if slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, "Fine") }) {
		t.Errorf("the walk looks into unexported fields: %q", found)
	}
}

// rootPackage is package weft, checked from its source.
func rootPackage(t *testing.T) *types.Package {
	t.Helper()
	dir, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range dir.GoFiles {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	pkg, err := (&types.Config{Importer: exports(t, fset)}).Check("github.com/weftgraph/weft", fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

// exports imports packages from the go command's compiled files.
func exports(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	list := exec.Command(goCommand, "list", "-export", "-deps", "-json=ImportPath,Export", ".")
	list.Env = append(os.Environ(), "CGO_ENABLED=0") // the race detector is with cgo, and weft is not: it would be compiled a third time
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

// internalTypes lists the exported names of a package that lead to internal types.
func internalTypes(pkg *types.Package) (found []string) {
	seen := map[types.Type]bool{}
	var walk func(at string, x types.Type)
	object := func(at string, o *types.TypeName) bool {
		if p := o.Pkg(); p != nil && strings.Contains(p.Path()+"/", "/internal/") {
			found = append(found, fmt.Sprintf("%s exposes %s", at, o.Type()))
			return false
		}
		return o.Pkg() == pkg // what other public packages expose is theirs
	}
	walk = func(at string, x types.Type) {
		if seen[x] {
			return
		}
		switch x := x.(type) {
		case *types.Alias:
			if object(at, x.Obj()) {
				walk(at, x.Rhs())
			} else if !strings.Contains(x.Obj().Type().String(), "/internal/") {
				walk(at, types.Unalias(x))
			}
			return
		case *types.Named:
			for i := range x.TypeArgs().Len() {
				walk(at, x.TypeArgs().At(i))
			}
			if !object(at, x.Obj()) {
				return // not seen: each place that leads here is to be told
			}
			seen[x] = true
			for i := range x.NumMethods() {
				if m := x.Method(i); m.Exported() {
					walk(at+"."+m.Name(), m.Type())
				}
			}
			walk(at, x.Underlying())
		case *types.Pointer:
			walk(at, x.Elem())
		case *types.Slice:
			walk(at, x.Elem())
		case *types.Array:
			walk(at, x.Elem())
		case *types.Chan:
			walk(at, x.Elem())
		case *types.Map:
			walk(at, x.Key())
			walk(at, x.Elem())
		case *types.Tuple:
			for i := range x.Len() {
				walk(at, x.At(i).Type())
			}
		case *types.Signature:
			for i := range x.TypeParams().Len() {
				walk(at, x.TypeParams().At(i).Constraint())
			}
			walk(at, x.Params())
			walk(at, x.Results())
		case *types.Struct:
			for i := range x.NumFields() {
				if f := x.Field(i); f.Exported() || f.Embedded() {
					walk(at+"."+f.Name(), f.Type())
				}
			}
		case *types.Interface:
			for i := range x.NumExplicitMethods() {
				if m := x.ExplicitMethod(i); m.Exported() {
					walk(at+"."+m.Name(), m.Type())
				}
			}
			for i := range x.NumEmbeddeds() {
				walk(at, x.EmbeddedType(i))
			}
		case *types.Union:
			for i := range x.Len() {
				walk(at, x.Term(i).Type())
			}
		case *types.TypeParam:
			walk(at, x.Constraint())
		}
	}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if o := scope.Lookup(name); o.Exported() {
			walk(name, o.Type())
		}
	}
	return found
}
