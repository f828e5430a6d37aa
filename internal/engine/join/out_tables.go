package join

// rowBlock is a number of rows of a table. Columns that no later phase reads are nil.
type rowBlock struct {
	rows int
	cols [][]uint32 // by level
	part *extent    // of the store's file, which has the columns; nil: memory has them
}

// bytes is the memory of a block's columns.
func (b *rowBlock) bytes() (n int64) {
	for _, c := range b.cols {
		n += 4 * int64(cap(c))
	}
	return n
}

// rowTable is a table of partial matches, which has a column for each level that a later phase reads.
type rowTable struct {
	store  *store
	live   []bool // by level: whether there is a column
	most   int    // rows of a block
	blocks []*rowBlock
	rows   int // of all blocks
}

// full reports whether a block is full.
func (t *rowTable) full() bool { return len(t.blocks) > 0 && t.blocks[0].rows == t.most }

// add appends n rows. put writes column l of rows lo … hi-1 to a part of the table.
func (t *rowTable) add(n int, put func(to []uint32, l, lo, hi int)) error {
	for done := 0; done < n; {
		if len(t.blocks) == 0 || t.blocks[len(t.blocks)-1].rows == t.most {
			t.blocks = append(t.blocks, &rowBlock{cols: make([][]uint32, len(t.live))})
		}
		b := t.blocks[len(t.blocks)-1]
		m := min(n-done, t.most-b.rows)
		before := b.bytes()
		for l, live := range t.live {
			if !live {
				continue
			}
			c := b.cols[l]
			if need := b.rows + m; need > cap(c) {
				c = make([]uint32, b.rows, min(t.most, max(need, 2*cap(c))))
				copy(c, b.cols[l])
			}
			c = c[:b.rows+m]
			b.cols[l] = c
			err := parallel(t.store.ctx, m, func(_, lo, hi int) error {
				put(c[b.rows+lo:b.rows+hi], l, done+lo, done+hi)
				return nil
			})
			if err != nil {
				return err
			}
		}
		t.store.take(b.bytes() - before)
		b.rows += m
		t.rows += m
		done += m
		if b.rows == t.most && t.store.full() {
			if err := t.store.spill(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// next takes the first block out of the table, with its columns in memory. The caller gives it back to the store.
func (t *rowTable) next() (*rowBlock, error) {
	b := t.blocks[0]
	t.blocks = t.blocks[1:]
	t.rows -= b.rows
	if b.part == nil {
		return b, nil
	}
	return b, t.store.load(b, t.live)
}
