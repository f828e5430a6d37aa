package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/weftgraph/weft/internal/vfs"
)

// CommitAll commits files that belong together. After success all of them have their names. After an error none is
// left, and the earlier files are there again.
//
// If the file system has no hard links, or refuses to undo a change of names, the error says which file is new
// nevertheless. After a crash of the machine in the middle some files may be new and others not.
func CommitAll(files ...*File) error {
	files = slices.Clone(files)
	for i, f := range files {
		if err := f.Settle(); err != nil {
			abort(slices.Delete(files, i, i+1))
			return err
		}
	}
	// A file written in place gets no name and cannot be undone, so it comes first.
	slices.SortStableFunc(files, func(a, b *File) int {
		switch {
		case a.temp == nil && b.temp != nil:
			return -1
		case a.temp != nil && b.temp == nil:
			return 1
		}
		return 0
	})
	var kept []before
	for i, f := range files {
		var was before
		if f.temp != nil && i < len(files)-1 { // nothing comes after the last that can fail
			was = f.before()
		}
		if err := f.Commit(); err != nil {
			was.forget()
			abort(files[i+1:])
			for _, was := range slices.Backward(kept) {
				if left := was.restore(); left != nil {
					err = fmt.Errorf("%w; and %s is new already: %w", err, was.file.name, left)
				}
			}
			return err
		}
		if was.file != nil {
			kept = append(kept, was)
		}
	}
	for _, was := range kept {
		was.forget()
	}
	return nil
}

func abort(files []*File) {
	for _, f := range files {
		f.Abort()
	}
}

// before remembers the file that had the name before.
type before struct {
	file *File
	old  *Temp // a second name of it; nil: there was nothing, or err
	err  error // why it has no second name
}

// before gives the existing file of this name a second name.
func (f *File) before() before {
	dir, base := filepath.Split(f.target)
	old, path, err := newTemp(f.fsys, dir, base, func(path string) (vfs.File, error) {
		open, err := vfs.Open(f.fsys, f.target)
		if err != nil {
			return nil, err
		}
		if err := f.fsys.Link(f.target, path); err != nil {
			_ = open.Close()
			return nil, err
		}
		return open, nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return before{file: f}
	case err != nil:
		return before{file: f, err: fmt.Errorf("the file before cannot be kept: %w", cause(err))}
	}
	return before{file: f, old: &Temp{fsys: f.fsys, open: old, path: path}}
}

// restore gives the earlier file its name again.
func (b before) restore() error {
	err := b.err
	switch {
	case err != nil:
		return err
	case b.old != nil:
		err = b.old.Rename(b.file.target)
	default:
		err = b.file.fsys.Remove(b.file.target)
	}
	b.file.syncFolder(b.file.target)
	return cause(err)
}

// forget removes the second name.
func (b before) forget() {
	if b.old != nil {
		b.old.Remove()
	}
}
