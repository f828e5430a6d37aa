package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// edit replaces the bytes from..to of a file.
type edit struct {
	from, to int
	text     string
}

// mutant is one mistake.
type mutant struct {
	file     string // below the module's folder
	function string // as f, T.f
	op       string // the kind of mistake
	line     int
	col      int
	edit     edit
	before   string // the line of the mistake, before and after
	after    string
	decl     *ast.FuncDecl
	source   *source
	rank     uint64 // the sample has the lowest
	id       int    // in the overlay, from 1
	same     *equivalent
}

func (m *mutant) key() string { return key(m.file, m.function, m.before, m.after) }

// source is a file with its syntax tree.
type source struct {
	path string // below the module's folder
	text string
	file *ast.File
	fset *token.FileSet
}

func (s *source) offset(p token.Pos) int { return s.fset.Position(p).Offset }

func parse(path, text string) (*source, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{path, text, f, fset}, nil
}

// mutants lists every mistake that can be made in a file, whether it compiles or
// not, in the order of the file.
func (s *source) mutants() []*mutant {
	var out []*mutant
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Name.Name == "init" || f.Name.Name == "_" || directive(f.Doc) {
			continue
		}
		w := &walker{s: s, f: f}
		ast.Walk(w, f.Body)
		out = append(out, w.out...)
	}
	return out
}

// directive says whether a comment tells the compiler something.
func directive(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if strings.HasPrefix(c.Text, "//go:") {
			return true
		}
	}
	return false
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	for {
		switch u := t.(type) {
		case *ast.StarExpr:
			t = u.X
		case *ast.ParenExpr:
			t = u.X
		case *ast.IndexExpr:
			t = u.X
		case *ast.IndexListExpr:
			t = u.X
		case *ast.Ident:
			return u.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

type walker struct {
	s   *source
	f   *ast.FuncDecl
	out []*mutant
}

func (w *walker) text(n ast.Node) string {
	return w.s.text[w.s.offset(n.Pos()):w.s.offset(n.End())]
}

// add notes a mutant that has text in the place of from..to.
func (w *walker) add(op string, from, to token.Pos, text string) {
	e := edit{w.s.offset(from), w.s.offset(to), text}
	if w.s.text[e.from:e.to] == text {
		return
	}
	at := w.s.fset.Position(from)
	before, after := around(w.s.text, e)
	w.out = append(w.out, &mutant{file: w.s.path, function: functionName(w.f), op: op, line: at.Line, col: at.Column,
		edit: e, before: before, after: after, decl: w.f, source: w.s})
}

func (w *walker) replace(op string, n ast.Node, text string) { w.add(op, n.Pos(), n.End(), text) }

// around returns the lines that an edit is in, without outer space and with one
// space for what is between words, before and after it.
func around(text string, e edit) (before, after string) {
	start := strings.LastIndexByte(text[:e.from], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[e.to:], '\n'); i >= 0 {
		end = e.to + i
	}
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	after = flat(text[start:e.from] + e.text + text[e.to:end])
	if after == "" {
		after = "{}"
	}
	return flat(text[start:end]), after
}

// other has the operators that take the place of one, by kind of mistake.
var other = map[token.Token][]struct {
	op string
	by string
}{
	token.LSS:     {{"boundary", "<="}, {"comparison", ">="}},
	token.LEQ:     {{"boundary", "<"}, {"comparison", ">"}},
	token.GTR:     {{"boundary", ">="}, {"comparison", "<="}},
	token.GEQ:     {{"boundary", ">"}, {"comparison", "<"}},
	token.EQL:     {{"comparison", "!="}},
	token.NEQ:     {{"comparison", "=="}},
	token.ADD:     {{"arithmetic", "-"}},
	token.SUB:     {{"arithmetic", "+"}},
	token.MUL:     {{"arithmetic", "/"}},
	token.QUO:     {{"arithmetic", "*"}},
	token.REM:     {{"arithmetic", "*"}},
	token.SHL:     {{"arithmetic", ">>"}},
	token.SHR:     {{"arithmetic", "<<"}},
	token.AND:     {{"arithmetic", "|"}},
	token.OR:      {{"arithmetic", "&"}},
	token.XOR:     {{"arithmetic", "&"}},
	token.AND_NOT: {{"arithmetic", "&"}},
	token.LAND:    {{"logic", "||"}},
	token.LOR:     {{"logic", "&&"}},

	token.ADD_ASSIGN:     {{"arithmetic", "-="}},
	token.SUB_ASSIGN:     {{"arithmetic", "+="}},
	token.MUL_ASSIGN:     {{"arithmetic", "/="}},
	token.QUO_ASSIGN:     {{"arithmetic", "*="}},
	token.REM_ASSIGN:     {{"arithmetic", "*="}},
	token.AND_ASSIGN:     {{"arithmetic", "|="}},
	token.OR_ASSIGN:      {{"arithmetic", "&="}},
	token.XOR_ASSIGN:     {{"arithmetic", "&="}},
	token.SHL_ASSIGN:     {{"arithmetic", ">>="}},
	token.SHR_ASSIGN:     {{"arithmetic", "<<="}},
	token.AND_NOT_ASSIGN: {{"arithmetic", "&="}},
}

func (w *walker) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, o := range other[n.Op] {
			w.add(o.op, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), o.by)
		}
		if n.Op == token.LAND || n.Op == token.LOR {
			w.replace("dropped condition", n, w.text(n.X))
			w.replace("dropped condition", n, w.text(n.Y))
		}
	case *ast.UnaryExpr:
		switch n.Op {
		case token.NOT:
			w.replace("negation", n, w.text(n.X))
		case token.SUB:
			w.replace("arithmetic", n, w.text(n.X))
		}
	case *ast.BasicLit:
		if v, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
			w.replace("constant", n, strconv.FormatInt(v+1, 10))
			if v > 0 {
				w.replace("constant", n, strconv.FormatInt(v-1, 10))
			}
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			w.replace("constant", n, "false")
		case "false":
			w.replace("constant", n, "true")
		}
	case *ast.IncDecStmt:
		by := "++"
		if n.Tok == token.INC {
			by = "--"
		}
		w.add("arithmetic", n.TokPos, n.TokPos+2, by)
	case *ast.AssignStmt:
		for _, o := range other[n.Tok] {
			w.add(o.op, n.TokPos, n.TokPos+token.Pos(len(n.Tok.String())), o.by)
		}
	case *ast.BranchStmt:
		switch n.Tok {
		case token.CONTINUE:
			w.add("jump", n.TokPos, n.TokPos+token.Pos(len("continue")), "break")
		case token.BREAK:
			w.add("jump", n.TokPos, n.TokPos+token.Pos(len("break")), "continue")
		}
	case *ast.IfStmt:
		if !fails(n.Body) {
			w.replace("branch never", n.Cond, "("+w.text(n.Cond)+") && false")
		}
		w.replace("branch always", n.Cond, "("+w.text(n.Cond)+") || true")
	case *ast.CaseClause:
		if len(n.Body) > 0 && !fails(&ast.BlockStmt{List: n.Body}) {
			w.add("removed case", n.Body[0].Pos(), n.Body[len(n.Body)-1].End(), "")
		}
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			switch r := r.(type) {
			case *ast.Ident:
				if r.Name == "err" {
					w.replace("returned value", r, "nil")
				}
			case *ast.CallExpr:
				w.replace("returned value", r, "nil")
				w.replace("returned value", r, "0")
			}
		}
		if last := len(n.Results) - 1; last > 0 && no(n.Results[last]) {
			// Nobody reads constants next to an error or false.
			for i, r := range n.Results {
				if _, ok := r.(*ast.BasicLit); i == last || !ok && name(r) != "true" && name(r) != "false" {
					ast.Walk(w, r)
				}
			}
			return nil
		}
	case *ast.BlockStmt:
		for _, s := range n.List {
			w.statement(s)
		}
	case *ast.CompositeLit:
		for i, e := range n.Elts {
			if _, ok := e.(*ast.KeyValueExpr); !ok {
				continue
			}
			to := n.Rbrace
			if i+1 < len(n.Elts) {
				to = n.Elts[i+1].Pos()
			}
			w.add("dropped field", e.Pos(), to, "")
		}
	case *ast.CallExpr:
		return w.call(n)
	}
	return w
}

