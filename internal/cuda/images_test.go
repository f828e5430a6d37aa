package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/vfs"
)

func TestKeyCoversAll(t *testing.T) {
	base := Source{Name: "a.cu", Text: "text", Includes: map[string]string{"x": "1", "y": "2"}, Options: []string{"-DA=1", "-DB"}}
	info := Info{Major: 9, Compiler: "NVRTC 13.0"}
	keys := map[imageKey]string{base.key(info): "base"}
	differs := func(name string, s Source, i Info) {
		t.Helper()
		k := s.key(i)
		if other := keys[k]; other != "" {
			t.Errorf("%s has the key of %s", name, other)
		}
		keys[k] = name
	}
	with := func(change func(s *Source)) Source {
		s := base
		change(&s)
		return s
	}
	differs("name", with(func(s *Source) { s.Name = "b.cu" }), info)
	differs("text", with(func(s *Source) { s.Text = "text " }), info)
	differs("moved border", with(func(s *Source) { s.Name, s.Text = "a.cut", "ext" }), info)
	differs("debug", with(func(s *Source) { s.Debug = true }), info)
	differs("option", with(func(s *Source) { s.Options = []string{"-DA=2", "-DB"} }), info)
	differs("joined options", with(func(s *Source) { s.Options = []string{"-DA=1-DB"} }), info)
	differs("order of options", with(func(s *Source) { s.Options = []string{"-DB", "-DA=1"} }), info)
	differs("include's text", with(func(s *Source) { s.Includes = map[string]string{"x": "1", "y": "3"} }), info)
	differs("include's name", with(func(s *Source) { s.Includes = map[string]string{"x": "1", "z": "2"} }), info)
	differs("swapped includes", with(func(s *Source) { s.Includes = map[string]string{"x": "2", "y": "1"} }), info)
	differs("options as includes", with(func(s *Source) {
		s.Options, s.Includes = nil, map[string]string{"-DA=1": "-DB", "x": "1", "y": "2"}
	}), info)
	differs("compiler", base, Info{Major: 9, Compiler: "NVRTC 13.1"})
	differs("arch", base, Info{Major: 10, Compiler: "NVRTC 13.0"})
	differs("emulated", base, Info{Major: 9, Compiler: "NVRTC 13.0", Emulated: true})
	every := everySource
	everySource = append(slices.Clone(every), "--fmad=true")
	differs("option of every source", base, info)
	everySource = every

	same := with(func(s *Source) { s.Includes = map[string]string{"y": "2", "x": "1"} })
	if same.key(Info{Major: 9, Compiler: "NVRTC 13.0", Ordinal: 3, Name: "another", SMs: 7}) != base.key(info) {
		t.Error("two devices of one kind have different keys")
	}
}

// moduleOf compiles text on a device of its own, over the cache in dir, as another process would, and says how
// often it was compiled.
func moduleOf(t *testing.T, dir, text string, broken func([]byte) bool) int {
	t.Helper()
	f := newFake()
	f.broken = broken
	d := open(t, f)
	d.modules.images = newImages(vfs.OS{}, dir)
	do(t, d, func(c *Context) error { return second(c.Module(Source{Name: "x.cu", Text: text})) })
	return f.compiled
}

func TestImagesOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "weft", "kernels")
	for i, want := range []int{1, 0, 0} {
		if n := moduleOf(t, dir, "add", nil); n != want {
			t.Errorf("run %d compiled %d times, not %d", i, n, want)
		}
	}
	if n := moduleOf(t, dir, "other", nil); n != 1 {
		t.Errorf("another program was compiled %d times", n)
	}
	if n := moduleOf(t, "", "add", nil); n != 1 {
		t.Errorf("without a cache: compiled %d times", n)
	}
	files, size := countImages(vfs.OS{}, dir)
	if files != 2 || size == 0 {
		t.Errorf("%d files, %d bytes", files, size)
	}
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info.Mode(), err)
	}
}

func TestBrokenImagesAreMadeAnew(t *testing.T) {
	for name, spoil := range map[string]func(data []byte) []byte{
		"empty":        func([]byte) []byte { return nil },
		"cut":          func(d []byte) []byte { return d[:len(d)-1] },
		"header only":  func(d []byte) []byte { return d[:len(imageMagic)+64] },
		"longer":       func(d []byte) []byte { return append(d, 0) },
		"flipped bit":  func(d []byte) []byte { d[len(d)-1] ^= 1; return d },
		"other format": func(d []byte) []byte { d[0] ^= 1; return d },
		"other key":    func(d []byte) []byte { d[len(imageMagic)] ^= 1; return d },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			moduleOf(t, dir, "add", nil)
			path := onlyFile(t, dir)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, spoil(bytes.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			if n := moduleOf(t, dir, "add", nil); n != 1 {
				t.Errorf("compiled %d times", n)
			}
			if again, _ := os.ReadFile(path); !bytes.Equal(again, whole) {
				t.Error("the file was not replaced")
			}
		})
	}
}

