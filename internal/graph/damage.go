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

// Guard calls f, which reads the graph. It returns the damage of the graph's file that Damage
// finds afterwards, or else f's error.
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

// Damage returns the reason why reading the graph's file failed, or nil if the file is not at
// fault. x is the value that recover returned, or nil without a panic. The reasons are:
//
//   - the file was changed while it was in use;
//   - a part of it cannot be read;
//   - it is corrupt, if x is an error of the run-time system, such as an index out of range.
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

// safely returns the error of f, or the error of a panic in f.
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

// changed returns a *ChangedError if the file is no longer the version that was opened. If only
// attributes changed, such as the owner, it is the same version if its checksums are right. The
// checksums are compared because the time of change may have been set back.
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
