//go:build !linux

package memory

import "runtime"

// systemLimits: this system is not asked.
func systemLimits() []Limit { return nil }

// anonymous returns the bytes that the Go runtime holds.
func anonymous() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}

// ResetPeak returns false: this system does not begin to count again.
func ResetPeak() bool { return false }

// Peak returns the bytes that the Go runtime took from the system.
func Peak() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
