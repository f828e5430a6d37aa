package native

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
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

// TestVariable: CC is a command with arguments, quoted as in a shell.
func TestVariable(t *testing.T) {
	if _, err := find(t.Context(), "C", "NONE", "gcc"); err != nil {
		t.Skip(err)
	}
	for text, want := range map[string][]string{
		"gcc -m64": {"-m64"}, "  gcc\t-g  '-D X=1' \"-DY=\\\"a b\\\"\" -DZ=a\\ b ''": {"-g", "-D X=1", `-DY="a b"`, "-DZ=a b", ""}, "": nil, " \n": nil,
	} {
		t.Setenv("CC", text)
		c, err := find(t.Context(), "C", "CC", "gcc")
		if err != nil || !slices.Equal(c.args, want) {
			t.Errorf("%q: %q, %v; want %q", text, c.args, err, want)
			continue
		}
		// The cache tells apart what is compiled with other arguments.
		if !strings.HasSuffix(c.Version, strings.Join(want, " ")) {
			t.Errorf("%q: version %q", text, c.Version)
		}
	}
	for text, want := range map[string]string{
		"gcc 'x": "no closing '", `gcc \`: "a backslash at the end", "false": "--version", "/etc/passwd -O": "permission denied",
	} {
		t.Setenv("CC", text)
		if _, err := find(t.Context(), "C", "CC", "gcc"); !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	// The arguments reach the compiler.
	t.Setenv("CC", "gcc -DANSWER=42")
	c, err := find(t.Context(), "C", "CC")
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{"a.c": "#if ANSWER != 42\n#error no answer\n#endif\n"}
	if _, err := c.Build(t.Context(), "a", text, "a.o", "-c", "a.c"); err != nil {
		t.Error(err)
	}
}

// TestTemporaryFolder: without a folder for temporary files, or one that no code is loaded from, there is
// no compiler that can be used, and the error says why.
func TestTemporaryFolder(t *testing.T) {
	c, err := C()
	if err != nil {
		t.Skip(err)
	}
	text := map[string]string{"a.c": "int f(void) { return 1; }"}
	build := func() ([]byte, error) {
		return c.Build(t.Context(), "a", text, "a.so", "-shared", "-fPIC", "a.c")
	}
	image, err := build()
	if err != nil {
		t.Fatal(err)
	}
	refused := func(err error, dir, want string) {
		t.Helper()
		if !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir+", which TMPDIR can change") {
			t.Errorf("%s: %v; want %q", dir, err, want)
		}
	}
	none := t.TempDir() + "/none"
	t.Setenv("TMPDIR", none)
	_, err = build()
	refused(err, none, "no such file")
	_, err = Open(image)
	refused(err, none, "no such file")
	dir := t.TempDir()
	if !mountNoExec(t, dir) {
		return
	}
	t.Setenv("TMPDIR", dir)
	_, err = Open(image)
	refused(err, dir, "noexec")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestCompileError: a text that does not compile says what the compiler says.
func TestCompileError(t *testing.T) {
	if _, err := C(); err != nil {
		t.Skip(err)
	}
	var wrong *CompileError
	if _, err := (*Cache)(nil).Compile(t.Context(), "wrong", "int f(void) { return nothing; }", 0); !errors.As(err, &wrong) || !strings.Contains(wrong.Error(), "nothing") {
		t.Error(err)
	}
}

// TestMemory: a compiler that needs more memory than it may have is ended, and the error says so. Macros make the text of hundreds of megabytes.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux bounds the memory of compilers")
	}
	cc, err := C()
	if err != nil {
		t.Skip(err)
	}
	var large strings.Builder
	large.WriteString("#define A0 1,1,1,1,1,1,1,1,1,1\n")
	for i := range 8 {
		fmt.Fprintf(&large, "#define A%d %s\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("A%d,", i), 10), ","))
	}
	large.WriteString("int large[] = {A8};\n")
	const small = "int small(void) { return 1; }\n"
	for _, test := range []struct {
		name, text string
		memory     int64
		enough     bool
	}{
		{"small", small, 1 << 30, true}, {"small", small, 0, true}, {"tiny", small, 1 << 20, false}, {"little", small, 40 << 20, false}, {"large", large.String(), 256 << 20, false},
	} {
		_, err := cc.Within(test.memory).Build(t.Context(), test.name, map[string]string{"x.c": test.text}, "x.o", "-c", "x.c")
		var short *MemoryError
		if test.enough {
			if err != nil {
				t.Errorf("%s within %d: %v", test.name, test.memory, err)
			}
		} else if !errors.As(err, &short) || short.Bytes != test.memory || strings.Contains(err.Error(), "/") {
			t.Errorf("%s within %d: %v", test.name, test.memory, err)
		}
	}
	var wrong *CompileError
	if _, err := cc.Within(1<<30).Build(t.Context(), "wrong", map[string]string{"x.c": "nothing"}, "x.o", "-c", "x.c"); !errors.As(err, &wrong) {
		t.Error(err)
	}
}
