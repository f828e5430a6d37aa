package serve

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/memory"
)

// TestMessage: clients see no path of the server, and no name of its code.
func TestMessage(t *testing.T) {
	secret := errors.New("compile /var/cache/kernel_12.cu: fold_12 needs sm_90")
	room := &memory.Error{What: "the tables", Need: 2 << 30, Left: 1 << 20, Limit: memory.Limit{Bytes: 1 << 30, Text: "the control group allows", Where: "/sys/fs/cgroup/memory.max"}}
	for _, test := range []struct {
		err   error
		text  string
		whole bool
	}{
		{fmt.Errorf("%w: %w", weft.ErrDevice, secret), "the device, or a compiler for it, is absent or has failed", false},
		{fmt.Errorf("%w: %w", weft.ErrMemory, secret), "the query needs more memory than there is", false},
		{fmt.Errorf("%w: %w", weft.ErrMemory, room), "the tables need at least 2.0 GiB of memory; of the 1.0 GiB that the control group allows, 1.0 MiB are left", true},
		{fmt.Errorf("%w: %w", weft.ErrInput, secret), "the file of the graph cannot be read", false},
		{&os.PathError{Op: "open", Path: "/var/cache", Err: secret}, "internal error", false},
		{secret, "internal error", false},
		{fmt.Errorf("%w: --limit", weft.ErrUsage), "--limit", true},
	} {
		text, whole := Message(test.err)
		if !strings.Contains(text, test.text) || whole != test.whole || strings.ContainsAny(text, "/_") {
			t.Errorf("%v: %q, %v", test.err, text, whole)
		}
	}
}

// TestLogOfCuts: the log has the whole text of a failure as an error, and a result that a limit cut short is not an error.
func TestLogOfCuts(t *testing.T) {
	for _, test := range []struct {
		cut  Cut
		want string
	}{{NotCut, "level=ERROR"}, {CutError, "level=ERROR"}, {CutSize, "level=INFO"}, {CutTime, "level=INFO"}, {CutCancel, "level=INFO"}, {CutClient, ""}} {
		var log bytes.Buffer
		s := server(t, Limits{})
		s.Log = slog.New(slog.NewTextHandler(&log, nil))
		r := begin(t, s, Anyone(), Request{Kind: Count, Graph: "karate", Pattern: "triangle"})
		r.finish(Summary{Cut: test.cut, Err: fmt.Errorf("%w: kernel /x", weft.ErrDevice)})
		if text := log.String(); test.want == "" && text != "" || !strings.Contains(text, test.want) || test.want != "" && !strings.Contains(text, "kernel /x") {
			t.Errorf("%q: %s", test.cut, text)
		}
	}
}
