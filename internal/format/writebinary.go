package format

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strconv"
)

// gmatch writes gMatch's binary adjacency.
func (w *writing) gmatch(out io.Writer) error {
	g := w.g
	order, _ := denseIDs(g, 0)
	pos := ranks(order)
	list := g.Any().List
	arcs := uint64(len(g.Any().Adj))
	if arcs/2 > math.MaxUint32 {
		return wrapf(ErrLoss, "%d edges; the format counts them in 32 bits", arcs/2)
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(order)))
	b = binary.LittleEndian.AppendUint32(b, uint32(arcs/2))
	off := uint64(0)
	b = binary.LittleEndian.AppendUint64(b, off)
	flush := func(always bool) error {
		if len(b) < 64<<10 && !always {
			return nil
		}
		_, err := out.Write(b)
		b = b[:0]
		if err == nil {
			err = w.ctx.Err()
		}
		return err
	}
	for _, v := range order {
		off += uint64(len(list(v)))
		b = binary.LittleEndian.AppendUint64(b, off)
		if err := flush(false); err != nil {
			return err
		}
	}
	for _, v := range order {
		label := int64(0)
		if l := w.labelsOf(v); len(l) > 0 && isLabelNumber(l[0]) {
			label, _ = strconv.ParseInt(l[0], 10, 32)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(label))
		if err := flush(false); err != nil {
			return err
		}
	}
	var row []uint32
	for _, v := range order {
		row = sortedRow(row, list(v), pos)
		for _, u := range row {
			b = binary.LittleEndian.AppendUint32(b, u)
		}
		if err := flush(false); err != nil {
			return err
		}
	}
	return flush(true)
}

// arc is a neighbour in a .sg or .wsg file.
type arc struct {
	to, weight int32
}

// sg writes a serialized graph of the GAP benchmark suite.
func (w *writing) sg(out io.Writer, weighted bool) error {
	g := w.g
	order, _ := denseIDs(g, 0)
	pos := ranks(order)
	n := len(order)
	if uint64(n) >= 1<<31 {
		return wrapf(ErrLoss, "%d vertices; the format counts them in 31 bits", n)
	}
	// With weights the lists come from the edge table.
	var fwd, back [][]arc
	if weighted {
		fwd, back = make([][]arc, n), make([][]arc, n)
		err := w.eachEdge(func(u, v uint32, row int) error {
			x := int32(w.weight(row))
			fwd[pos[u]] = append(fwd[pos[u]], arc{int32(pos[v]), x})
			back[pos[v]] = append(back[pos[v]], arc{int32(pos[u]), x})
			return nil
		})
		if err != nil {
			return err
		}
		for i := range fwd {
			if !g.Directed {
				fwd[i] = append(fwd[i], back[i]...)
			}
			for _, l := range [][]arc{fwd[i], back[i]} {
				slices.SortStableFunc(l, func(a, b arc) int { return int(a.to) - int(b.to) })
			}
		}
	}
	var buf []uint32
	var b []byte
	flush := func(always bool) error {
		if len(b) < 64<<10 && !always {
			return nil
		}
		_, err := out.Write(b)
		b = b[:0]
		if err == nil {
			err = w.ctx.Err()
		}
		return err
	}
	half := func(lists [][]arc, deg func(uint32) int, list func(uint32) []uint32) error {
		off := uint64(0)
		b = binary.LittleEndian.AppendUint64(b, 0)
		for i, v := range order {
			if weighted {
				off += uint64(len(lists[i]))
			} else {
				off += uint64(deg(v))
			}
			b = binary.LittleEndian.AppendUint64(b, off)
			if err := flush(false); err != nil {
				return err
			}
		}
		for i, v := range order {
			if weighted {
				for _, a := range lists[i] {
					b = binary.LittleEndian.AppendUint32(b, uint32(a.to))
					b = binary.LittleEndian.AppendUint32(b, uint32(a.weight))
				}
			} else {
				buf = sortedRow(buf, list(v), pos)
				for _, u := range buf {
					b = binary.LittleEndian.AppendUint32(b, u)
				}
			}
			if err := flush(false); err != nil {
				return err
			}
		}
		return nil
	}
	arcs := uint64(len(g.Out.Adj))
	if weighted {
		arcs = 0
		for _, l := range fwd {
			arcs += uint64(len(l))
		}
	}
	directed := byte(0)
	if g.Directed {
		directed = 1
	}
	b = append(b, directed)
	b = binary.LittleEndian.AppendUint64(b, arcs)
	b = binary.LittleEndian.AppendUint64(b, uint64(n))
	if err := half(fwd, g.Out.Degree, g.Out.List); err != nil {
		return err
	}
	if g.Directed {
		if err := half(back, g.In.Degree, g.In.List); err != nil {
			return err
		}
	}
	return flush(true)
}
