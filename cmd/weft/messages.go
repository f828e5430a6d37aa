package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/ctxio"
)

// messages is standard error: notes, errors and progress. A reader that does not read
// holds a message up until --timeout has passed or the process is interrupted, and a
// report of progress never. Safe for concurrent use.
type messages struct {
	file    io.Writer
	ctx     context.Context
	end     context.CancelCauseFunc
	timeout time.Duration // --timeout, which each message may wait; 0: no limit
	mu      sync.Mutex    // held while something is written
	w       *ctxio.Writer
	lost    error // the cause of the first message that was given up
}

func newMessages(ctx context.Context, file io.Writer) *messages {
	m := &messages{file: file, w: ctxio.NewWriter(file)}
	m.ctx, m.end = context.WithCancelCause(ctx)
	return m
}

// renew makes messages wait for their reader again, until ctx ends.
func (m *messages) renew(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end(nil)
	m.ctx, m.end = context.WithCancelCause(ctx)
}

// Write writes a message, or gives it up.
func (m *messages) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.write(b)
}

func (m *messages) write(b []byte) (int, error) {
	ctx := m.ctx
	if m.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, m.timeout, errTimeout)
		defer cancel()
	}
	n, err := m.w.WriteWithin(ctx, b)
	if m.lost == nil && (errors.Is(err, errTimeout) || errors.Is(err, errInterrupted)) {
		m.lost = err
	}
	return n, err
}

// offer writes b without waiting for it. It leaves b out while something else is being
// written.
func (m *messages) offer(b []byte) {
	if !m.mu.TryLock() {
		return
	}
	if !m.w.Waits() {
		_, _ = m.write(b)
		m.mu.Unlock()
		return
	}
	go func() {
		defer m.mu.Unlock()
		_, _ = m.write(b)
	}()
}

// close waits for the message that is being written, and returns the cause of the first message
// that was given up.
func (m *messages) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end(nil)
	m.w.Close()
	return m.lost
}
