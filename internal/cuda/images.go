package cuda

import (
	"crypto/sha256"
	"errors"
	"sync"
)

// imagesInMemory bounds the bytes of images that a process keeps.
const imagesInMemory = 128 << 20

// images keeps compiled kernels by their key, in memory and, where dir is not empty, on disk. One program that
// several devices of the same kind need at once is compiled once.
type images struct {
	dir string

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
	err   error
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
		s = newImages(dir)
		imagesFor[dir] = s
	}
	return s
}

func newImages(dir string) *images {
	return &images{dir: dir, kept: map[imageKey][]byte{}, making: map[imageKey]*making{}}
}

// get returns the image of a key, which compile makes if it is nowhere. kept says that it was not made now.
func (s *images) get(key imageKey, compile func() ([]byte, error)) (image []byte, kept bool, err error) {
	for {
		s.mu.Lock()
		if image := s.kept[key]; image != nil {
			s.use(key)
			s.mu.Unlock()
			return image, true, nil
		}
		other := s.making[key]
		if other == nil {
			break
		}
		s.mu.Unlock()
		<-other.done
		switch {
		case other.err == nil:
			return other.image, true, nil
		case errors.Is(other.err, ErrCompile):
			return nil, false, other.err
		}
		// The other device had trouble of its own.
	}
	m := &making{done: make(chan struct{}), err: errors.New("cuda: compiling panicked")}
	s.making[key] = m
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		if m.err == nil {
			s.keep(key, m.image)
		}
		delete(s.making, key)
		s.mu.Unlock()
		close(m.done)
	}()
	if m.image = readImage(s.dir, key); m.image != nil {
		m.err = nil
		return m.image, true, nil
	}
	if m.image, m.err = compile(); m.err == nil {
		writeImage(s.dir, key, m.image)
	}
	return m.image, false, m.err
}

// drop forgets an image that turned out to be useless.
func (s *images) drop(key imageKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(key)
	dropImage(s.dir, key)
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
