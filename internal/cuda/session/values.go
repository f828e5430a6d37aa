package session

import (
	"sync"

	"github.com/weftgraph/weft/internal/kir"
)

// values are what callers of a session work out from relations on the host, for later plans.
type values struct {
	mu    sync.Mutex
	all   map[valueKey]*value
	bytes int64  // of all
	turn  uint64 // of the last use
}

type valueKey struct {
	of   kir.Identity
	what any
}

type value struct {
	is    any
	owner any
	bytes int64
	last  uint64 // turn
}

// mostValues is how many bytes the values of a session may have. Those that were not used for the longest time go.
const mostValues = 256 << 20

// Value returns what is kept under the identity of a relation and a name, which is comparable. If there is nothing, it calls compute, and
// keeps the result, except an error. compute also returns about how many bytes of memory its result takes. A value goes when ForgetOwner
// is told that its owner is gone, when there is one of a later version of the relation, when values have more than mostValues bytes, and
// with the session. Nothing is kept of a relation without an identity.
// Safe for concurrent use. Two callers may compute the same value at once.
func (s *Session) Value(owner any, of kir.Identity, what any, compute func() (v any, bytes int64, err error)) (any, error) {
	key, x := valueKey{of, what}, &s.values
	x.mu.Lock()
	if v := x.all[key]; v != nil {
		x.turn++
		v.last = x.turn
		x.mu.Unlock()
		return v.is, nil
	}
	x.mu.Unlock()
	is, bytes, err := compute()
	if err != nil || of == (kir.Identity{}) || bytes > mostValues {
		return is, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if v := x.all[key]; v != nil {
		return v.is, nil
	}
	x.drop(func(k valueKey, _ *value) bool { return k.of.ID == of.ID && k.of.Version < of.Version })
	for x.bytes+bytes > mostValues {
		var oldest *value
		for _, v := range x.all {
			if oldest == nil || v.last < oldest.last {
				oldest = v
			}
		}
		x.drop(func(_ valueKey, v *value) bool { return v == oldest })
	}
	if x.all == nil {
		x.all = map[valueKey]*value{}
	}
	x.turn++
	x.all[key] = &value{is, owner, bytes, x.turn}
	x.bytes += bytes
	return is, nil
}

// drop forgets the values for which which returns true. The caller holds mu.
func (x *values) drop(which func(k valueKey, v *value) bool) {
	for k, v := range x.all {
		if which(k, v) {
			delete(x.all, k)
			x.bytes -= v.bytes
		}
	}
}

// forget is drop by the owner.
func (x *values) forget(which func(owner any) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop(func(_ valueKey, v *value) bool { return which(v.owner) })
}
