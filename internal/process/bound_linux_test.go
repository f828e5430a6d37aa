package process

import (
	"strings"
	"testing"
)

// TestBounded: the command and what it starts have the limit, and the command gets its arguments as they are.
func TestBounded(t *testing.T) {
	for memory, want := range map[int64]string{64 << 20: "65536 a  b$0\n65536\n", 0: "unlimited a  b$0\nunlimited\n"} {
		out, err := Bounded(t.Context(), memory, "sh", "-c", `echo "$(ulimit -v) $1"; sh -c 'ulimit -v'`, "sh", "a  b$0").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if memory == 0 && !strings.HasPrefix(string(out), "unlimited") {
			t.Skip("this process has a limit of its own")
		}
		if string(out) != want {
			t.Errorf("%d: %q, and not %q", memory, out, want)
		}
	}
}
