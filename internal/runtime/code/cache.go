// Package code keeps the compiled code of a runtime: images of GPU kernels, and shared objects of generated
// C. A Cache keeps them in memory and in a folder. It limits the number of compilers that run at once.
//
// It must not know the contents of images: a key covers everything that an image depends on.
package code

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/weftgraph/weft/internal/vfs"
)

// inMemory bounds the bytes of images that a cache keeps in memory.
const inMemory = 128 << 20

// onDisk bounds the bytes of images in a folder.
const onDisk = 512 << 20

// Key names an image.
type Key = [sha256.Size]byte

// ErrText is the error of a text that does not compile. Every caller gets it. Other errors of compiling belong to
// one caller, and the next caller tries again.
var ErrText = errors.New("the text does not compile")

// ErrGivenUp is the error of a compilation that nobody waits for any more.
var ErrGivenUp = errors.New("given up before it was compiled")

// A Cache keeps images by their key, in memory and, if it has a folder, on disk. An image that several callers need at
// once is compiled once. Safe for concurrent use.
type Cache struct {
	files     vfs.FS        // nil: the file system of each call's context
	dir       string        // "": no folder
	room      int64         // bytes of images in it
	compilers chan struct{} // one slot for each compiler that may run

	mu      sync.Mutex
	kept    map[Key][]byte
	order   []Key // of kept, the longest unused first
	size    int64 // of kept, in bytes
	making  map[Key]*making
	foreign error // why the folder was not used
}

// making is an image that is being compiled.
type making struct {
	done  chan struct{}
	image []byte
	kept  bool // on disk
	err   error

	waiting int                // callers of Get and GetWithin; under Cache.mu
	cancel  context.CancelFunc // ends compiling; nil where nothing can
}

// New makes a cache over a folder, which is made when it is needed; "" is none. See Folder.
// The folder is in the file system of the context of the call that reads or writes an image; see vfs.From.
func New(dir string) *Cache { return NewOn(nil, dir) }

// NewOn is New for a folder of one file system, which replaces that of calls' contexts.
func NewOn(files vfs.FS, dir string) *Cache {
	// Each compiler takes a core and a few hundred megabytes.
	compilers := make(chan struct{}, max(1, min(16, runtime.GOMAXPROCS(0))))
	return &Cache{files: files, dir: dir, room: onDisk, compilers: compilers, kept: map[Key][]byte{}, making: map[Key]*making{}}
}

// on is the file system of the folder for a call with ctx.
func (s *Cache) on(ctx context.Context) vfs.FS {
	if s.files != nil {
		return s.files
	}
	return vfs.From(ctx)
}

// Dir is the cache's folder, or "".
func (s *Cache) Dir() string { return s.dir }

// Compilers is the number of compilers that may run at once for callers of Compiler.
func (s *Cache) Compilers() int { return cap(s.compilers) }

// Compiler waits until another compiler may run; end says that it has ended. The error is ErrGivenUp when ctx ends
// first.
func (s *Cache) Compiler(ctx context.Context) (end func(), err error) {
	if ctx.Err() != nil {
		return nil, ErrGivenUp
	}
	select {
	case s.compilers <- struct{}{}:
		return func() { <-s.compilers }, nil
	case <-ctx.Done():
		return nil, ErrGivenUp
	}
}

// KeyOf is a key that covers some texts, and where each of them begins.
func KeyOf(parts []string) Key {
	h := sha256.New()
	h.Write([]byte("not a kernel"))
	for _, p := range parts {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return Key(h.Sum(nil))
}

// Get returns the image of a key. If no cache has it, compile makes it; kept is false then. Calls with one key
// compile it once. If ctx ends first, the error is its cause, and compiling continues in the background for
// later callers. Safe for concurrent use.
func (s *Cache) Get(ctx context.Context, key Key, compile func() ([]byte, error)) (image []byte, kept bool, err error) {
	return s.obtain(ctx, key, nil, func(context.Context) ([]byte, error) { return compile() })
}

// GetWithin is Get for a compile that ends with the context that it is given. That context has the caller's file
// system, and ends when no caller waits for the image any more. The last caller to leave returns when compile has
// returned.
func (s *Cache) GetWithin(ctx context.Context, key Key, compile func(context.Context) ([]byte, error)) (image []byte, kept bool, err error) {
	return s.obtain(ctx, key, context.WithCancel, compile)
}

// obtain is both; the context of compile is made by within, or never ends.
func (s *Cache) obtain(
	ctx context.Context, key Key, within func(context.Context) (context.Context, context.CancelFunc), compile func(context.Context) ([]byte, error),
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
			files := s.on(ctx)
			own := vfs.With(context.Background(), files)
			if within != nil {
				own, m.cancel = within(own)
			}
			go s.make(files, key, m, func() ([]byte, error) { return compile(own) })
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
		case !others || errors.Is(m.err, ErrText):
			return nil, false, m.err
		}
		// The other caller had trouble of its own.
	}
}

// leave is for a caller that does not wait for m any more.
func (s *Cache) leave(m *making) {
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
func (s *Cache) make(files vfs.FS, key Key, m *making, compile func() ([]byte, error)) {
	m.err = errors.New("compiling ended its goroutine")
	defer func() {
		if p := recover(); p != nil {
			m.err = fmt.Errorf("panic while compiling: %v\n%s", p, debug.Stack())
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
	if m.image = s.read(files, key); m.image != nil {
		m.kept, m.err = true, nil
		return
	}
	if m.image, m.err = compile(); m.err == nil {
		s.write(files, key, m.image)
	}
}

// Has reports whether Get would find an image without compiling it.
func (s *Cache) Has(ctx context.Context, key Key) bool {
	s.mu.Lock()
	_, kept := s.kept[key]
	s.mu.Unlock()
	if kept || s.dir == "" {
		return kept
	}
	files := s.on(ctx)
	_, err := files.Stat(s.path(key))
	return err == nil && s.own(files)
}

// Drop forgets an image that turned out to be useless.
func (s *Cache) Drop(ctx context.Context, key Key) {
	s.mu.Lock()
	s.forget(key)
	s.mu.Unlock()
	s.remove(s.on(ctx), key)
}

func (s *Cache) keep(key Key, image []byte) {
	s.forget(key)
	s.kept[key] = image
	s.order = append(s.order, key)
	s.size += int64(len(image))
	for s.size > inMemory {
		s.forget(s.order[0])
	}
}

func (s *Cache) forget(key Key) {
	if image, ok := s.kept[key]; ok {
		s.size -= int64(len(image))
		delete(s.kept, key)
		s.order = without(s.order, key)
	}
}

// use makes key the last to be forgotten.
func (s *Cache) use(key Key) {
	s.order = append(without(s.order, key), key)
}

func without(keys []Key, key Key) []Key {
	for i, k := range keys {
		if k == key {
			return append(keys[:i], keys[i+1:]...)
		}
	}
	return keys
}
