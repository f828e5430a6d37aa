package graph

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// ChangedError says that a graph file was changed while it was in use. It wraps ErrCorrupt.
type ChangedError struct{ Path string }

// Error names the file.
func (e *ChangedError) Error() string {
	return e.Path + ": the file was changed while it was in use: answers would mix its versions"
}

// Unwrap returns ErrCorrupt.
func (e *ChangedError) Unwrap() error { return ErrCorrupt }

// Guard calls f, which reads the graph, and returns its error, or what Damage says of the
// graph's file after it.
func (g *Graph) Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		x := recover()
		if e := g.Damage(x); e != nil {
			err = e
		} else if x != nil {
			panic(x)
		}
	}()
	return f()
}

// Damage returns what is wrong with the graph's file after it was read: that it was
// changed meanwhile, that a part of it cannot be read, or, where x is an error of the
// run-time system, as of an index out of range, that it is corrupt. x is what recover
// returned, nil without a panic. Damage returns nil where the file is not to blame.
func (g *Graph) Damage(x any) error {
	if g.file == nil {
		return nil
	}
	return g.file.damageOf(x, g)
}

// damage is Damage of a file that is being opened.
func (m *mapping) damage(x any) error { return m.damageOf(x, nil) }

func (m *mapping) damageOf(x any, g *Graph) error {
	if err := m.changed(); err != nil {
		return err
	}
	if p, ok := x.(*workerPanic); ok {
		x = p.value
	}
	fault, ok := x.(runtime.Error)
	if !ok {
		return nil
	}
	if f, ok := fault.(interface{ Addr() uintptr }); ok && len(m.data) > 0 {
		if at := f.Addr() - uintptr(unsafe.Pointer(&m.data[0])); at < uintptr(len(m.data)) {
			return &CorruptError{m.path, "file", int64(at), "it cannot be read"}
		}
	}
	if g == nil {
		return nil
	}
	return m.safely(func() error { return g.Verify(context.Background(), 0) })
}

// safely returns the error of f, or that of a panic in it.
func (m *mapping) safely(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if x := recover(); x != nil {
			if p, ok := x.(*workerPanic); ok {
				x = p.value
			}
			err = fmt.Errorf("%s: %w: %v", m.path, ErrCorrupt, x)
		}
	}()
	return f()
}

// changed returns a *ChangedError where the file is no longer the version that was opened.
// A file that has other attributes since, as of its owner, is the same version if its
// checksums are right: its time of change may have been set back.
func (m *mapping) changed() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil || m.changes != nil {
		return m.changes
	}
	now, links, err := versionOf(m.file)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", m.path, err)
	case now == m.version:
		return nil
	case now.size != m.version.size || now.modified != m.version.modified:
		m.changes = &ChangedError{m.path}
	case links > 0: // a file without a name was replaced by another, or was a temporary one
		m.changes = m.safely(func() error { return m.checkSums(context.Background(), 0) })
	}
	if m.changes == nil {
		m.version = now
	}
	return m.changes
}
