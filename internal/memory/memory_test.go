package memory

import (
	"errors"
	"strings"
	"testing"
)

// TestCheck: what does not fit is refused with what it needs and what there is.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		need   uint64
		budget int64
		want   string
	}{
		{1 << 20, 0, ""},
		{1, 1 << 40, ""},
		{1 << 40, 1 << 30, "things need at least 1.0 TiB of memory; of the 1.0 GiB that --memory allows, "},
		{2 << 10, 1, "things need at least 2.0 KiB of memory; of the 1 bytes that --memory allows, 0 bytes are left"},
	} {
		err := Check("things", c.need, c.budget)
		var e *Error
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%d of %d: %v; want %q", c.need, c.budget, err, c.want)
		}
	}
	// No machine has this much.
	if err := Check("things", 1<<62, 0); err == nil && len(Limits()) > 0 {
		t.Errorf("nothing is said of 4 EiB, and there are limits: %+v", Limits())
	}
	if err := Over(1); err == nil || !strings.Contains(err.Error(), "--memory allows 1 bytes") {
		t.Errorf("over a byte: %v", err)
	}
	if err := Over(1 << 60); err != nil {
		t.Error(err)
	}
}

// TestLocked: what a driver has page-locked counts towards a budget.
func TestLocked(t *testing.T) {
	Locked(1 << 40)
	if err := Check("things", 1<<20, 1<<40); err == nil {
		t.Error("there is room besides a budget of locked memory")
	}
	if err := Over(1 << 40); err == nil {
		t.Error("the budget is locked, and all is well")
	}
	Locked(-1 << 40)
	if err := Check("things", 1<<20, 1<<40); err != nil {
		t.Error(err)
	}
}

func TestReserve(t *testing.T) {
	for limit, want := range map[uint64]uint64{800 << 20: 100 << 20, 4 << 30: 256 << 20, 64 << 30: 2 << 30} {
		if got := reserve(limit); got != want {
			t.Errorf("of %s %s are left free, not %s", Text(limit), Text(got), Text(want))
		}
	}
}

func TestText(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 1536 << 20: "1.5 GiB", 1 << 62: "4.0 EiB"} {
		if got := Text(n); got != want {
			t.Errorf("%d is %q, not %q", n, got, want)
		}
	}
}
