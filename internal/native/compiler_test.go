package native

import (
	"errors"
	"strings"
	"testing"
)

// TestNoCompiler: the error says what is missing, and how to get it.
func TestNoCompiler(t *testing.T) {
	t.Setenv("CC", "no-such-compiler")
	_, err := find(t.Context(), "C", "CC", "cc")
	if !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), "no-such-compiler") || !strings.Contains(err.Error(), "set CC") {
		t.Error(err)
	}
}

// TestCompileError: a text that does not compile says what the compiler says.
func TestCompileError(t *testing.T) {
	if _, err := C(); err != nil {
		t.Skip(err)
	}
	var wrong *CompileError
	if _, err := Compile(t.Context(), "wrong", "int f(void) { return nothing; }"); !errors.As(err, &wrong) || !strings.Contains(wrong.Error(), "nothing") {
		t.Error(err)
	}
}
