package kirgen

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/interp"
)

// Run interprets the program for each of the first vertices and writes what it emits: a
// line a vertex. A program that fails writes its code; what it emits is then left out.
func (p *Program) Run() (out string, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("the interpreter: %v", e)
		}
	}()
	var row []string
	m, err := interp.New(p.Program, func(words []uint64) bool {
		for _, w := range words {
			row = append(row, fmt.Sprint(w))
		}
		return true
	})
	if err != nil {
		return "", err
	}
	for v := range uint32(Roots) {
		row = nil
		_, _, err := m.Try(p.Main, interp.NewRecord(p.State), interp.Array(make([]uint32, p.Slots)), interp.Array(make([]uint32, p.Mem)), interp.U32(v))
		if err != nil {
			row = []string{err.Error()}
		}
		out += strings.Join(row, " ") + "\n"
	}
	return out, nil
}

// Roots is how many vertices a program runs for.
const Roots = 3

// Fails reports whether the program has a statement that fails.
func (p *Program) Fails() (found bool) {
	for _, f := range p.Funcs {
		kir.WalkStmts(f.Body, func(s kir.Stmt) {
			_, ok := s.(*kir.Fail)
			found = found || ok
		})
	}
	return found
}
