package cuda

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/weftgraph/weft/internal/vfs"
)

// imagesInMemory bounds the bytes of images that a process keeps.
const imagesInMemory = 128 << 20

// images keeps compiled kernels by their key, in memory and, where dir is not empty, on disk. One program that
// several devices of the same kind need at once is compiled once.
type images struct {
	fsys vfs.FS
	dir  string

	mu     sync.Mutex
	kept   map[imageKey][]byte
	order  []imageKey // of kept, the longest unused first
	size   int64      // of kept, in bytes
	making map[imageKey]*making
}

type imageKey = [sha256.Size]byte

// making is an image that is being compiled.
type making struct {
	done  chan struct{}
	image []byte
	kept  bool // on disk
	err   error

	waiting int                // callers of get; under images.mu
	cancel  context.CancelFunc // ends compiling; nil where nothing can
}

var (
	imagesMu  sync.Mutex
	imagesFor = map[string]*images{}
)

// imagesAt is the process's images with the directory dir, or without one.
func imagesAt(dir string) *images {
	imagesMu.Lock()
	defer imagesMu.Unlock()
	s := imagesFor[dir]
	if s == nil {
		s = newImages(vfs.OS{}, dir)
		imagesFor[dir] = s
	}
	return s
}

func newImages(fsys vfs.FS, dir string) *images {
	return &images{fsys: fsys, dir: dir, kept: map[imageKey][]byte{}, making: map[imageKey]*making{}}
}

// get returns the image of a key, which compile makes if it is nowhere. kept says that it was not made now. When
// ctx ends first, its cause is the error: compiling goes on, on a goroutine of its own, for those who ask next.
func (s *images) get(ctx context.Context, key imageKey, compile func() ([]byte, error)) (image []byte, kept bool, err error) {
	return s.obtain(ctx, key, nil, func(context.Context) ([]byte, error) { return compile() })
}

// getWithin is get for a compile that ends with the context that it is given. That
// context ends when no caller waits for the image any more, and the last one to leave
// returns when compile has.
func (s *images) getWithin(ctx context.Context, key imageKey, compile func(context.Context) ([]byte, error)) (image []byte, kept bool, err error) {
	return s.obtain(ctx, key, context.WithCancel, compile)
}

// obtain is both; the context of compile is made by within, or never ends.
func (s *images) obtain(
	ctx context.Context, key imageKey, within func(context.Context) (context.Context, context.CancelFunc), compile func(context.Context) ([]byte, error),
) (image []byte, kept bool, err error) {
	for {
		s.mu.Lock()
		if image := s.kept[key]; image != nil {
			s.use(key)
			s.mu.Unlock()
			return image, true, nil
		}
		m, others := s.making[key]
		if !others {
			m = &making{done: make(chan struct{})}
			s.making[key] = m
			own := context.Background()
			if within != nil {
				own, m.cancel = within(own)
			}
			go s.make(key, m, func() ([]byte, error) { return compile(own) })
		}
		m.waiting++
		s.mu.Unlock()
		select {
		case <-m.done:
		case <-ctx.Done():
			s.leave(m)
			return nil, false, context.Cause(ctx)
		}
		switch {
		case m.err == nil:
			return m.image, others || m.kept, nil
		case !others || errors.Is(m.err, ErrCompile):
			return nil, false, m.err
		}
		// The other device had trouble of its own.
	}
}

// leave is for a caller that does not wait for m any more.
func (s *images) leave(m *making) {
	s.mu.Lock()
	m.waiting--
	last := m.waiting == 0 && m.cancel != nil
	s.mu.Unlock()
	if last {
		m.cancel()
		<-m.done
	}
}

// make reads or compiles an image, and keeps it.
func (s *images) make(key imageKey, m *making, compile func() ([]byte, error)) {
	m.err = errors.New("cuda: compiling ended its goroutine")
	defer func() {
		if p := recover(); p != nil {
			m.err = fmt.Errorf("cuda: panic while compiling: %v\n%s", p, debug.Stack())
		}
		s.mu.Lock()
		if m.err == nil {
			s.keep(key, m.image)
		}
		delete(s.making, key)
		s.mu.Unlock()
		if m.cancel != nil {
			m.cancel()
		}
		close(m.done)
	}()
	if m.image = readImage(s.fsys, s.dir, key); m.image != nil {
		m.kept, m.err = true, nil
		return
	}
	if m.image, m.err = compile(); m.err == nil {
		writeImage(s.fsys, s.dir, key, m.image)
	}
}

// drop forgets an image that turned out to be useless.
func (s *images) drop(key imageKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(key)
	dropImage(s.fsys, s.dir, key)
}

func (s *images) keep(key imageKey, image []byte) {
	s.forget(key)
	s.kept[key] = image
	s.order = append(s.order, key)
	s.size += int64(len(image))
	for s.size > imagesInMemory {
		s.forget(s.order[0])
	}
}

func (s *images) forget(key imageKey) {
	if image, ok := s.kept[key]; ok {
		s.size -= int64(len(image))
		delete(s.kept, key)
		s.order = without(s.order, key)
	}
}

// use makes key the last to be forgotten.
func (s *images) use(key imageKey) {
	s.order = append(without(s.order, key), key)
}

func without(keys []imageKey, key imageKey) []imageKey {
	for i, k := range keys {
		if k == key {
			return append(keys[:i], keys[i+1:]...)
		}
	}
	return keys
}
