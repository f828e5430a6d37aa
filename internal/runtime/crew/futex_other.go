//go:build !linux

package crew

import (
	"sync/atomic"
	"time"
)

// canStandBy says that this system lets a thread wait for a word of memory.
const canStandBy = false

func wait(*atomic.Uint32, time.Duration) {}
func wake(*atomic.Uint32)                {}
