package format

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/weftgraph/weft/internal/vfs"
)

// Lines reads a text line by line, from a file, plain or compressed, or from a pipe. It gives each line as soon as the line
// is there. It is not safe for concurrent use.
type Lines struct {
	src  *source
	r    io.ReadCloser
	buf  []byte
	at   int   // the first byte of buf that was not given yet
	off  int64 // of buf[at] in the decompressed text
	n    int64 // lines given so far
	err  error // the end, after the bytes of buf
	line block // the line given last

	whole bool // a last line without a line end is left
	left  int64
}

// Whole makes Next leave a last line that has no line end, as if the text ended before it: it may be the beginning of a longer one.
func (l *Lines) Whole() { l.whole = true }

// Left returns the number of bytes that Whole made Next leave at the end.
func (l *Lines) Left() int64 { return l.left }

// OpenLines opens a text. "-" is stdin, or the standard input if that is nil. The error is the file system's, or an *Error about
// a compressed stream.
func OpenLines(ctx context.Context, fsys vfs.FS, path string, stdin io.Reader, progress Progress) (*Lines, error) {
	src, err := openSource(ctx, vfs.Or(fsys), path, stdin, progress)
	if err != nil {
		return nil, err
	}
	l := &Lines{src: src, buf: make([]byte, 0, blockSize)}
	if l.r, err = src.open(); err != nil {
		src.close()
		return nil, err
	}
	return l, nil
}

// Next returns the next line without its line end, valid until the next call. It blocks until the line is there. A carriage
// return before the line end is a part of the line. A mark of byte order at the beginning is not.
//
// An *Error with ErrLongLine is about one line, after which Next goes on. Any other error ends the text: io.EOF, an *Error
// about a damaged compressed stream or a text in UTF-16, an error of the file system, or the context's cause.
func (l *Lines) Next() ([]byte, error) {
	looked, long := 0, false // bytes from at on without a line end; whether the line began earlier than at
	start := l.off
	for {
		if i := bytes.IndexByte(l.buf[l.at+looked:], '\n'); i >= 0 {
			return l.give(looked+i, 1, long)
		}
		looked = len(l.buf) - l.at
		if l.err != nil {
			if looked == 0 && !long || l.err != io.EOF { // the rest of a text that failed may be a part of a line
				return nil, l.err
			}
			if l.whole {
				l.left = l.off + int64(looked) - start
				l.at, l.off = len(l.buf), start
				return nil, io.EOF
			}
			return l.give(looked, 0, long)
		}
		if looked > maxLine {
			if !long { // the error shows how it begins
				l.line = block{data: bytes.Clone(l.buf[l.at : l.at+maxLine]), off: l.off, line: l.n}
			}
			long = true
			l.at, l.off, looked = len(l.buf), l.off+int64(looked), 0
		}
		l.fill()
	}
}

// give gives the n bytes at l.at, which a line end of size end follows. If long is set they are the rest of a line that is too long.
func (l *Lines) give(n, end int, long bool) ([]byte, error) {
	line, off := l.buf[l.at:l.at+n], l.off
	l.at += n + end
	l.off += int64(n + end)
	l.n++
	if long {
		return nil, l.Place(At(0, l.line.data, ErrLongLine))
	}
	if off == 0 && bytes.HasPrefix(line, bom) {
		line, off = line[len(bom):], int64(len(bom))
	}
	l.line = block{data: line, off: off, line: l.n - 1}
	if off == 0 && isUTF16(line) && bytes.IndexByte(line, 0) >= 0 { // no line of it can be read
		l.err = l.Place(At(0, line, fmt.Errorf("%w: %s", ErrUnknown, utf16Reason)))
		l.buf, l.at = l.buf[:0], 0
		return nil, l.err
	}
	if len(line) > maxLine {
		return nil, l.Place(At(0, line, ErrLongLine))
	}
	return line, nil
}

