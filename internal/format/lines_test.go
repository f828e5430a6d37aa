package format

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestLongZeros: an id of many digits that is a small number, in each place of a line,
// costs no other line.
func TestLongZeros(t *testing.T) {
	long := "0000001234567890123456789" // 25 digits, less than 2^63
	for _, line := range []string{long + " 1", "1 " + long, long + " " + long, "01234567890123456789 1", "1 01234567890123456789"} {
		in := strings.Repeat("1 2\n3 4\n", 40_000) + line + "\n" + strings.Repeat("5 6\n", 40_000)
		for _, o := range []ReadOptions{{}, {Columns: []string{"src:int", "dst:int"}}} {
			g, err := Read(context.Background(), put(t, "zeros.txt", []byte(in)), o, nil)
			if err != nil {
				t.Fatal(err)
			}
			if g.Read.Lines != 120_001 {
				t.Errorf("%q: %d of 120001 lines", line, g.Read.Lines)
			}
		}
	}
}

// TestAllLines reads lines of every kind, on the quick path and on the general one,
// and compares the number of edges with the number of lines that have two numbers.
func TestAllLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() string {
		switch rng.IntN(6) {
		case 0:
			return fmt.Sprint(rng.Uint64() >> 1)
		case 1:
			return fmt.Sprint(rng.Uint32())
		default:
			return fmt.Sprint(rng.IntN(1000))
		}
	}
	for range 20 {
		var b strings.Builder
		want, comments := uint64(0), 0
		for range 20_000 {
			switch rng.IntN(12) {
			case 0:
				b.WriteString("# a comment 1 2")
				if want > 0 {
					comments++
				}
			case 1:
				b.WriteString([]string{"", " ", "\t", " \r"}[rng.IntN(4)])
			case 2:
				b.WriteString(" " + number() + "  \t" + number() + " \r")
				want++
			default:
				b.WriteString(number() + []string{" ", "\t"}[rng.IntN(2)] + number())
				want++
			}
			if rng.IntN(20) == 0 {
				b.WriteByte('\r')
			}
			b.WriteByte('\n')
		}
		b.WriteString("1 2")
		want++
		for _, cols := range [][]string{nil, {"src:string", "dst:string"}} {
			for _, in := range [][]byte{[]byte(b.String()), gz(b.String())} {
				g, err := Read(context.Background(), put(t, "mixed.txt", in), ReadOptions{Columns: cols, Threads: 2}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if g.Read.Lines != want {
					t.Errorf("%v: %d of %d lines", cols, g.Read.Lines, want)
				}
				if said := strings.Join(g.Read.Notes, "\n") + "\n"; !strings.Contains(said, fmt.Sprintf("are not read: %d\n", comments)) {
					t.Errorf("%v: %d comments, and the report is %q", cols, comments, g.Read.Notes)
				}
			}
		}
	}
}

// TestAllLinesCheck: a reader that leaves out a line says so.
func TestAllLinesCheck(t *testing.T) {
	if err := allLines([]byte("1 2\n3 4\n5 6"), 3); err != nil {
		t.Error(err)
	}
	if err := allLines([]byte("1 2\n3 4\n5 6\n"), 2); err == nil {
		t.Error("two of three lines, and no error")
	}
}