// An image that is whole but that the driver refuses (after an update, say) is compiled again, once.
func TestRefusedImageIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	moduleOf(t, dir, "add", nil)
	refusals := 0
	n := moduleOf(t, dir, "add", func([]byte) bool { refusals++; return refusals == 1 })
	if n != 1 || refusals != 2 {
		t.Errorf("compiled %d times, looked at %d times", n, refusals)
	}
	f := newFake()
	f.broken = func([]byte) bool { return true }
	d := open(t, f)
	d.modules.images = newImages(vfs.OS{}, dir)
	do(t, d, func(c *Context) error {
		if _, err := c.Module(Source{Name: "x.cu", Text: "add"}); !errors.Is(err, ErrArch) {
			t.Errorf("error %v", err)
		}
		return nil
	})
	if f.compiled != 1 {
		t.Errorf("refused always: compiled %d times", f.compiled)
	}
}

func onlyFile(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files %v, %v", found, err)
	}
	return found[0]
}

func TestUnwritableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(file, "kernels") // below a file: nobody can make it, not even root
	for range 2 {
		if n := moduleOf(t, dir, "add", nil); n != 1 {
			t.Errorf("compiled %d times", n)
		}
	}
	if f := cacheFinding(dir); f.Advice == "" {
		t.Errorf("finding %+v has no advice", f)
	}
}

// TestForeignImages: what another user may have written is not loaded, and nothing waits for it.
func TestForeignImages(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("owners are not looked at")
	}
	defer refused.Store(refused.Load())
	cache := func() (dir, path string) {
		dir = filepath.Join(t.TempDir(), "kernels")
		moduleOf(t, dir, "add", nil)
		return dir, onlyFile(t, dir)
	}
	for name, change := range map[string]func(dir, path string) error{
		"folder": func(dir, _ string) error { return os.Chmod(dir, 0o777) },
		"group":  func(dir, _ string) error { return errors.Join(os.Chown(dir, -1, 4321), os.Chmod(dir, 0o770)) },
		"owner":  func(dir, _ string) error { return os.Chown(dir, 4321, -1) },
	} {
		refused.Store(nil)
		dir, path := cache()
		if err := change(dir, path); errors.Is(err, os.ErrPermission) {
			continue // this user cannot do that
		} else if err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := moduleOf(t, dir, "add", nil); n != 1 {
			t.Errorf("%s: compiled %d times", name, n)
		}
		if err := Refused(); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "WEFT_CACHE") {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s: the folder was written to", name)
		}
		if f := cacheFinding(dir); !strings.Contains(f.Advice, "user") {
			t.Errorf("%s: finding %+v", name, f)
		}
	}
	refused.Store(nil)
	for name, change := range map[string]func(path string) error{
		"mode":  func(path string) error { return os.Chmod(path, 0o666) },
		"owner": func(path string) error { return os.Chown(path, 4321, -1) },
		"pipe":  func(path string) error { return errors.Join(os.Remove(path), exec.Command("mkfifo", path).Run()) },
		"link": func(path string) error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
		},
		"folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		dir, path := cache()
		if err := change(path); errors.Is(err, os.ErrPermission) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if n := moduleOf(t, dir, "add", nil); n != 1 {
			t.Errorf("%s: compiled %d times", name, n)
		}
		if n := moduleOf(t, dir, "add", nil); n != 0 && name != "folder" {
			t.Errorf("%s: the file was not replaced", name)
		}
	}
	if err := Refused(); err != nil {
		t.Error(err)
	}
}

