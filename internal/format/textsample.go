package format

import (
	"bytes"
)

// sample is the data lines of the head of a text, for guessing.
type sample struct {
	lines    [][]byte
	offsets  []int64
	comments [][]byte
	remarks  []int64    // where comments begin
	rows     [][][]byte // the fields of lines
	first    int64      // offset of the first line after a BOM and the skipped lines
	all      bool       // there are no other lines
}

func sampleLines(head []byte, whole bool, skip int) (sample, error) {
	var s sample
	pos := 0
	if bytes.HasPrefix(head, bom) {
		pos = len(bom)
	}
	for ; skip > 0; skip-- {
		i := bytes.IndexByte(head[pos:], '\n')
		if i < 0 {
			if !whole {
				return s, wrapf(ErrHeader, "the lines to skip are longer than %d bytes", headSize)
			}
			pos = len(head)
			break
		}
		pos += i + 1
	}
	s.first = int64(pos)
	for pos < len(head) && len(s.lines) < 4000 {
		i := bytes.IndexByte(head[pos:], '\n')
		end := pos + i
		if i < 0 {
			if !whole && len(s.lines) > 0 {
				break // a part of a line
			}
			end = len(head)
		}
		line := bytes.TrimRight(head[pos:end], " \t\r")
		if t := bytes.TrimLeft(line, " \t"); len(t) == 0 {
			// blank
		} else if isComment(t) {
			s.remarks = append(s.remarks, int64(pos))
			if len(s.comments) < 20 {
				s.comments = append(s.comments, t)
			}
		} else {
			s.lines = append(s.lines, bytes.TrimRight(head[pos:end], "\r"))
			s.offsets = append(s.offsets, int64(pos))
		}
		pos = end + 1
	}
	s.all = whole && pos >= len(head)
	return s, nil
}

// after is the offset of the line after line i.
func (s *sample) after(head []byte, i int) int64 {
	if n := bytes.IndexByte(head[s.offsets[i]:], '\n'); n >= 0 {
		return s.offsets[i] + int64(n) + 1
	}
	return int64(len(head))
}

// heads is the number of comments between where the data may begin and their first line.
func (s *sample) heads(start int64) (n uint64) {
	for _, at := range s.remarks {
		if at >= start && (len(s.offsets) == 0 || at < s.offsets[0]) {
			n++
		}
	}
	return n
}
