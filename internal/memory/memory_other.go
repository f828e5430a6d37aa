//go:build !linux

package memory

import "runtime"

// systemLimits: this system is not asked.
func systemLimits() []Limit { return nil }

// InUse is what the runtime holds.
func InUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}

// Peak is what the runtime took from the system.
func Peak() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