// fill reads what is there, at least one byte, or sets err.
func (l *Lines) fill() {
	if l.at > 0 {
		l.buf = l.buf[:copy(l.buf, l.buf[l.at:])]
		l.at = 0
	}
	if len(l.buf) == cap(l.buf) {
		l.buf = append(make([]byte, 0, 2*cap(l.buf)), l.buf...)
	}
	for l.err == nil {
		if err := context.Cause(l.src.ctx); err != nil {
			l.err = err
			return
		}
		n, err := l.r.Read(l.buf[len(l.buf):cap(l.buf)])
		l.buf = l.buf[:len(l.buf)+n]
		if err != nil {
			l.err = err
			if err != io.EOF {
				l.err = l.src.readError(err, l.off+int64(len(l.buf)-l.at))
			}
		}
		if n > 0 {
			return
		}
	}
}

// Waiting reports whether Next returns at once, because the next line or the end of the text was already read.
func (l *Lines) Waiting() bool { return l.err != nil || bytes.IndexByte(l.buf[l.at:], '\n') >= 0 }

// Position returns the number of lines that Next gave, and the byte of the decompressed text that follows them.
func (l *Lines) Position() (lines, offset int64) { return l.n, l.off }

// Line returns where the line begins that Next gave last: its number, from 1, and its byte in the decompressed text.
func (l *Lines) Line() (file string, line, offset int64) {
	return l.src.name, l.line.line + 1, l.line.off
}

// Place adds file, line and byte to an error of At about the line that Next gave last. Other errors it returns as they are.
func (l *Lines) Place(err error) error { return l.src.place(err, &l.line) }

// Close closes the file.
func (l *Lines) Close() error {
	l.err = io.EOF
	err := l.r.Close()
	l.src.close()
	return err
}

// At returns an error about a field of a line, which begins at byte pos, from 0. Place makes an *Error of it.
func At(pos int, field []byte, err error) error { return &spot{pos: pos, field: field, err: err} }

// Place adds the name of an input of one line to an error of At. Other errors it returns as they are.
func Place(name string, line []byte, err error) error {
	src := source{name: name}
	return src.place(err, &block{data: line})
}

// Fields are the fields of a line.
type Fields struct{ f fields }

// Split cuts line[from:] at a separator, where double quotes enclose fields, or at runs of blanks and tabs if sep is 0. A blank
// line or a comment, which begins with # or %, has no fields. The error is one of At.
func (x *Fields) Split(line []byte, from int, sep byte) error { return x.f.split(line, from, sep) }

// Len returns the number of fields.
func (x *Fields) Len() int { return x.f.n }

// At returns a field, and the place of its first byte in the line.
func (x *Fields) At(i int) (field []byte, pos int) { return x.f.at[i].b, x.f.at[i].pos }

// CheckText returns an error of At if a field is not UTF-8, or has control characters.
func CheckText(b []byte, pos int) error { return text(field{b, pos}) }

// Wrong returns the error of At about a field that begins at byte pos, for the cause err. A field with control characters is
// not text, which is the cause then.
func Wrong(b []byte, pos int, err error) error {
	if i := binaryByte(b); i >= 0 {
		return notText(b, pos, i)
	}
	return At(pos, b, err)
}

// ParseFixed reads a decimal number as an integer of units 10^-scale. digits is the number of digits after the point that
// it needs; if they are more than scale, v is not set. The error is ErrNumber or ErrOverflow.
func ParseFixed(b []byte, scale int) (v int64, digits int, err error) { return parseFixed(b, scale) }

// Excerpt escapes and shortens a text for a message.
func Excerpt(b []byte) string { return excerpt(b) }

// UnixUnit returns the unit, s, ms, us or ns, in which x looks like a Unix time, or "".
func UnixUnit(x int64) string {
	for _, u := range unixUnits {
		if looksUnix(x, u.ns, 0) {
			return u.name
		}
	}
	return ""
}
