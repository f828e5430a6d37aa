//go:build linux && (amd64 || arm64)

package emu

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/testing/long"
)

// Each sanitizer finds what it is for, says where in the kernel's source, and lets pass what is right.
func TestSanitizers(t *testing.T) {
	long.Only(t, "the run-time system is compiled for each sanitizer")
	for _, c := range []struct {
		s      Sanitizer
		kernel string
		l      cuda.Launch
		n      int64
		want   []string // parts of the error; none: the kernel is right
	}{
		{Address, "order", cuda.Launch{Blocks: 3, Threads: 32}, 0, nil},
		{Address, "writes_at", cuda.Launch{Blocks: 1, Threads: 32}, 100, []string{"heap-buffer-overflow", "faults.cu"}},
		{Address, "shared_at", cuda.Launch{Blocks: 1, Threads: 32, Shared: 100}, 25, []string{"heap-buffer-overflow", "faults.cu"}},
		{Address, "shifts", cuda.Launch{Blocks: 1, Threads: 32}, 33, []string{"runtime error", "faults.cu"}},
		{Address, "crossed_masks", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"deadlock"}},
		{Thread, "order", cuda.Launch{Blocks: 3, Threads: 32}, 0, nil},
		{Thread, "passes_right", cuda.Launch{Blocks: 2, Threads: 64, Shared: 512}, 0, nil},
		{Thread, "forgets_barrier", cuda.Launch{Blocks: 1, Threads: 64, Shared: 512}, 0, []string{"data race", "faults.cu"}},
		{Thread, "forgets_sync_warp", cuda.Launch{Blocks: 1, Threads: 64, Shared: 512}, 0, []string{"data race", "faults.cu"}},
		{Strict, "passes_right", cuda.Launch{Blocks: 2, Threads: 64, Shared: 512}, 0, nil},
		{Strict, "votes_instead", cuda.Launch{Blocks: 1, Threads: 32, Shared: 512}, 0, []string{"data race", "faults.cu"}},
		{Thread, "adds_plainly", cuda.Launch{Blocks: 4, Threads: 32}, 0, []string{"data race", "faults.cu"}},
	} {
		t.Run(string(c.s)+"/"+c.kernel, func(t *testing.T) {
			_, err := try(t, Options{Sanitize: c.s, Patience: 3 * time.Minute}, c.kernel, c.l, c.n)
			if c.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, cuda.ErrLost) {
				t.Fatalf("no fault was found: %v", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("no %q in: %v", part, err)
				}
			}
		})
	}
}