// statement removes a statement of a block.
func (w *walker) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if c, ok := s.X.(*ast.CallExpr); ok && name(c.Fun) == "panic" {
			return
		}
		w.replace("removed statement", s, "")
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			w.replace("removed statement", s, "")
		}
	case *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt, *ast.BranchStmt:
		w.replace("removed statement", s, "")
	case *ast.ReturnStmt:
		if len(s.Results) == 0 {
			w.replace("removed statement", s, "")
		}
	}
}

// call changes the arguments of a call, and says whether they are looked into.
func (w *walker) call(n *ast.CallExpr) ast.Visitor {
	switch name(n.Fun) {
	case "panic":
		return nil // a message about what cannot be
	case "make":
		// Room made beforehand is not seen from outside.
		if len(n.Args) == 3 {
			ast.Walk(w, n.Args[1])
			return nil
		}
		if len(n.Args) == 2 {
			switch n.Args[0].(type) {
			case *ast.MapType, *ast.ChanType:
				return nil
			}
		}
		return w
	case "append":
		if n.Ellipsis.IsValid() {
			w.replace("dropped argument", n, w.text(n.Args[0]))
			return w
		}
		for i := 1; i < len(n.Args); i++ {
			w.add("dropped argument", n.Args[i-1].End(), n.Args[i].End(), "")
		}
		return w
	case "min":
		w.replace("minimum", n.Fun, "max")
		return w
	case "max":
		w.replace("minimum", n.Fun, "min")
		return w
	case "delete", "copy", "len", "cap", "new":
		return w
	}
	for i := 1; i < len(n.Args); i++ {
		a, b := w.text(n.Args[i-1]), w.text(n.Args[i])
		between := w.s.text[w.s.offset(n.Args[i-1].End()):w.s.offset(n.Args[i].Pos())]
		if a != b && !n.Ellipsis.IsValid() {
			w.add("swapped arguments", n.Args[i-1].Pos(), n.Args[i].End(), b+between+a)
		}
	}
	return w
}

// no says whether a last result is false or an error.
func no(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "false" || e.Name == "err" || strings.HasPrefix(e.Name, "Err") || strings.HasPrefix(e.Name, "err")
	case *ast.CallExpr:
		f := name(e.Fun)
		if s, ok := e.Fun.(*ast.SelectorExpr); ok {
			f = s.Sel.Name
		}
		f = strings.ToLower(f)
		return strings.Contains(f, "err") || strings.Contains(f, "fail") || f == "bad" || f == "fault"
	}
	return false
}

func name(e ast.Expr) string {
	if i, ok := e.(*ast.Ident); ok {
		return i.Name
	}
	return ""
}

// fails says whether a block is a panic: the check of a case that cannot occur.
func fails(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	s, ok := b.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := s.X.(*ast.CallExpr)
	return ok && name(c.Fun) == "panic"
}
