package cuda

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Compiled kernels on disk: a file for each, named by its key, with a header that tells a whole file from a
// broken one. Nothing here is an error to the caller: a cache that cannot be used costs time only.
//
// Files are written under another name and renamed, so that other processes see all of a file or none. Only the
// user may read or write them, since they are programs that will run.

const (
	imageMagic = "weft kernel image 1\n"
	imageExt   = ".kernel"
	imageTemp  = "new-"
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
func readImage(dir string, key imageKey) []byte {
	if dir == "" {
		return nil
	}
	path := imagePath(dir, key)
	data, err := os.ReadFile(path)
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
	os.Chtimes(path, now, now) // the oldest by this time goes first
	return image
}

// writeImage keeps an image and makes room for it.
func writeImage(dir string, key imageKey, image []byte) {
	if dir == "" || int64(len(image)) > imagesOnDisk/2 || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, imageTemp)
	if err != nil {
		return
	}
	sum := sha256.Sum256(image)
	_, err = f.Write(slices.Concat([]byte(imageMagic), key[:], sum[:], image))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), imagePath(dir, key))
	}
	if err != nil {
		os.Remove(f.Name())
		return
	}
	trimImages(dir)
}

func dropImage(dir string, key imageKey) {
	if dir != "" {
		os.Remove(imagePath(dir, key))
	}
}

// trimImages removes the images that have not been used for longest until the rest fits, and files that a
// process left behind when it was killed while writing.
func trimImages(dir string) {
	entries, err := os.ReadDir(dir)
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
		switch {
		case strings.HasSuffix(e.Name(), imageExt):
			files = append(files, info)
			total += info.Size()
		case strings.HasPrefix(e.Name(), imageTemp) && time.Since(info.ModTime()) > time.Hour:
			os.Remove(filepath.Join(dir, e.Name()))
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
		if os.Remove(filepath.Join(dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}

// countImages is how many images a cache directory has, and their bytes.
func countImages(dir string) (files int, bytes int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), imageExt) {
			files++
			bytes += info.Size()
		}
	}
	return files, bytes
}

// writable says why images cannot be kept in a directory, which is made if it is not there.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, imageTemp)
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}
