package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/vfs"
)

// At is the place of a change among all changes of a run: the number of its update, and its number among those of the update, from 0. It does
// not depend on batches, so that a change has the same place after a restart.
type At struct{ Seq, Index uint64 }

// after reports whether x is later than y.
func (x At) after(y At) bool { return x.Seq > y.Seq || x.Seq == y.Seq && x.Index > y.Index }

// Sink takes changes. A service calls its methods one at a time, Begin first and Close last.
type Sink interface {
	// Begin prepares the sink for changes. If the sink has changes that come after the checkpoint, it removes them, or returns the place of
	// the last one, and kept set: the service leaves out those up to it.
	Begin(ctx context.Context, b *Beginning) (last At, kept bool, err error)
	// Change writes a change, now or later.
	Change(at At, c *Change) error
	// Flush hands over all changes so far. It need not wait until they are there.
	Flush() error
	// Sync makes all changes so far durable. A checkpoint follows.
	Sync() error
	// Length is how much the sink has, for Beginning: bytes of a file, messages of a broker.
	Length() int64
	// End writes the end of the format, after Flush.
	End() error
	Close() error
}

// Beginning is what a sink begins with.
type Beginning struct {
	Queries []*Query
	Open    bool // others may come, and some may go
	Text    bool // ids are texts
	Labels  bool // an edge without a label has a null for it
	// Run names the run of the service, also after restarts. No other run has the name.
	Run string
	// Length is what Length was at the checkpoint, and 0 if there is none.
	Length int64
}

// writer is a Sink of a stream of bytes that cannot be cut, such as standard output.
type writer struct {
	encoder
	w      io.Writer
	format string
}

// NewWriter returns a sink that writes to w in a format. After a restart it writes the changes since the checkpoint anew.
func NewWriter(w io.Writer, format string) Sink { return &writer{w: w, format: format} }

func (s *writer) Begin(_ context.Context, b *Beginning) (last At, kept bool, err error) {
	s.encoder, err = newEncoder(s.w, s.format, b, false)
	return At{}, false, err
}

func (s *writer) Change(_ At, c *Change) error { return s.change(c) }
func (s *writer) Flush() error                 { return s.flush() }
func (s *writer) Sync() error                  { return nil }
func (s *writer) Length() int64                { return 0 }
func (s *writer) End() error                   { return s.close() }
func (s *writer) Close() error                 { return nil }

// file is a Sink that is written in place, so that it can be read while it grows, and cut to the length of a checkpoint.
type file struct {
	encoder
	ctx    context.Context // within which it is written
	files  vfs.FS
	f      vfs.File
	w      *ctxio.Writer
	name   string
	format string
	length int64
}

// NewFile returns a sink that writes a file in a format.
func NewFile(files vfs.FS, name, format string) Sink {
	return &file{files: vfs.Or(files), name: name, format: format}
}

// Begin opens the file and cuts it to its length at the checkpoint. The error wraps disk.ErrLocked if another service writes the file, and
// ErrCheckpoint if the file is shorter than it was.
func (o *file) Begin(ctx context.Context, b *Beginning) (last At, kept bool, err error) {
	if err := disk.Check(o.files, o.name); err != nil {
		return At{}, false, err
	}
	f, err := ctxio.OpenFile(ctx, o.files, o.name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return At{}, false, err
	}
	o.ctx, o.f, o.w, o.length = ctx, f, ctxio.NewWriter(f), b.Length
	if err := o.cut(); err != nil {
		return At{}, false, err
	}
	o.encoder, err = newEncoder(o, o.format, b, b.Length > 0)
	return At{}, false, err
}

func (o *file) cut() error {
	st, err := o.f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return nil
	}
	if !disk.Exclusive(o.f) {
		return &disk.Error{Name: o.name, Err: disk.ErrLocked}
	}
	if st.Size() < o.length {
		return fmt.Errorf("%w: the output %s is shorter than it was, so that changes are lost; remove the folder of state to begin anew", ErrCheckpoint, o.name)
	}
	if err := o.f.Truncate(o.length); err != nil {
		return err
	}
	_, err = o.f.Seek(o.length, io.SeekStart)
	return err
}

