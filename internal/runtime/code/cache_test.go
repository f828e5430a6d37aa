package code

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/vfs"
)

func TestEviction(t *testing.T) {
	dir := t.TempDir()
	s := New(dir)
	s.room = 10_000
	image := make([]byte, 900)
	key := func(i int) Key { return Key{byte(i)} }
	for i := range 10 {
		s.write(vfs.OS{}, key(i), image)
		old := time.Now().Add(time.Duration(i-100) * time.Minute)
		if err := os.Chtimes(s.path(key(i)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if s.read(vfs.OS{}, key(0)) == nil { // the oldest, which is used now
		t.Fatal("the first image is gone before there were too many")
	}
	s.write(vfs.OS{}, key(10), image)
	for i := range 11 {
		kept := s.read(vfs.OS{}, key(i)) != nil
		if want := i == 0 || i > 4; kept != want {
			t.Errorf("image %d is kept: %v, not %v", i, kept, want)
		}
	}
	s.write(vfs.OS{}, key(11), make([]byte, 6000))
	if s.read(vfs.OS{}, key(11)) != nil {
		t.Error("an image of more than half the cache was kept")
	}
}

func TestImagesInMemory(t *testing.T) {
	s := New("")
	big := make([]byte, inMemory/3)
	for i := range 4 {
		if _, kept, err := s.Get(t.Context(), Key{byte(i)}, func() ([]byte, error) { return big, nil }); kept || err != nil {
			t.Fatal(kept, err)
		}
		s.Get(t.Context(), Key{0}, func() ([]byte, error) { t.Error("the image in use is gone"); return big, nil })
	}
	if len(s.kept) != 3 || len(s.order) != 3 || s.size != 3*int64(len(big)) || s.kept[Key{1}] != nil {
		t.Errorf("%d images, order of %d, %d bytes", len(s.kept), len(s.order), s.size)
	}
}

func TestSeveralDevicesCompileOnce(t *testing.T) {
	s := New(t.TempDir())
	var compiled atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			image, _, err := s.Get(t.Context(), Key{}, func() ([]byte, error) {
				compiled.Add(1)
				time.Sleep(20 * time.Millisecond)
				return []byte("image"), nil
			})
			if string(image) != "image" || err != nil {
				t.Errorf("%q, %v", image, err)
			}
		})
	}
	wg.Wait()
	if n := compiled.Load(); n != 1 {
		t.Errorf("compiled %d times", n)
	}
}

// What is wrong with the program is so for all who wait for it; what is wrong with one device is not.
func TestErrorsOfOthers(t *testing.T) {
	for _, c := range []struct {
		err  error
		runs int32
	}{{ErrText, 1}, {errors.New("the device is lost"), 4}} {
		s := New("")
		var runs atomic.Int32
		var wg, asked sync.WaitGroup
		asked.Add(4)
		for range 4 {
			wg.Go(func() {
				asked.Done()
				_, _, err := s.Get(t.Context(), Key{}, func() ([]byte, error) {
					runs.Add(1)
					asked.Wait()
					time.Sleep(100 * time.Millisecond)
					return nil, c.err
				})
				if !errors.Is(err, c.err) {
					t.Errorf("error %v", err)
				}
			})
		}
		wg.Wait()
		if n := runs.Load(); n != c.runs {
			t.Errorf("%v: tried %d times, not %d", c.err, n, c.runs)
		}
	}
}

func TestPanicWhileCompiling(t *testing.T) {
	s := New("")
	func() {
		defer func() { recover() }()
		s.Get(t.Context(), Key{}, func() ([]byte, error) { panic("x") })
	}()
	image, _, err := s.Get(t.Context(), Key{}, func() ([]byte, error) { return []byte("y"), nil })
	if string(image) != "y" || err != nil {
		t.Errorf("%q, %v", image, err)
	}
}

