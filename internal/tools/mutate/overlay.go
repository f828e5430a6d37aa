package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// variable chooses the mutant of a run, by its number.
	variable = "WEFT_MUTANT"
	// reachedVariable names the file to which a run adds the number of each mutant whose
	// block runs.
	reachedVariable = "WEFT_MUTANTS_REACHED"
)

// chooser is a file of every package with mutants. Go initializes its variable
// before others that need it.
const chooser = `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

var weftMutant = func() int {
	n, _ := strconv.Atoi(os.Getenv("` + variable + `"))
	return n
}()

var weftReachedFile = os.Getenv("` + reachedVariable + `")

var weftMet [%d]atomic.Bool

func weftReached(id int) {
	if weftReachedFile != "" && !weftMet[id].Load() {
		weftReach(id)
	}
}

func weftReach(id int) {
	if weftMet[id].Swap(true) {
		return
	}
	f, err := os.OpenFile(weftReachedFile, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		panic(err)
	}
	f.WriteString(strconv.Itoa(id) + "\n")
	f.Close()
}
`

// overlay writes the files of the packages with mutants, and the list of them for
// the go command's -overlay. It returns the list's name.
//
// A function with mutants begins with a switch that calls a mutant's copy of it, and the
// block of each mutant with a call that notes that it was reached.
// Copies stand at the end of the file, each behind a line directive with the
// mutant's number, so that what does not compile is known.
func overlay(root, work string, mutants []*mutant) (string, error) {
	replace := map[string]string{}
	write := func(path, text string) error {
		to := filepath.Join(work, fmt.Sprintf("%d_%s", len(replace), filepath.Base(path)))
		replace[filepath.Join(root, path)] = to
		return os.WriteFile(to, []byte(text), 0o644)
	}
	files := map[*source][]*mutant{}
	for _, m := range mutants {
		files[m.source] = append(files[m.source], m)
	}
	packages := map[string]string{}
	most := 0
	for _, m := range mutants {
		most = max(most, m.id)
	}
	for s, ms := range files {
		packages[filepath.Dir(s.path)] = s.file.Name.Name
		if err := write(s.path, s.with(ms)); err != nil {
			return "", err
		}
	}
	for dir, name := range packages {
		if err := write(filepath.Join(dir, "weft_mutant.go"), fmt.Sprintf(chooser, name, most+1)); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	to := filepath.Join(work, "overlay.json")
	return to, os.WriteFile(to, list, 0o644)
}

// with returns the file's text with mutants in it.
func (s *source) with(mutants []*mutant) string {
	var edits []edit
	var copies strings.Builder
	of := map[*ast.FuncDecl][]*mutant{}
	var decls []*ast.FuncDecl
	for _, m := range mutants {
		if of[m.decl] == nil {
			decls = append(decls, m.decl)
		}
		of[m.decl] = append(of[m.decl], m)
	}
	for _, d := range decls {
		call, names := s.call(d)
		edits = append(edits, names...)
		var b strings.Builder
		b.WriteString(" switch weftMutant {")
		for _, m := range of[d] {
			at := s.block(m)
			edits = append(edits, edit{at, at, fmt.Sprintf(" weftReached(%d); ", m.id)})
			fmt.Fprintf(&b, " case %d: ", m.id)
			if d.Type.Results != nil {
				b.WriteString("return ")
			}
			fmt.Fprintf(&b, call, m.id)
			if d.Type.Results == nil {
				b.WriteString("; return")
			}
			b.WriteString(";")
			start, end := s.offset(d.Pos()), s.offset(d.End())
			if d.Doc != nil {
				start = s.offset(d.Type.Func)
			}
			name := s.offset(d.Name.End())
			fmt.Fprintf(&copies, "\n//line mutant%d:1\n%s_mutant%d%s%s%s\n", m.id,
				s.text[start:name], m.id, s.text[name:m.edit.from], m.edit.text, s.text[m.edit.to:end])
		}
		b.WriteString(" }; ")
		at := s.offset(d.Body.Lbrace) + 1
		edits = append(edits, edit{at, at, b.String()})
	}
	return apply(s.text, edits) + copies.String()
}

// block returns where the statements begin of the innermost block that m is in.
func (s *source) block(m *mutant) int {
	at := s.offset(m.decl.Body.Lbrace) + 1
	inside := func(from, to token.Pos) bool { return s.offset(from) <= m.edit.from && m.edit.to <= s.offset(to) }
	ast.Inspect(m.decl.Body, func(n ast.Node) bool {
		if n == nil || !inside(n.Pos(), n.End()) {
			return false
		}
		switch n := n.(type) {
		case *ast.BlockStmt:
			switch {
			case len(n.List) == 0:
				at = s.offset(n.Lbrace) + 1
			default:
				switch n.List[0].(type) {
				case *ast.CaseClause, *ast.CommClause: // the body of a switch
				default:
					at = s.offset(n.Lbrace) + 1
				}
			}
		case *ast.CaseClause:
			if inside(n.Colon, n.End()) {
				at = s.offset(n.Colon) + 1
			}
		case *ast.CommClause:
			if inside(n.Colon, n.End()) {
				at = s.offset(n.Colon) + 1
			}
		}
		return true
	})
	return at
}

// call returns the call of a copy of d, with %d for the mutant's number, and the
// names that parameters without one need for it.
func (s *source) call(d *ast.FuncDecl) (string, []edit) {
	var edits []edit
	fresh := 0
	// named returns the names of a field's parameters.
	named := func(f *ast.Field) (out []string) {
		if len(f.Names) == 0 {
			fresh++
			name := fmt.Sprintf("weftParam%d", fresh)
			at := s.offset(f.Type.Pos())
			edits = append(edits, edit{at, at, name + " "})
			return []string{name}
		}
		for _, n := range f.Names {
			name := n.Name
			if name == "_" {
				fresh++
				name = fmt.Sprintf("weftParam%d", fresh)
				edits = append(edits, edit{s.offset(n.Pos()), s.offset(n.End()), name})
			}
			out = append(out, name)
		}
		return out
	}
	var b strings.Builder
	if d.Recv != nil {
		b.WriteString(named(d.Recv.List[0])[0] + ".")
	}
	b.WriteString(d.Name.Name + "_mutant%d")
	if t := d.Type.TypeParams; t != nil {
		var names []string
		for _, f := range t.List {
			for _, n := range f.Names {
				names = append(names, n.Name)
			}
		}
		b.WriteString("[" + strings.Join(names, ", ") + "]")
	}
	b.WriteString("(")
	var args []string
	for _, f := range d.Type.Params.List {
		names := named(f)
		if _, ok := f.Type.(*ast.Ellipsis); ok {
			names[len(names)-1] += "..."
		}
		args = append(args, names...)
	}
	b.WriteString(strings.Join(args, ", ") + ")")
	return b.String(), edits
}

// apply makes edits that do not overlap.
func apply(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(text[at:])
	return b.String()
}
