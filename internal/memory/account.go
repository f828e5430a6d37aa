package memory

import (
	"context"
	"math"
	"sync/atomic"
)

// Account limits the bytes that several searches have at the same time, as those of one user.
//
// Why searches count for themselves: the system knows the memory in use of the process alone, and Go that of all goroutines
// together. So each search tells the account of its large arrays before it makes them: arrays over the vertices, matrices, candidate
// graphs, tables of partial matches. Arrays of a few kilobytes are not counted, and neither is what searches share: graphs and plans.
//
// Safe for concurrent use.
type Account struct {
	owner string
	used  atomic.Int64
}

// NewAccount returns an account. owner names whose limit it is in errors, as in "the user may have".
func NewAccount(owner string) *Account { return &Account{owner: owner} }

// Used is the bytes that all shares have.
func (a *Account) Used() int64 { return a.used.Load() }

// Share is what one search has of an account. A nil share counts nothing and has no limit. Safe for concurrent use.
type Share struct {
	of    *Account
	limit int64
	taken atomic.Int64
}

// Share opens a share, to which the account gives bytes until all shares together have as many as limit. 0 means any number. The
// caller closes the share.
func (a *Account) Share(limit int64) *Share { return &Share{of: a, limit: limit} }

// Take counts bytes that the search is about to use. what names them, in the plural. If the account does not have as many, the
// error is an *Error, and nothing is counted.
func (s *Share) Take(what string, bytes int64) error {
	if s == nil || bytes <= 0 {
		return nil
	}
	for {
		used := s.of.used.Load()
		if err := s.fits(what, used, bytes); err != nil {
			return err
		}
		if s.of.used.CompareAndSwap(used, used+bytes) {
			s.taken.Add(bytes)
			return nil
		}
	}
}

// Fits returns the error that Take would return now. It counts nothing.
func (s *Share) Fits(what string, bytes int64) error {
	if s == nil || bytes <= 0 {
		return nil
	}
	return s.fits(what, s.of.used.Load(), bytes)
}

func (s *Share) fits(what string, used, bytes int64) error {
	if left := s.limit - used; s.limit > 0 && bytes > left {
		return &Error{What: what, Need: uint64(bytes), Left: uint64(max(left, 0)), Own: uint64(s.taken.Load()), Limit: Limit{Bytes: uint64(s.limit), Text: s.of.owner}}
	}
	return nil
}

// Give takes bytes back that Take counted.
func (s *Share) Give(bytes int64) {
	if s == nil {
		return
	}
	s.taken.Add(-bytes)
	s.of.used.Add(-bytes)
}

// Taken is the bytes that the share has.
func (s *Share) Taken() int64 {
	if s == nil {
		return 0
	}
	return s.taken.Load()
}

// Left is the bytes that Take would give now.
func (s *Share) Left() int64 {
	if s == nil || s.limit <= 0 {
		return math.MaxInt64
	}
	return max(0, s.limit-s.of.used.Load())
}

// Close gives all back.
func (s *Share) Close() {
	if s != nil {
		s.of.used.Add(-s.taken.Swap(0))
	}
}

type shareKey struct{}

// WithShare returns a context whose searches count their memory.
func WithShare(ctx context.Context, s *Share) context.Context {
	return context.WithValue(ctx, shareKey{}, s)
}

// ShareOf is the share of a context, or nil.
func ShareOf(ctx context.Context) *Share {
	s, _ := ctx.Value(shareKey{}).(*Share)
	return s
}
