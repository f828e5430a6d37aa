package stream

import (
	"context"
	"fmt"
	"io"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/vfs"
)

// recordSize is the most bytes of lines that Record appends together, besides the last one.
const recordSize = 64 << 10

// Record appends the lines of a text to a log, as soon as they are there, and several together if they are. Path and stdin are those of Open. A
// last line without a line end may be the beginning of a longer one: it is not appended, and left is its size in bytes. The error is that of
// append, or as that of Lines.
func Record(ctx context.Context, fsys vfs.FS, path string, stdin io.Reader, appendLines func(text []byte, lines int64) error) (left int64, err error) {
	lines, rows, err := format.OpenLinesOrRows(ctx, fsys, path, stdin, nil)
	if err != nil {
		return 0, err
	}
	if rows != nil {
		rows.Close()
		return 0, &format.Error{File: path, Offset: -1, Cause: fmt.Errorf("%w: the log takes lines, and this is a table of the format %s: write it to a file, and read that", format.ErrHeader, rows.Format())}
	}
	defer lines.Close()
	lines.Whole()
	var buf []byte
	n := int64(0)
	for {
		line, err := lines.Next()
		if err == nil {
			buf = append(append(buf, line...), '\n')
			n++
		}
		if n > 0 && (err != nil || !lines.Waiting() || len(buf) >= recordSize) {
			if failed := appendLines(buf, n); failed != nil {
				return 0, failed
			}
			buf, n = buf[:0], 0
		}
		if err == io.EOF {
			return lines.Left(), nil
		}
		if err != nil {
			return 0, fmt.Errorf("%w; the lines before it are in the log", err)
		}
	}
}