// Several processes write and read the same few entries while one of them spoils files.
func TestProcessesShareACache(t *testing.T) {
	if dir := os.Getenv("WEFT_TEST_CACHE"); dir != "" {
		hammer(t, dir)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(self, "-test.run=^TestProcessesShareACache$")
			cmd.Env = append(os.Environ(), "WEFT_TEST_CACHE="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	if found, _ := filepath.Glob(filepath.Join(dir, ".*")); found != nil {
		t.Errorf("left over: %v", found)
	}
}

func hammer(t *testing.T, dir string) {
	s := New(dir)
	s.room = 40_000 // so that entries also go
	for i := range 300 {
		key := Key{byte(i % 7)}
		want := bytes.Repeat([]byte{key[0] + 1}, 8000)
		if image := s.read(vfs.OS{}, key); image != nil && !bytes.Equal(image, want) {
			t.Fatalf("a wrong image of %d bytes", len(image))
		}
		switch i % 5 {
		case 0:
			os.WriteFile(s.path(key), []byte("spoilt"), 0o600)
		case 1:
			s.remove(vfs.OS{}, key)
		default:
			s.write(vfs.OS{}, key, want)
		}
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	t.Setenv("XDG_CACHE_HOME", "/home/x/c")
	for set, want := range map[string]string{"off": "", "/tmp/w": "/tmp/w/kernels", "": "weft/kernels"} {
		t.Setenv("WEFT_CACHE", set)
		if got := filepath.ToSlash(Folder("")); !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("WEFT_CACHE=%q: %q", set, got)
		}
	}
}

// TestKeptEnds: compiling goes on as long as a call waits for it, ends with the last
// one, and begins anew for the next.
func TestKeptEnds(t *testing.T) {
	s := New("")
	began, ended := make(chan struct{}, 1), 0
	endless := func(ctx context.Context) ([]byte, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended++
		return nil, ctx.Err()
	}
	why := errors.New("enough")
	leave, errs := make([]context.CancelCauseFunc, 2), make(chan error)
	for i := range leave {
		var ctx context.Context
		ctx, leave[i] = context.WithCancelCause(t.Context())
		go func() {
			_, _, err := s.GetWithin(ctx, Key{}, endless)
			errs <- err
		}()
	}
	<-began
	for s.waitingFor(Key{}) < 2 {
		runtime.Gosched()
	}
	leave[0](why)
	if err := <-errs; !errors.Is(err, why) || ended != 0 {
		t.Errorf("the first to leave: %v; ended %d times", err, ended)
	}
	leave[1](why)
	if err := <-errs; !errors.Is(err, why) || ended != 1 {
		t.Errorf("the last to leave: %v; ended %d times", err, ended)
	}
	image, _, err := s.GetWithin(t.Context(), Key{}, func(context.Context) ([]byte, error) { return []byte("y"), nil })
	if err != nil || string(image) != "y" {
		t.Errorf("the next: %q, %v", image, err)
	}
}

// waitingFor is how many calls wait for an image that is being made.
func (s *Cache) waitingFor(key Key) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.making[key]; m != nil {
		return m.waiting
	}
	return 0
}

// TestHas: an image is there once it was made, in memory and, for other caches over the folder, on disk.
func TestHas(t *testing.T) {
	dir := t.TempDir()
	in, on := New(""), New(dir)
	for _, s := range []*Cache{in, on} {
		if s.Has(t.Context(), Key{1}) {
			t.Errorf("folder %q: an image that nobody made", s.Dir())
		}
		if _, _, err := s.Get(t.Context(), Key{1}, func() ([]byte, error) { return []byte("x"), nil }); err != nil {
			t.Fatal(err)
		}
		if !s.Has(t.Context(), Key{1}) || s.Has(t.Context(), Key{2}) {
			t.Errorf("folder %q: %v, %v", s.Dir(), s.Has(t.Context(), Key{1}), s.Has(t.Context(), Key{2}))
		}
	}
	if !New(dir).Has(t.Context(), Key{1}) {
		t.Error("not on disk")
	}
}