// Write writes encoded changes.
func (o *file) Write(b []byte) (int, error) {
	n, err := o.w.WriteWithin(o.ctx, b)
	o.length += int64(n)
	if err != nil && o.ctx.Err() == nil {
		err = &disk.Error{Name: o.name, Err: pathless(err)}
	}
	return n, err
}

func (o *file) Change(_ At, c *Change) error { return o.change(c) }
func (o *file) Flush() error                 { return o.flush() }
func (o *file) Length() int64                { return o.length }
func (o *file) End() error                   { return o.encoder.close() }

// Sync brings the file to the disk.
func (o *file) Sync() error {
	if err := o.f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return &disk.Error{Name: o.name, Err: pathless(err)}
	}
	return nil // not every file can
}

func (o *file) Close() error {
	if o.f == nil {
		return nil
	}
	o.w.Close()
	if err := o.f.Close(); err != nil {
		return &disk.Error{Name: o.name, Err: pathless(err)}
	}
	return nil
}

// Publisher sends messages to a broker, in their order. A service calls its methods one at a time.
type Publisher interface {
	// Begin connects, and returns the id of the last message that the broker has, or "" if none has come since the checkpoint. It is called
	// once, before all others. run is the name of the run, and length what Length was at the checkpoint. A broker that cannot be reached is
	// an error, and so is one that has lost messages of the run.
	Begin(ctx context.Context, run string, length int64) (last string, err error)
	// Publish sends a message with an id. It waits only if too many messages are under way. Messages that a lost broker may not have are
	// sent again, none twice, until ctx of Begin ends. data is the caller's again when Publish returns.
	Publish(id string, data []byte) error
	// Flush is called at the end of a batch, before a wait for updates.
	Flush() error
	// Sync waits until the broker has all messages.
	Sync() error
	// Length is how far the publisher is. It is 0 before the first message of a run.
	Length() int64
	Close() error
}

// messages is a Sink that sends each change to a broker as a message of its own: a line of NDJSON without its end. A message's id has the run
// and the place of the change, so that a run that continues knows the last change that the broker has.
type messages struct {
	p     Publisher
	name  string
	run   string
	lines *lines
	id    []byte
}

// NewMessages returns a sink that sends changes to the broker of p. name is that of errors.
func NewMessages(p Publisher, name string) Sink { return &messages{p: p, name: name} }

// Begin asks the broker for the last change that it has. The error wraps ErrCheckpoint if that is not of this run, though the run sent some.
func (s *messages) Begin(ctx context.Context, b *Beginning) (last At, kept bool, err error) {
	s.run = b.Run
	s.lines = newLines(nil, b.Labels)
	id, err := s.p.Begin(ctx, b.Run, b.Length)
	if err != nil {
		return At{}, false, err
	}
	last, kept = s.parse(id)
	if !kept && id != "" && b.Length > 0 {
		return At{}, false, fmt.Errorf("%w: the last message of %s is not of this watch, so that it cannot be told how far it came; remove the folder of state to begin anew", ErrCheckpoint, s.name)
	}
	return last, kept, nil
}

// parse reads an id of this run.
func (s *messages) parse(id string) (at At, ok bool) {
	rest, ok := strings.CutPrefix(id, s.run+"-")
	seq, index, cut := strings.Cut(rest, "-")
	if !ok || !cut {
		return At{}, false
	}
	var failed [2]error
	at.Seq, failed[0] = strconv.ParseUint(seq, 10, 64)
	at.Index, failed[1] = strconv.ParseUint(index, 10, 64)
	return at, errors.Join(failed[:]...) == nil
}

func (s *messages) Change(at At, c *Change) error {
	s.id = append(append(s.id[:0], s.run...), '-')
	s.id = append(strconv.AppendUint(s.id, at.Seq, 10), '-')
	s.id = strconv.AppendUint(s.id, at.Index, 10)
	line := s.lines.line(c)
	s.lines.buf = s.lines.buf[:0]
	return s.p.Publish(string(s.id), line[:len(line)-1])
}

func (s *messages) Flush() error  { return s.p.Flush() }
func (s *messages) Sync() error   { return s.p.Sync() }
func (s *messages) Length() int64 { return s.p.Length() }
func (s *messages) End() error    { return s.p.Sync() }
func (s *messages) Close() error  { return s.p.Close() }

// pathless is an error of the file system without the name of the file.
func pathless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
