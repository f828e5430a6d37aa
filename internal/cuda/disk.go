package cuda

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/vfs"
)

// Compiled kernels on disk: a file for each, named by its key, with a header that tells a whole file from a
// broken one. Nothing here is an error to the caller: a cache that cannot be used costs time only.
//
// Files are written under another name and renamed, so that other processes see all of a file or none. Since they
// are programs that will run, a folder or a file that another user may have written is not used: Refused says so.

const (
	imageMagic = "weft kernel image 1\n"
	imageExt   = ".kernel"
)

// imagesOnDisk bounds the bytes of a cache directory. A variable for tests.
var imagesOnDisk int64 = 512 << 20

// cacheDir is where compiled kernels are kept: WEFT_CACHE/kernels, or weft/kernels in the user's cache directory;
// "" where there is none, or WEFT_CACHE is "off".
func cacheDir() string {
	dir := os.Getenv("WEFT_CACHE")
	if dir == "off" {
		return ""
	}
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(user, "weft")
	}
	return filepath.Join(dir, "kernels")
}

func imagePath(dir string, key imageKey) string {
	return filepath.Join(dir, hex.EncodeToString(key[:])+imageExt)
}

// readImage returns a kept image, or nil.
func readImage(fsys vfs.FS, dir string, key imageKey) []byte {
	if dir == "" {
		return nil
	}
	path := imagePath(dir, key)
	if !own(fsys, dir) {
		return nil
	}
	data, err := disk.ReadOwn(fsys, path)
	if err != nil {
		return nil
	}
	rest, ok := bytes.CutPrefix(data, append([]byte(imageMagic), key[:]...))
	if !ok || len(rest) <= sha256.Size {
		return nil
	}
	image := rest[sha256.Size:]
	if sum := sha256.Sum256(image); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return nil
	}
	now := time.Now()
	fsys.Chtimes(path, now, now) // the oldest by this time goes first
	return image
}

// writeImage keeps an image and makes room for it.
func writeImage(fsys vfs.FS, dir string, key imageKey, image []byte) {
	if dir == "" || int64(len(image)) > imagesOnDisk/2 || fsys.MkdirAll(dir, 0o700) != nil || !own(fsys, dir) {
		return
	}
	f, err := disk.NewTemp(fsys, dir, "new", 0o600)
	if err != nil {
		return
	}
	sum := sha256.Sum256(image)
	_, err = f.Write(slices.Concat([]byte(imageMagic), key[:], sum[:], image))
	if err != nil {
		f.Remove()
		return
	}
	if f.Rename(imagePath(dir, key)) == nil {
		trimImages(fsys, dir)
	}
}

func dropImage(fsys vfs.FS, dir string, key imageKey) {
	if dir != "" && own(fsys, dir) {
		fsys.Remove(imagePath(dir, key))
	}
}

// trimImages removes the images that have not been used for longest until the rest fits.
func trimImages(fsys vfs.FS, dir string) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if strings.HasSuffix(e.Name(), imageExt) {
			files = append(files, info)
			total += info.Size()
		}
	}
	if total <= imagesOnDisk {
		return
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= imagesOnDisk/4*3 {
			return
		}
		if fsys.Remove(filepath.Join(dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}

// countImages is how many images a cache directory has, and their bytes.
func countImages(fsys vfs.FS, dir string) (files int, bytes int64) {
	entries, _ := fsys.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), imageExt) {
			files++
			bytes += info.Size()
		}
	}
	return files, bytes
}

// writable says why images cannot be kept in a directory, which is made if it is not there.
func writable(fsys vfs.FS, dir string) error {
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := disk.CheckOwn(fsys, dir); err != nil {
		return err
	}
	f, err := disk.NewTemp(fsys, dir, "new", 0o600)
	if err != nil {
		return err
	}
	f.Remove()
	return nil
}

// refused is why the cache was not used.
var refused atomic.Pointer[error]

// own reports whether nobody but this user may change what is in a cache directory.
func own(fsys vfs.FS, dir string) bool {
	err := disk.CheckOwn(fsys, dir)
	if errors.As(err, new(*disk.ForeignError)) {
		err = fmt.Errorf("compiled code is neither loaded from the cache nor kept: %w; set WEFT_CACHE to a folder of your own, or to off", err)
		refused.Store(&err)
	}
	return err == nil
}

// Refused says why the folder of compiled code was not used, if one was wanted and another user may have written to it.
func Refused() error {
	if err := refused.Load(); err != nil {
		return *err
	}
	return nil
}
