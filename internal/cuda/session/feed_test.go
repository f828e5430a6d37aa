package session

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
	devices "github.com/weftgraph/weft/internal/testing/device"
)

// inRun calls f on a device of a run without tasks.
func inRun(t *testing.T, d *cuda.Device, f func(x *Exec) error) error {
	t.Helper()
	s, err := Open([]*cuda.Device{d}, Options{Memory: 1 << 20, Ring: 1 << 12})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	_, err = s.Run(t.Context(), &Job{Name: "test", Program: &kir.Program{Name: "test"}, Chunk: 1, Start: func(x *Exec) (func() error, error) {
		return func() error { return f(x) }, nil
	}})
	return err
}

// TestFeed: pieces arrive in their order, each whole, while the others are on their way; those that are there already are not
// copied again; an error of a piece is the run's, and none is used after it.
func TestFeed(t *testing.T) {
	devices.Each(t, func(t *testing.T, d *cuda.Device) {
		filled := 0
		piece := func(i int) Piece {
			return Piece{Key: i, Bytes: int64(100 + 8*i), Fill: func(to []byte) error {
				filled++
				for k := range to {
					to[k] = byte(i + k)
				}
				return nil
			}}
		}
		err := inRun(t, d, func(x *Exec) (err error) {
			m, err := x.NewMeter()
			if err != nil {
				return err
			}
			x.AtEnd(m.Close)
			f, err := x.NewFeed(1000, 2, m)
			if err != nil {
				return err
			}
			x.AtEnd(f.Close)
			for _, n := range []int{0, 1, 2, 9, 2, 2} {
				var got []int
				err := f.Each(n, piece, func(i int, at uint64) error {
					b := make([]byte, 100+8*i)
					if err := cuda.Fetch(x.c, b, cuda.Buffer{Ptr: at, Size: int64(len(b))}, 0, x.stream); err != nil {
						return err
					}
					for k := range b {
						if b[k] != byte(i+k) {
							t.Fatalf("byte %d of piece %d of %d is %d", k, i, n, b[k])
						}
					}
					got = append(got, i)
					return f.Poll()
				})
				if err != nil || len(got) != n || !slices.IsSorted(got) {
					t.Errorf("%d pieces: %v, %v", n, got, err)
				}
			}
			if filled != 1+1+9-2+2 { // of 2 pieces one is there, of 9 two, and at the end both
				t.Errorf("%d pieces were copied", filled)
			}
			keep := func(key any) bool { return key == 1 }
			filled = 0
			f.Ahead(piece(5), keep)
			f.Ahead(piece(6), keep) // one at a time
			if !f.Has(5) || f.Has(6) || !f.Has(1) || f.Has(0) {
				t.Error("piece 5 is not in the place of piece 0")
			}
			use := func(i int, at uint64) error {
				b := make([]byte, 140)
				if err := cuda.Fetch(x.c, b, cuda.Buffer{Ptr: at, Size: int64(len(b))}, 0, x.stream); err != nil {
					return err
				}
				if b[7] != 12 {
					t.Errorf("byte 7 of piece 5 is %d", b[7])
				}
				return nil
			}
			if err := f.Each(1, func(int) Piece { return piece(5) }, use); err != nil || filled != 1 || f.Aheads != 1 {
				t.Errorf("%d pieces were copied, %d of them before, %v", filled, f.Aheads, err)
			}
			f.Ahead(piece(7), func(any) bool { return true })
			if f.Has(7) {
				t.Error("piece 7 has taken the place of one that is to stay")
			}
			broken := errors.New("broken")
			f.Ahead(Piece{Key: 8, Bytes: 8, Fill: func([]byte) error { return broken }}, keep)
			if err := f.Each(1, func(int) Piece { return piece(5) }, use); !errors.Is(err, broken) {
				t.Errorf("a piece that cannot be filled: %v", err)
			}
			f.Ahead(piece(9), keep) // no call follows this one in time
			defer func() { f.Ahead(piece(3), keep) }()
			err = f.Each(5, func(i int) Piece {
				return Piece{Bytes: 8, Fill: func([]byte) error {
					if i == 2 {
						return broken
					}
					return nil
				}}
			}, func(i int, _ uint64) error {
				if i >= 2 {
					t.Errorf("piece %d was used", i)
				}
				return nil
			})
			if !errors.Is(err, broken) {
				t.Errorf("error %v", err)
			}
			if err := f.Each(1, func(int) Piece { return Piece{Bytes: 2000} }, nil); err == nil {
				t.Error("a piece that is too large was taken")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestMeter: what is copied while nothing else runs is not hidden, and the sums are those of all that was measured.
func TestMeter(t *testing.T) {
	devices.Each(t, func(t *testing.T, d *cuda.Device) {
		err := inRun(t, d, func(x *Exec) error {
			m, err := x.NewMeter()
			if err != nil {
				return err
			}
			x.AtEnd(m.Close)
			b, err := x.Scratch("a test", 64)
			if err != nil {
				return err
			}
			p, err := x.c.Pinned(64)
			if err != nil {
				return err
			}
			x.AtEnd(p.Free)
			binary.LittleEndian.PutUint64(p.Bytes(), 7)
			for range 3 * meterOpen {
				if err := m.Copies(64, x.stream, func() error { return x.c.Send(b, 0, p, 0, 64, x.stream) }); err != nil {
					return err
				}
			}
			r, err := m.Read()
			if err == nil && (r.Copied != 64*3*meterOpen || r.Computing != 0 || r.Hidden != 0 || r.Copying < 0) {
				t.Errorf("%+v", r)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	second := time.Second
	all := []span{{5 * second, 7 * second}, {0, 2 * second}, {second, 3 * second}, {7 * second, 8 * second}}
	if got := union(all); !slices.Equal(got, []span{{0, 3 * second}, {5 * second, 8 * second}}) || length(got) != 6*second {
		t.Error(got)
	}
}

// TestFeedEnough: a caller that wants no further pieces ends a call of Each without an error. Pieces that it has had, and one that is on its way, are
// whole when a later call finds them.
func TestFeedEnough(t *testing.T) {
	devices.Each(t, func(t *testing.T, d *cuda.Device) {
		piece := func(i int) Piece {
			return Piece{Key: i, Bytes: 900, Fill: func(to []byte) error {
				for k := range to {
					to[k] = byte(i)
				}
				return nil
			}}
		}
		err := inRun(t, d, func(x *Exec) (err error) {
			m, err := x.NewMeter()
			if err != nil {
				return err
			}
			x.AtEnd(m.Close)
			f, err := x.NewFeed(1000, 4, m)
			if err != nil {
				return err
			}
			x.AtEnd(f.Close)
			for last := range 6 {
				n := 0
				err := f.Each(6, piece, func(i int, at uint64) error {
					b := make([]byte, 900)
					if err := cuda.Fetch(x.c, b, cuda.Buffer{Ptr: at, Size: int64(len(b))}, 0, x.stream); err != nil {
						return err
					}
					if b[0] != byte(i) || b[899] != byte(i) {
						t.Errorf("piece %d begins with %d and ends with %d", i, b[0], b[899])
					}
					if n++; i == last {
						for !f.Has(i+1) && i < 5 { // the next one is on its way
							if err := f.Poll(); err != nil {
								return err
							}
						}
						return ErrEnough
					}
					return nil
				})
				if err != nil || n != last+1 {
					t.Errorf("%d pieces until number %d, %v", n, last, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
