package bolt

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Limits of a statement without a pattern, which is answered outside the queue of queries.
const (
	mostRows  = 100_000   // that procedures, UNWIND and the arms of a UNION begin with
	mostBytes = 64 << 20  // of all values that it makes
	mostHeld  = 256 << 20 // bytes of the values of all open results of such statements
)

// checkEvery is the number of steps after which a statement looks at its context. A step is a value, or a byte of a text.
const checkEvery = 1 << 16

// scope is what a statement sees, and what it may still use.
type scope struct {
	asked
	params map[string]any
	count  int64 // of counts

	rows, bytes int64 // that it has made
	steps       int
	err         error  // the first reason to end
	buf         []byte // of key
}

// work counts steps. Its error ends the statement: the context or a limit.
func (s *scope) work(steps int) error {
	if s.steps += steps; s.steps >= checkEvery {
		s.steps = 0
		if s.err == nil {
			s.err = overdue(s.ctx)
		}
	}
	return s.err
}

// overdue is the error of a context that has ended.
func overdue(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Code: CodeTimedOutServer, Message: "the time limit of statements without a pattern passed"}
	}
	return ctx.Err()
}

// addRow counts a row of so many values.
func (s *scope) addRow(values int) error {
	if s.rows++; s.rows > mostRows && s.err == nil {
		s.err = &Error{Code: CodeArgument, Message: fmt.Sprintf("the statement makes more than %d rows", mostRows)}
	}
	return s.spend(64 * (1 + values))
}

// spend counts bytes.
func (s *scope) spend(n int) error {
	if s.bytes += int64(n); s.bytes > mostBytes && s.err == nil {
		s.err = &Error{Code: CodeArgument, Message: fmt.Sprintf("the statement makes values of more than %d bytes", mostBytes)}
	}
	return s.work(1)
}

// pay counts the bytes of a value with all that lies in it, once for each time that it lies there. It visits no more than the budget allows.
func (s *scope) pay(x any) error {
	switch x := x.(type) {
	case string:
		return s.spend(16 + len(x))
	case []any:
		for _, y := range x {
			if err := s.pay(y); err != nil {
				return err
			}
		}
		return s.spend(24)
	case map[string]any:
		for k, y := range x {
			if err := s.spend(32 + len(k)); err != nil {
				return err
			}
			if err := s.pay(y); err != nil {
				return err
			}
		}
		return s.spend(48)
	}
	return s.spend(16)
}

// key is the same text for equal values, and different ones for others. Long keys are replaced by their hashes.
func (s *scope) key(values []any) (string, error) {
	b, err := s.appendKey(s.buf[:0], values)
	s.buf = b
	if len(b) > 64 {
		sum := sha256.Sum256(b)
		b = sum[:]
	}
	if cap(s.buf) > 1<<20 {
		s.buf = nil
	}
	return string(b), err
}

func (s *scope) appendKey(b []byte, x any) ([]byte, error) {
	if err := s.work(1); err != nil {
		return b, err
	}
	text := func(kind byte, t string) {
		b = append(binary.AppendUvarint(append(b, kind), uint64(len(t))), t...)
	}
	switch x := x.(type) {
	case nil:
		return append(b, 'n'), nil
	case bool:
		if x {
			return append(b, 't'), nil
		}
		return append(b, 'f'), nil
	case int64:
		return binary.BigEndian.AppendUint64(append(b, 'i'), uint64(x)), nil
	case float64:
		if x == math.Trunc(x) && x >= -1<<63 && x < 1<<63 {
			return binary.BigEndian.AppendUint64(append(b, 'i'), uint64(int64(x))), nil
		}
		if x != x {
			x = math.NaN()
		}
		return binary.BigEndian.AppendUint64(append(b, 'd'), math.Float64bits(x)), nil
	case string:
		text('s', x)
		return b, s.work(len(x))
	case []any:
		b = binary.AppendUvarint(append(b, 'l'), uint64(len(x)))
		for _, y := range x {
			var err error
			if b, err = s.appendKey(b, y); err != nil {
				return b, err
			}
		}
		return b, nil
	case map[string]any:
		b = binary.AppendUvarint(append(b, 'm'), uint64(len(x)))
		for _, k := range slices.Sorted(maps.Keys(x)) {
			text('k', k)
			var err error
			if b, err = s.appendKey(b, x[k]); err != nil {
				return b, err
			}
		}
		return b, nil
	}
	text('o', fmt.Sprintf("%T %v", x, x))
	return b, nil
}

// rank is the place of a value's type in the order of values.
func rank(x any) int {
	switch x.(type) {
	case map[string]any:
		return 0
	case []any:
		return 1
	case string:
		return 2
	case bool:
		return 3
	case int64, float64:
		return 4
	case time.Time:
		return 5
	case time.Duration:
		return 6
	case nil:
		return 8
	}
	return 7
}

// order compares values: NULL is last, and values of different types are ordered by their types. When the statement must end, the result means
// nothing, and work has the error.
func (s *scope) order(a, b any) int {
	if s.work(1) != nil {
		return 0
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch x := a.(type) {
	case nil:
		return 0
	case string:
		y := b.(string)
		_ = s.work(min(len(x), len(y)))
		return cmp.Compare(x, y)
	case bool:
		y := b.(bool)
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
		return -compareMixed(b.(float64), x)
	case float64:
		if y, ok := b.(int64); ok {
			return compareMixed(x, y)
		}
		return cmp.Compare(x, b.(float64))
	case time.Time:
		return x.Compare(b.(time.Time))
	case time.Duration:
		return cmp.Compare(x, b.(time.Duration))
	case []any:
		y := b.([]any)
		for i := range min(len(x), len(y)) {
			if c := s.order(x[i], y[i]); c != 0 || s.err != nil {
				return c
			}
		}
		return cmp.Compare(len(x), len(y))
	case map[string]any:
		return s.orderMaps(x, b.(map[string]any))
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// compareMixed compares two numbers without rounding the integer where that could make them equal.
func compareMixed(x float64, y int64) int {
	if c := cmp.Compare(x, float64(y)); c != 0 || x >= 1<<63 {
		return cmp.Or(c, 1)
	}
	return cmp.Compare(int64(x), y)
}

// orderMaps compares the keys in their order, and then the values.
func (s *scope) orderMaps(x, y map[string]any) int {
	_ = s.work(len(x) + len(y))
	j, k := slices.Sorted(maps.Keys(x)), slices.Sorted(maps.Keys(y))
	if c := slices.Compare(j, k); c != 0 {
		return c
	}
	for _, key := range j {
		if c := s.order(x[key], y[key]); c != 0 || s.err != nil {
			return c
		}
	}
	return 0
}
