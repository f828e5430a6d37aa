// Package memory says how much memory this process may have. A run that cannot fit is then refused with a
// message, instead of being killed by the system without one.
//
// It knows the system and control groups. It must not know what the memory is for.
package memory

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// Limit is a bound on the memory of this process.
type Limit struct {
	Bytes uint64
	// Text goes after "the 2.0 GiB that": it names the limit. Where, if not "", is the file that has it.
	Text, Where string
	used        func() uint64 // bytes that count towards the limit; nil: InUse
	free        func() uint64 // bytes still free, if other processes share the limit; or nil
}

// InUse returns the bytes of memory that this process uses, with those of Locked. Files mapped into memory
// do not count.
func InUse() uint64 { return anonymous() + uint64(max(locked.Load(), 0)) }

var locked atomic.Int64

// Locked counts bytes that a driver has page-locked for this process or, below 0, given back. They must be
// pages of the driver's own, as those of cuMemHostAlloc are, and not pages that the process had before.
//
// Why: InUse would miss them. Linux counts a page that a driver puts into a process (vm_insert_page) as part of a
// mapped file, in RssFile, or does not count it at all (remap_pfn_range). NVIDIA's kernel module uses these two
// (nvidia_mmap_sysmem), so that RssAnon has none of them and no page counts twice. VmLck is of mlock alone, and
// VmPin of pages that the process had before.
func Locked(bytes int64) { locked.Add(bytes) }

// LockedBytes returns the sum of what Locked counted.
func LockedBytes() int64 { return locked.Load() }

// left returns the number of bytes that may still be used.
func (l Limit) left() uint64 {
	used := InUse
	if l.used != nil {
		used = l.used
	}
	left := l.Bytes - min(l.Bytes, used())
	if l.free != nil {
		left = min(left, l.free())
	}
	return left
}

// Budget is the limit that a user gave; 0 bytes are none.
func Budget(bytes int64) Limit { return Limit{Bytes: uint64(max(bytes, 0)), Text: "--memory allows"} }

// Limits returns the limits of the system, the lowest first: those of the process's control groups, of its
// address space, and of the machine. It returns none if the system does not say. They are read once.
func Limits() []Limit { return limits() }

var limits = sync.OnceValue(func() []Limit {
	all := systemLimits()
	slices.SortFunc(all, func(a, b Limit) int { return cmp.Compare(a.Bytes, b.Bytes) })
	return all
})

// Error says that something needs more memory than there may be.
type Error struct {
	What  string // in the plural
	Need  uint64
	Left  uint64
	Own   uint64 // bytes that the same search has already, of an Account
	Limit Limit
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s need at least %s of memory; of the %s that %s%s, %s are left",
		e.What, Text(e.Need), Text(e.Limit.Bytes), e.Limit.Text, e.Limit.where(), Text(e.Left))
}

// String is as "the control group allows 2.0 GiB (/sys/fs/cgroup/memory.max)".
func (l Limit) String() string { return l.Text + " " + Text(l.Bytes) + l.where() }

func (l Limit) where() string {
	if l.Where == "" {
		return ""
	}
	return " (" + l.Where + ")"
}

// Over returns an error if the process uses more memory than the budget (0 means none), or nearly all that the
// system allows. Why nearly: at the limit itself the system kills the process without a message.
func Over(budget int64) error {
	used := InUse()
	if budget > 0 && used > uint64(budget) {
		return fmt.Errorf("%s are in use and --memory allows %s", Text(used), Text(uint64(budget)))
	}
	for _, l := range Limits() {
		// A process may run for ever near a limit of its address space: much of that is not memory.
		if l.used == nil && used > l.Bytes-reserve(l.Bytes) {
			return fmt.Errorf("%s of memory are in use and %v", Text(used), l)
		}
	}
	return nil
}

// reserve is the part of a limit that Over leaves free, for the memory that a process may take between two
// checks. It is 256 MiB, or an eighth of a small limit, or more of a large one, where more threads take memory.
func reserve(limit uint64) uint64 { return max(limit/32, min(limit/8, 256<<20)) }

// Check returns an *Error if need bytes are more than may still be used, of the budget (0 means none) and of the
// system's limits. what names the purpose.
func Check(what string, need uint64, budget int64) error {
	if need < 64<<20 && budget <= 0 {
		return nil // not worth a look
	}
	var err *Error
	look := func(l Limit) {
		if left := l.left(); need > left && (err == nil || left < err.Left) {
			err = &Error{What: what, Need: need, Left: left, Limit: l}
		}
	}
	if budget > 0 {
		look(Budget(budget))
	}
	for _, l := range Limits() {
		look(l)
	}
	if err == nil {
		return nil
	}
	return err
}

// Left returns how many more bytes the process may use, of the budget (0 means none) and of the system's limits.
func Left(budget int64) uint64 {
	left := uint64(math.MaxInt64)
	if budget > 0 {
		left = Budget(budget).left()
	}
	for _, l := range Limits() {
		left = min(left, l.left())
	}
	return left
}

// Text writes a size for people.
func Text(n uint64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	x, u := float64(n)/1024, 0
	for x >= 1024 && u < len(units)-1 {
		x, u = x/1024, u+1
	}
	return fmt.Sprintf("%.1f %ciB", x, units[u])
}
