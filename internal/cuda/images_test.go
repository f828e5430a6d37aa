package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/runtime/code"
)

func TestKeyCoversAll(t *testing.T) {
	base := Source{Name: "a.cu", Text: "text", Includes: map[string]string{"x": "1", "y": "2"}, Options: []string{"-DA=1", "-DB"}}
	info := Info{Major: 9, Compiler: "NVRTC 13.0"}
	keys := map[code.Key]string{base.key(info): "base"}
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
	remembered := with(func(s *Source) { s.Keys = &Keys{} })
	for _, i := range []Info{info, {Major: 9, Compiler: "NVRTC 13.1"}, {Major: 10, Compiler: "NVRTC 13.0"}, info} {
		if remembered.key(i) != base.key(i) {
			t.Errorf("another key of %v is remembered", i)
		}
	}
}

// moduleOf compiles text on a device of its own, over the cache in dir, as another process would, and says how
// often it was compiled.
func moduleOf(t *testing.T, dir, text string, broken func([]byte) bool) int {
	t.Helper()
	return moduleIn(t, code.New(dir), text, broken)
}

// moduleIn is moduleOf over a cache.
func moduleIn(t *testing.T, images *code.Cache, text string, broken func([]byte) bool) int {
	t.Helper()
	f := newFake()
	f.broken = broken
	d := open(t, f)
	d.modules.images = images
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
	files, size := code.New(dir).Count()
	if files != 2 || size == 0 {
		t.Errorf("%d files, %d bytes", files, size)
	}
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info.Mode(), err)
	}
}

func TestBrokenImagesAreMadeAnew(t *testing.T) {
	const magic = 20 // the bytes before the key
	for name, spoil := range map[string]func(data []byte) []byte{
		"empty":        func([]byte) []byte { return nil },
		"cut":          func(d []byte) []byte { return d[:len(d)-1] },
		"header only":  func(d []byte) []byte { return d[:magic+64] },
		"longer":       func(d []byte) []byte { return append(d, 0) },
		"flipped bit":  func(d []byte) []byte { d[len(d)-1] ^= 1; return d },
		"other format": func(d []byte) []byte { d[0] ^= 1; return d },
		"other key":    func(d []byte) []byte { d[magic] ^= 1; return d },
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
	d.modules.images = code.New(dir)
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
	if f := cacheFinding(code.New(dir)); f.Advice == "" {
		t.Errorf("finding %+v has no advice", f)
	}
}

// TestForeignImages: what another user may have written is not loaded, and nothing waits for it.
func TestForeignImages(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("owners are not looked at")
	}
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
		images := code.New(dir)
		if n := moduleIn(t, images, "add", nil); n != 1 {
			t.Errorf("%s: compiled %d times", name, n)
		}
		if err := images.Refused(); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "WEFT_CACHE") {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s: the folder was written to", name)
		}
		if f := cacheFinding(code.New(dir)); !strings.Contains(f.Advice, "user") {
			t.Errorf("%s: finding %+v", name, f)
		}
	}
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
		images := code.New(dir)
		if n := moduleIn(t, images, "add", nil); n != 1 {
			t.Errorf("%s: compiled %d times", name, n)
		}
		if err := images.Refused(); err != nil {
			t.Error(err)
		}
		if n := moduleOf(t, dir, "add", nil); n != 0 && name != "folder" {
			t.Errorf("%s: the file was not replaced", name)
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