func TestEviction(t *testing.T) {
	dir := t.TempDir()
	defer func(old int64) { imagesOnDisk = old }(imagesOnDisk)
	imagesOnDisk = 10_000
	image := make([]byte, 900)
	key := func(i int) imageKey { return imageKey{byte(i)} }
	for i := range 10 {
		writeImage(vfs.OS{}, dir, key(i), image)
		old := time.Now().Add(time.Duration(i-100) * time.Minute)
		if err := os.Chtimes(imagePath(dir, key(i)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if readImage(vfs.OS{}, dir, key(0)) == nil { // the oldest, which is used now
		t.Fatal("the first image is gone before there were too many")
	}
	writeImage(vfs.OS{}, dir, key(10), image)
	for i := range 11 {
		kept := readImage(vfs.OS{}, dir, key(i)) != nil
		if want := i == 0 || i > 4; kept != want {
			t.Errorf("image %d is kept: %v, not %v", i, kept, want)
		}
	}
	writeImage(vfs.OS{}, dir, key(11), make([]byte, 6000))
	if readImage(vfs.OS{}, dir, key(11)) != nil {
		t.Error("an image of more than half the cache was kept")
	}
}

func TestImagesInMemory(t *testing.T) {
	s := newImages(vfs.OS{}, "")
	big := make([]byte, imagesInMemory/3)
	for i := range 4 {
		if _, kept, err := s.get(t.Context(), imageKey{byte(i)}, func() ([]byte, error) { return big, nil }); kept || err != nil {
			t.Fatal(kept, err)
		}
		s.get(t.Context(), imageKey{0}, func() ([]byte, error) { t.Error("the image in use is gone"); return big, nil })
	}
	if len(s.kept) != 3 || len(s.order) != 3 || s.size != 3*int64(len(big)) || s.kept[imageKey{1}] != nil {
		t.Errorf("%d images, order of %d, %d bytes", len(s.kept), len(s.order), s.size)
	}
}

func TestSeveralDevicesCompileOnce(t *testing.T) {
	s := newImages(vfs.OS{}, t.TempDir())
	var compiled atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			image, _, err := s.get(t.Context(), imageKey{}, func() ([]byte, error) {
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
	}{{&Error{Kind: ErrCompile}, 1}, {&Error{Kind: ErrLost, Lost: true}, 4}} {
		s := newImages(vfs.OS{}, "")
		var runs atomic.Int32
		var wg, asked sync.WaitGroup
		asked.Add(4)
		for range 4 {
			wg.Go(func() {
				asked.Done()
				_, _, err := s.get(t.Context(), imageKey{}, func() ([]byte, error) {
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
	s := newImages(vfs.OS{}, "")
	func() {
		defer func() { recover() }()
		s.get(t.Context(), imageKey{}, func() ([]byte, error) { panic("x") })
	}()
	image, _, err := s.get(t.Context(), imageKey{}, func() ([]byte, error) { return []byte("y"), nil })
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
	imagesOnDisk = 40_000 // so that entries also go
	for i := range 300 {
		key := imageKey{byte(i % 7)}
		want := bytes.Repeat([]byte{key[0] + 1}, 8000)
		if image := readImage(vfs.OS{}, dir, key); image != nil && !bytes.Equal(image, want) {
			t.Fatalf("a wrong image of %d bytes", len(image))
		}
		switch i % 5 {
		case 0:
			os.WriteFile(imagePath(dir, key), []byte("spoilt"), 0o600)
		case 1:
			dropImage(vfs.OS{}, dir, key)
		default:
			writeImage(vfs.OS{}, dir, key, want)
		}
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	t.Setenv("XDG_CACHE_HOME", "/home/x/c")
	for set, want := range map[string]string{"off": "", "/tmp/w": "/tmp/w/kernels", "": "weft/kernels"} {
		t.Setenv("WEFT_CACHE", set)
		if got := filepath.ToSlash(cacheDir()); !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("WEFT_CACHE=%q: %q", set, got)
		}
	}
}

func BenchmarkKey(b *testing.B) {
	src := Source{Text: strings.Repeat("x", 100_000), Includes: map[string]string{}}
	for i := range 8 {
		src.Includes[fmt.Sprint(i)] = strings.Repeat("y", 10_000)
	}
	for b.Loop() {
		src.key(Info{})
	}
}

// TestKeptEnds: compiling goes on as long as a call waits for it, ends with the last
// one, and begins anew for the next.
func TestKeptEnds(t *testing.T) {
	s := newImages(vfs.OS{}, "")
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
			_, _, err := s.getWithin(ctx, imageKey{}, endless)
			errs <- err
		}()
	}
	<-began
	for s.waitingFor(imageKey{}) < 2 {
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
	image, _, err := s.getWithin(t.Context(), imageKey{}, func(context.Context) ([]byte, error) { return []byte("y"), nil })
	if err != nil || string(image) != "y" {
		t.Errorf("the next: %q, %v", image, err)
	}
}

// waitingFor is how many calls wait for an image that is being made.
func (s *images) waitingFor(key imageKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.making[key]; m != nil {
		return m.waiting
	}
	return 0
}
