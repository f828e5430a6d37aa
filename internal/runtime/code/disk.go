package code

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

// Folder is the folder of compiled code in a folder of caches; see disk.CacheDir. It is "" where there is none.
func Folder(cache string) string {
	if cache = disk.CacheDir(cache); cache != "" {
		cache = filepath.Join(cache, "kernels")
	}
	return cache
}

func (s *Cache) path(key Key) string {
	return filepath.Join(s.dir, hex.EncodeToString(key[:])+imageExt)
}

// read returns a kept image, or nil.
func (s *Cache) read(files vfs.FS, key Key) []byte {
	if s.dir == "" || !s.own(files) {
		return nil
	}
	path := s.path(key)
	data, err := disk.ReadOwn(files, path)
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
	files.Chtimes(path, now, now) // the oldest by this time goes first
	return image
}

// write keeps an image and makes room for it.
func (s *Cache) write(files vfs.FS, key Key, image []byte) {
	if s.dir == "" || int64(len(image)) > s.room/2 || files.MkdirAll(s.dir, 0o700) != nil || !s.own(files) {
		return
	}
	f, err := disk.NewTemp(files, s.dir, "new", 0o600)
	if err != nil {
		return
	}
	sum := sha256.Sum256(image)
	_, err = f.Write(slices.Concat([]byte(imageMagic), key[:], sum[:], image))
	if err != nil {
		f.Remove()
		return
	}
	if f.Rename(s.path(key)) == nil {
		s.trim(files)
	}
}

func (s *Cache) remove(files vfs.FS, key Key) {
	if s.dir != "" && s.own(files) {
		files.Remove(s.path(key))
	}
}

// trim removes the images that have not been used for longest until the rest fits.
func (s *Cache) trim(fsys vfs.FS) {
	entries, err := fsys.ReadDir(s.dir)
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
	if total <= s.room {
		return
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= s.room/4*3 {
			return
		}
		if fsys.Remove(filepath.Join(s.dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}

// Count is the number of images in the folder, and their bytes.
func (s *Cache) Count() (files int, bytes int64) {
	entries, _ := vfs.Or(s.files).ReadDir(s.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), imageExt) {
			files++
			bytes += info.Size()
		}
	}
	return files, bytes
}

// Writable says why images cannot be kept in the folder, which is made if it is not there.
func (s *Cache) Writable() error {
	files := vfs.Or(s.files)
	if err := files.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if err := disk.CheckOwn(files, s.dir); err != nil {
		return err
	}
	f, err := disk.NewTemp(files, s.dir, "new", 0o600)
	if err != nil {
		return err
	}
	f.Remove()
	return nil
}

// own reports whether only this user may change the contents of the folder.
func (s *Cache) own(files vfs.FS) bool {
	err := disk.CheckOwn(files, s.dir)
	if errors.As(err, new(*disk.ForeignError)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.foreign = fmt.Errorf("compiled code is neither loaded from the cache nor kept: %w; set WEFT_CACHE to a folder of your own, or to off", err)
	}
	return err == nil
}

// Refused says why the folder was not used, if another user may have written to it.
func (s *Cache) Refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.foreign
}
