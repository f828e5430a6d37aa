package graph

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/vfs"
)

// Records say which versions of large graph files were verified, so that a file is
// verified once, and again when it has changed. There is a small text for each file, in
// the folder "verified" of the folder of caches (disk.CacheDir). A record is only
// believed where this user alone can write it. Nothing here is an error to the caller:
// without a record a file is verified.

// A version is a state of a file. Each write to the file makes another one.
type version struct {
	device, inode     uint64
	size              int64
	modified, changed stamp // the system sets the second, and no program can set it back
}

// stamp is a time of a file.
type stamp struct{ sec, nsec int64 }

// settleTime is more than the clock of a file system takes for a tick: some have ticks of
// two seconds. A variable for tests.
var settleTime = 2 * time.Second

// settled reports whether a write after now makes another version: one in the same tick of
// the clock as the last would not.
func (v version) settled(now time.Time) bool {
	return now.Sub(time.Unix(v.changed.sec, v.changed.nsec)) > settleTime
}

const (
	recordExt  = ".verified"
	recordSize = 512 // the most bytes of a record
)

// mostRecords bounds the files of the folder. A variable for tests.
var mostRecords = 1000

// recordPath is where the record of a file is in a folder of caches, or "" where none is kept.
func recordPath(cache string, v version) string {
	if cache = disk.CacheDir(cache); cache == "" {
		return ""
	}
	return filepath.Join(cache, "verified", fmt.Sprintf("%x-%x%s", v.device, v.inode, recordExt))
}

// recordOf is the text of the record of a file that was verified.
func recordOf(m *mapping) string {
	v := m.version
	return fmt.Sprintf("weft verified 1\nsize %d\nmodified %d %d\nchanged %d %d\nheader %08x\n",
		v.size, v.modified.sec, v.modified.nsec, v.changed.sec, v.changed.nsec, binary.LittleEndian.Uint32(m.data[60:]))
}

// hasRecord reports whether this version of a file was verified.
func hasRecord(fsys vfs.FS, path string, m *mapping) bool {
	if path == "" {
		return false
	}
	for _, name := range []string{filepath.Dir(path), path} {
		info, err := fsys.Lstat(name)
		if err != nil || !private(info) || name == path && (!info.Mode().IsRegular() || info.Size() > recordSize) {
			return false
		}
	}
	text, err := vfs.ReadFile(fsys, path)
	return err == nil && string(text) == recordOf(m)
}

// putRecord says that this version of a file was verified.
func putRecord(fsys vfs.FS, path string, m *mapping) {
	if path == "" {
		return
	}
	dir := filepath.Dir(path)
	if fsys.MkdirAll(dir, 0o700) != nil {
		return
	}
	if info, err := fsys.Lstat(dir); err != nil || !info.IsDir() || !private(info) {
		return // it would not be believed, and old files there are not this program's to remove
	}
	f, err := disk.NewTemp(fsys, dir, "new", 0o600)
	if err != nil {
		return
	}
	if _, err := f.Write([]byte(recordOf(m))); err != nil {
		f.Remove()
		return
	}
	if f.Rename(path) == nil {
		trimRecords(fsys, dir)
	}
}

// trimRecords removes the oldest records where there are too many.
func trimRecords(fsys vfs.FS, dir string) {
	entries, err := fsys.ReadDir(dir)
	if err != nil || len(entries) <= mostRecords {
		return
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), recordExt) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files[:max(0, len(files)-mostRecords*3/4)] {
		_ = fsys.Remove(filepath.Join(dir, f.Name()))
	}
}
