package graph

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/vfs"
)

// Write writes the graph in its file form. Property columns are encoded in
// memory first; the rest is written as it lies.
func (g *Graph) Write(w io.Writer) error {
	if !littleEndian() {
		return errBigEndian
	}
	var secs []section
	var data [][]byte
	add := func(kind uint32, b []byte) {
		secs = append(secs, section{kind: kind, length: uint64(len(b))})
		data = append(data, b)
	}
	g.lists(add)
	m := fileMeta{VertexLabels: toBytes(g.VertexLabels), EdgeLabels: toBytes(g.EdgeLabels), Read: g.Read, Classes: g.fileClasses()}
	meta, err := json.Marshal(&m)
	if err != nil {
		return err
	}
	add(secMeta, meta)
	if err := g.attributes(add); err != nil {
		return err
	}
	stats, err := json.Marshal(g.Stats())
	if err != nil {
		return err
	}
	add(secStats, stats)

	at := uint64(headerBytes + entryBytes*len(secs))
	for i := range secs {
		at = (at + sectionPad - 1) / sectionPad * sectionPad
		secs[i].off = at
		at += secs[i].length
	}
	threads := threadCount(0)
	if at <= tinyFile {
		threads = 1
	}
	_ = parallel(context.Background(), threads, uint64(len(secs)), 1, func(_ int, i, _ uint64) {
		s := &secs[i]
		s.crc = crc32.Checksum(data[i], castagnoli)
		if s.kind == secEdgeProps || s.kind == secVertexProps {
			s.head, s.tail = arrowParts(data[i])
			s.headCRC, _ = s.headSum(data[i])
		}
	})
	bw := bufio.NewWriterSize(w, int(min(at, 1<<20)))
	head := g.header(secs, at)
	if _, err := bw.Write(head); err != nil {
		return err
	}
	at = uint64(len(head))
	var pad [sectionPad]byte
	for i, s := range secs {
		if _, err := bw.Write(pad[:s.off-at]); err != nil {
			return err
		}
		if _, err := bw.Write(data[i]); err != nil {
			return err
		}
		at = s.off + s.length
	}
	return bw.Flush()
}

// lists gives add the sections of neighbours and ids.
func (g *Graph) lists(add func(kind uint32, b []byte)) {
	add(secOutOff, bigAsBytes(g.Out.Off))
	add(secOutAdj, bigAsBytes(g.Out.Adj))
	if g.Directed {
		add(secInOff, bigAsBytes(g.In.Off))
		add(secInAdj, bigAsBytes(g.In.Adj))
	}
	if g.IDs.Numeric() {
		add(secIDNum, bigAsBytes(g.IDs.Num))
	} else {
		add(secIDStrOff, bigAsBytes(g.IDs.StrOff))
		add(secIDStrBytes, g.IDs.StrBytes)
	}
}

// attributes gives add the sections of the edge table and of properties.
func (g *Graph) attributes(add func(kind uint32, b []byte)) error {
	if t := g.Edges; t != nil {
		add(secEdgeOff, bigAsBytes(t.Off))
		add(secEdgeDst, bigAsBytes(t.Dst))
		add(secEdgeSrc, bigAsBytes(t.Src))
		if t.Label != nil {
			add(secEdgeLabel, bigAsBytes(t.Label))
		}
		if t.Time != nil {
			add(secEdgeTime, bigAsBytes(t.Time))
		}
		if t.Props != nil {
			b, err := encodeRecord(t.Props)
			if err != nil {
				return err
			}
			add(secEdgeProps, b)
		}
	}
	if g.VertexProps != nil {
		b, err := encodeRecord(g.VertexProps)
		if err != nil {
			return err
		}
		add(secVertexProps, b)
	}
	return nil
}

func (g *Graph) fileClasses() (out []fileClass) {
	for _, c := range g.Classes {
		out = append(out, fileClass(c))
	}
	return out
}

// header returns the header and the section table.
func (g *Graph) header(secs []section, size uint64) []byte {
	b := make([]byte, headerBytes+entryBytes*len(secs))
	copy(b, fileMagic)
	binary.LittleEndian.PutUint32(b[8:], fileVersion)
	binary.LittleEndian.PutUint32(b[12:], uint32(len(secs)))
	binary.LittleEndian.PutUint64(b[16:], size)
	binary.LittleEndian.PutUint64(b[24:], uint64(g.NumVertices()))
	if g.Directed {
		binary.LittleEndian.PutUint64(b[32:], flagDirect)
	}
	for i := range secs {
		secs[i].put(b[headerBytes+entryBytes*i:])
	}
	binary.LittleEndian.PutUint32(b[60:], headerSum(b))
	return b
}

// headerSum is the checksum of header and table, the sum's own place left out.
func headerSum(b []byte) uint32 {
	c := crc32.Checksum(b[:60], castagnoli)
	return crc32.Update(c, castagnoli, b[headerBytes:])
}

func encodeRecord(r arrow.RecordBatch) ([]byte, error) {
	var buf bytes.Buffer
	w, err := ipc.NewFileWriter(&buf, ipc.WithSchema(r.Schema()))
	if err != nil {
		return nil, fmt.Errorf("graph: properties: %w", err)
	}
	if err := w.Write(r); err != nil {
		return nil, fmt.Errorf("graph: properties: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("graph: properties: %w", err)
	}
	return buf.Bytes(), nil
}

// arrowParts returns how many bytes at the beginning and the end of an Arrow
// IPC file of one record are not column data. The file is a magic number, a
// schema message, the record's message, its columns, and a footer; with
// dictionaries there are more messages, and all of it counts.
func arrowParts(b []byte) (head, tail uint32) {
	message := func(at int) (end int, ok bool) {
		if at+8 > len(b) || binary.LittleEndian.Uint32(b[at:]) != ^uint32(0) {
			return 0, false
		}
		return at + 8 + int(binary.LittleEndian.Uint32(b[at+4:])), true
	}
	all := uint32(min(uint64(len(b)), 1<<31))
	if len(b) < 26 {
		return all, 0
	}
	tail = binary.LittleEndian.Uint32(b[len(b)-10:]) + 10
	schema, ok := message(8)
	if !ok {
		return all, 0
	}
	end, ok := message(schema)
	if r, err := ipc.NewMappedFileReader(b); !ok || err != nil || r.NumRecords() != 1 || r.NumDictionaries() != 0 {
		return all, 0
	}
	return uint32(end), tail
}

// WriteFile writes the graph to a file. The file appears under its name only
// when it is complete and on the disk; on an error nothing is left.
func (g *Graph) WriteFile(fsys vfs.FS, path string) error {
	f, err := disk.Create(context.Background(), fsys, path)
	if err != nil {
		return err
	}
	if err := g.Write(f); err != nil {
		f.Abort()
		return err
	}
	return f.Commit()
}
