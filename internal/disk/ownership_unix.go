//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/weftgraph/weft/internal/vfs"
)

// A file that is about to be loaded as code must not be another user's. The checks use open files, so that
// no other file can take their place between the check and the reading.

// CheckOwn returns an error if users other than this one may change the contents of a folder. The error is
// fs.ErrNotExist if there is no such folder.
func CheckOwn(fsys vfs.FS, dir string) error {
	f, err := openOwn(fsys, dir, syscall.O_DIRECTORY)
	if err != nil {
		return err
	}
	return f.Close()
}

// ReadOwn reads a file that no other user can have written. It does not wait where the name is a pipe's.
func ReadOwn(fsys vfs.FS, name string) ([]byte, error) {
	f, err := openOwn(fsys, name, syscall.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// openOwn opens a regular file, or with O_DIRECTORY a folder, that belongs to this user and that nobody else may write.
func openOwn(fsys vfs.FS, name string, flags int) (vfs.File, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = notOwn(info, flags&syscall.O_DIRECTORY != 0)
	}
	if err != nil {
		f.Close()
		return nil, &ForeignError{name, err}
	}
	return f, nil
}

func notOwn(info os.FileInfo, dir bool) error {
	switch uid := owner(info); {
	case !dir && !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	case uid != os.Geteuid():
		return fmt.Errorf("belongs to user %d, and this is user %d", uid, os.Geteuid())
	}
	return openToOthers(info)
}

// openToOthers says that users other than the owner may write a file. A group of the same number as the owner is
// the owner's own.
func openToOthers(info os.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	if mode := info.Mode().Perm(); !ok || mode&0o002 != 0 || mode&0o020 != 0 && s.Gid != s.Uid {
		return fmt.Errorf("may be written by other users (mode %04o)", mode)
	}
	return nil
}

// Trusted returns where a file really is, links followed. The error says which user other than root and this one
// may change the file, the folder that it is in, or the way to it.
func Trusted(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", err
	}
	for at, depth := path, 0; ; at, depth = filepath.Dir(at), depth+1 {
		info, err := os.Lstat(at)
		if err != nil {
			return "", err
		}
		if err := notTrusted(info, depth > 1); err != nil {
			return "", &ForeignError{at, err}
		}
		if at == filepath.Dir(at) {
			return path, nil
		}
	}
}

// notTrusted checks a part of a path. In a sticky folder above, such as /tmp, nobody can replace another user's
// file.
func notTrusted(info os.FileInfo, above bool) error {
	if uid := owner(info); uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("belongs to user %d, neither root nor this user", uid)
	}
	if above && info.Mode()&os.ModeSticky != 0 {
		return nil
	}
	return openToOthers(info)
}
