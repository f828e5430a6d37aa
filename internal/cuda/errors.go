package cuda

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/runtime/code"
)

// Kinds of errors; test with errors.Is.
var (
	ErrNoDriver   = errors.New("no GPU driver")                    // libcuda is not there, or does not answer
	ErrNoCompiler = errors.New("no GPU compiler")                  // NVRTC is not there, or cannot be used
	ErrNoDevice   = errors.New("no GPU")                           // the driver shows no such device
	ErrArch       = errors.New("unsupported GPU architecture")     // too old, or an image that is not for it
	ErrMemory     = errors.New("not enough GPU memory")            // device memory or pinned host memory
	ErrCompile    = code.ErrText                                   // a kernel does not compile; the error has the compiler's log
	ErrLaunch     = errors.New("a GPU kernel failed")              // refused at the launch, or failed while it ran
	ErrLost       = errors.New("the device can no longer be used") // until the program starts anew
	ErrClosed     = errors.New("the device is closed")
)

// Error is an error of a device. Op is the operation that failed ("alloc of 4096 bytes"). Code and Name are
// the driver's or NVRTC's, and Text is its own description. Hint says in one sentence what a user can do.
type Error struct {
	Op   string
	Code int
	Name string
	Text string
	Hint string
	Log  string // the compiler's output
	Kind error  // one of the Err… above, or nil
	Lost bool   // the device cannot be used any more: errors.Is(err, ErrLost)
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	switch {
	case e.Name != "" && e.Code != 0:
		fmt.Fprintf(&b, ": %s (%d)", e.Name, e.Code)
	case e.Name != "":
		fmt.Fprintf(&b, ": %s", e.Name)
	}
	if e.Text != "" {
		fmt.Fprintf(&b, ": %s", e.Text)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "; %s", e.Hint)
	}
	if e.Log != "" {
		fmt.Fprintf(&b, "\n%s", shorten(e.Log, 40))
	}
	return b.String()
}

// Is reports whether e is of the kind target.
func (e *Error) Is(target error) bool {
	return e.Kind != nil && target == e.Kind || e.Lost && target == ErrLost
}

// shorten keeps the first lines of a compiler's log: later errors mostly follow from the first.
func shorten(log string, lines int) string {
	all := strings.Split(strings.TrimSpace(log), "\n")
	if len(all) <= lines {
		return strings.Join(all, "\n")
	}
	return fmt.Sprintf("%s\n… and %d lines more", strings.Join(all[:lines], "\n"), len(all)-lines)
}
