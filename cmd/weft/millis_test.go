package main

import (
	"testing"
	"time"
)

// TestMillis: response times are shown without exponents.
func TestMillis(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 1500: "0.0015", 28 * time.Microsecond: "0.028", 1234 * time.Microsecond: "1.2", 9999 * time.Microsecond: "10",
		182_400 * time.Microsecond: "182", 3 * time.Second: "3000",
	} {
		if got := millis(d); got != want {
			t.Errorf("%v is shown as %s, want %s", d, got, want)
		}
	}
}
