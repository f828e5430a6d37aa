package imports_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// direct are the calls by which packages ask the system for files by themselves, and why. All others read and write
// through vfs, so that tests can let any operation fail.
var direct = []struct{ dir, calls, why string }{
	{"internal/vfs", "*", "it is the seam"},
	{"internal/disk", "os.ReadFile", "the number of this boot, which is part of a name"},
	{"internal/disk", "filepath.EvalSymlinks os.Lstat", "the way to a library of the system"},
	{"internal/memory", "os.ReadFile", "limits of memory, which Linux gives as files"},
	{"internal/cuda", "os.ReadFile os.ReadDir filepath.Glob", "which libraries and devices there are"},
	{"internal/cuda/emu", "os.WriteFile os.Remove", "a device of tests"},
	{"internal/serve/servetest", "os.WriteFile", "files of tests"},
	{"internal/cuda/kernels/check", "os.MkdirAll os.WriteFile", "a tool of tests"},
	{"cmd/weft", "os.ReadFile", "what Linux says of the machine"},
}

// opens are the calls of package os that read or change files, and those of path/filepath.
var opens = map[string][]string{
	"os": {"Open", "OpenFile", "Create", "CreateTemp", "Stat", "Lstat", "ReadFile", "WriteFile", "ReadDir", "Readlink", "Mkdir", "MkdirAll", "MkdirTemp",
		"Rename", "Remove", "RemoveAll", "Link", "Symlink", "Truncate", "Chmod", "Chown", "Chtimes", "DirFS", "CopyFS", "OpenRoot"},
	"filepath": {"Glob", "Walk", "WalkDir", "EvalSymlinks"},
}

// TestFilesGoThroughVFS finds calls that a file system of a test would not see.
func TestFilesGoThroughVFS(t *testing.T) {
	found := make([]bool, len(direct))
	sources(t, func(rel string, set *token.FileSet, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if from, ok := s.X.(*ast.Ident); ok && slices.Contains(opens[from.Name], s.Sel.Name) {
				call, may := from.Name+"."+s.Sel.Name, false
				for i, d := range direct {
					if d.dir == path.Dir(rel) && (d.calls == "*" || slices.Contains(strings.Fields(d.calls), call)) {
						found[i], may = true, true
					}
				}
				if !may {
					t.Errorf("%s:%d: %s: take a vfs.FS", rel, set.Position(n.Pos()).Line, call)
				}
			}
			return true
		})
	})
	for i, d := range direct {
		if !found[i] {
			t.Errorf("%s has none of %s: the entry is not needed", d.dir, d.calls)
		}
	}
}

// TestOptionsHaveTables finds engines that read a switch by its name: Values of a table of package engine/option have
// its check, its default and its line in the help.
func TestOptionsHaveTables(t *testing.T) {
	sources(t, func(rel string, set *token.FileSet, f *ast.File) {
		if !strings.HasPrefix(rel, "internal/engine/") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if at, ok := n.(*ast.IndexExpr); ok {
				if s, ok := at.X.(*ast.SelectorExpr); ok && s.Sel.Name == "Opt" {
					t.Errorf("%s:%d: an option without a table: use option.Table", rel, set.Position(n.Pos()).Line)
				}
			}
			return true
		})
	})
}

// sources calls do with the files of the program, except for tests and tools, with their names from the root.
func sources(t *testing.T, do func(rel string, set *token.FileSet, f *ast.File)) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && file != root || d.Name() == "testdata" || rel == "internal/testing" || rel == "internal/tools" || rel == "scripts" {
				return filepath.SkipDir
			}
			return nil
		}
		if path.Ext(rel) != ".go" || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		do(rel, set, f)
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files: %v", files, err)
	}
}
