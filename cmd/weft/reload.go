package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/vfs"
)

// readAgain gives next the queries of a watch whenever the texts of their files change, until ctx ends. It waits until a file is the same at two
// looks, because the first one may see a part of it. A mistake is a note, and the queries stay as they were.
func (a *app) readAgain(ctx context.Context, f *watchFlags, args []string, next chan<- []*weft.Query) {
	used := f.texts(ctx) // the queries were read before: what changed since then is read at the first look
	seen := ""
	for first := true; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(f.reload):
		}
		text := f.texts(ctx)
		if text != seen {
			seen = text
			continue
		}
		if text == used && !first {
			continue
		}
		used, first = text, false
		queries, err := f.queries(ctx, args)
		if err == nil {
			err = f.checkParams(queries)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.o.Note(err.Error() + "\nweft: the queries stay as they were")
			continue
		}
		select {
		case next <- queries:
		case <-ctx.Done():
			return
		}
	}
}

// texts returns the texts of all files of queries. A file that cannot be read has the error in place of a text, so that it differs from an empty
// one: the queries are then read, which gives the error to the user.
func (f *watchFlags) texts(ctx context.Context) (all string) {
	files := vfs.From(ctx)
	for _, path := range f.files {
		names := []string{path}
		if entries, err := files.ReadDir(path); err == nil {
			names = names[:0]
			for _, e := range entries {
				names = append(names, filepath.Join(path, e.Name()))
			}
		}
		for _, name := range names {
			b, err := vfs.ReadFile(files, name)
			if err != nil {
				all += name + "\x00\x00" + err.Error() + "\x00"
				continue
			}
			all += name + "\x00" + string(b) + "\x00"
		}
	}
	return all
}
