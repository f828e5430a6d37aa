package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/vfs"
)

// mostHistory is how many statements a history keeps.
const mostHistory = 2000

// history has the statements of this shell and of earlier ones: a line of JSON each, so that a statement over several lines stays
// whole. It implements readline's Source.
type history struct {
	files  vfs.FS
	path   string // "" if nothing is kept
	lines  []string
	failed error // of the first write that failed, until it is reported
}

// openHistory reads the file that WEFT_HISTORY names, or weft/history in the folder for the state of programs. Of "off" it keeps nothing.
func openHistory(ctx context.Context) (*history, error) {
	h := &history{files: vfs.From(ctx), path: os.Getenv("WEFT_HISTORY")}
	switch {
	case h.path == "off":
		h.path = ""
		return h, nil
	case h.path != "":
	default:
		dir := os.Getenv("XDG_STATE_HOME")
		if !filepath.IsAbs(dir) {
			home, err := os.UserHomeDir()
			if err != nil {
				return h, err
			}
			dir = filepath.Join(home, ".local", "state")
		}
		h.path = filepath.Join(dir, "weft", "history")
	}
	all, err := vfs.ReadFile(h.files, h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	} else if err != nil {
		h.path = ""
		return h, err
	}
	for line := range bytes.Lines(all) {
		var text string
		if json.Unmarshal(line, &text) == nil { // a line that a crash cut is left out
			h.lines = append(h.lines, text)
		}
	}
	if len(h.lines) > mostHistory {
		h.lines = slices.Clone(h.lines[len(h.lines)-mostHistory/2:])
		h.failed = h.rewrite(ctx)
	}
	return h, nil
}

// rewrite leaves the kept statements in the file.
func (h *history) rewrite(ctx context.Context) error {
	f, err := disk.Create(ctx, h.files, h.path)
	if err != nil {
		return err
	}
	defer f.Abort()
	for _, x := range h.lines {
		if _, err := f.Write(jsonLine(x)); err != nil {
			return err
		}
	}
	return f.Commit()
}

func jsonLine(text string) []byte {
	line, _ := json.Marshal(text) // of a string it cannot fail
	return append(line, '\n')
}

// Write implements readline's Source.
func (h *history) Write(text string) (int, error) {
	text = strings.TrimRight(text, " \t\n")
	if text == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == text {
		return len(h.lines), nil
	}
	h.lines = append(h.lines, text)
	if h.path == "" || h.failed != nil {
		return len(h.lines), nil
	}
	h.failed = func() error {
		if err := h.files.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
			return err
		}
		f, err := h.files.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(jsonLine(text))
		return errors.Join(err, f.Close())
	}()
	return len(h.lines), nil
}

// GetLine implements readline's Source.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.lines) {
		return "", fmt.Errorf("no statement %d", i)
	}
	return h.lines[i], nil
}

// Len implements readline's Source.
func (h *history) Len() int { return len(h.lines) }

// Dump implements readline's Source.
func (h *history) Dump() any { return h.lines }
