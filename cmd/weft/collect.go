package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// firstCollection is the size of the heap at which garbage is first collected. Go's default is
// 4 MiB, which many counts in small graphs reach while they search. For a millisecond or two
// the collector then has every idle processor, and a search of a millisecond takes twice as
// long.
const firstCollection = 16 << 20

// collectLater delays the first collection, and no other. A user who sets GOGC or GOMEMLIMIT
// has decided otherwise.
func collectLater() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	const smallest = 4 << 20 // where Go begins to collect when the percentage is 100
	usual := debug.SetGCPercent(100 * firstCollection / smallest)
	runtime.AddCleanup(new(*int), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
