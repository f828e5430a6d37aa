// Command typecheck checks the types of the module, with its tests, for other systems:
//
//	go run ./internal/tools/typecheck linux/386 linux/arm
//
// It tells whether everything compiles there, as does a build, in a tenth of the time, because no code is generated and only the
// module's own function bodies are looked at. What a build finds besides is a mistake of the assembler or of the linker: platforms
// of a release are built. It prints each mistake with its place, and exits with 1 if there is one.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	code := 0
	for _, target := range os.Args[1:] {
		system, arch, ok := strings.Cut(target, "/")
		if !ok {
			fmt.Fprintf(os.Stderr, "typecheck: %q is not a system and an architecture, as linux/386\n", target)
			os.Exit(2)
		}
		n, err := check(".", system, arch)
		if err != nil {
			fmt.Fprintf(os.Stderr, "typecheck: %s:\n%v\n", target, err)
			code = 1
			continue
		}
		fmt.Printf("types %s: %d packages\n", target, n)
	}
	os.Exit(code)
}

// listed is a package, as go list describes it. With its tests, a package is there once more.
type listed struct {
	ImportPath, Name, Dir string
	GoFiles               []string
	ImportMap             map[string]string // from paths in the source to those of packages
	Module                *struct {
		Main      bool
		GoVersion string
	}
}

// check checks all packages of the module in a folder, and those that they import. It returns the number of the module's own. The
// error has all mistakes.
func check(dir, system, arch string) (own int, err error) {
	sizes := types.SizesFor("gc", arch)
	if sizes == nil {
		return 0, fmt.Errorf("there is no architecture %s", arch)
	}
	list := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Name,Dir,GoFiles,ImportMap,Module", "./...")
	list.Dir, list.Env = dir, append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	var said bytes.Buffer
	list.Stderr = &said
	text, err := list.Output()
	if err != nil {
		return 0, fmt.Errorf("go list: %w\n%s", err, said.Bytes())
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	var wrong []error
	seen := map[string]bool{}
	mistake := func(err error) {
		if text := err.Error(); !seen[text] { // a file is checked with the tests of its package once more
			seen[text] = true
			wrong = append(wrong, err)
		}
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; { // each package is behind those that it imports
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return own, errors.Join(wrong...)
		} else if err != nil {
			return own, err
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the second is the generated program of a test
			continue
		}
		c := types.Config{Importer: importer{p.ImportMap, checked}, Sizes: sizes, IgnoreFuncBodies: true, Error: mistake}
		if p.Module != nil {
			if p.Module.Main {
				c.IgnoreFuncBodies = false
				own++
			}
			if p.Module.GoVersion != "" {
				c.GoVersion = "go" + p.Module.GoVersion
			}
		}
		set := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				mistake(err)
				continue
			}
			files = append(files, f)
		}
		path, _, _ := strings.Cut(p.ImportPath, " [")
		checked[p.ImportPath], _ = c.Check(path, set, files, nil) // it has told the mistakes
	}
}

// importer finds what is checked already.
type importer struct {
	paths   map[string]string
	checked map[string]*types.Package
}

func (i importer) Import(path string) (*types.Package, error) {
	if mapped, ok := i.paths[path]; ok {
		path = mapped
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not listed", path)
}
