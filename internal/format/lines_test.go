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

// TestLateDiscoveries: what only the rest of a file tells makes it read again, and is an
// error that names the flag where it is a pipe.
func TestLateDiscoveries(t *testing.T) {
	path := strings.Builder{}
	for i := range 60_000 {
		fmt.Fprintf(&path, "%d %d\n", i, i+1)
	}
	for _, c := range []struct {
		name, in  string
		o         ReadOptions
		lines     uint64
		vertices  int
		note, err string
	}{
		{"sizes", "60001 60000\n" + path.String(), ReadOptions{}, 60_000, 60_001, "the first line, 60001 60000, is read as the numbers of vertices and edges", ""},
		{"an edge", "70000 50001\n" + path.String(), ReadOptions{}, 60_001, 60_002, "", "--header no reads it as an edge, --header yes drops it"},
		{"an edge as told", "70000 50001\n" + path.String(), ReadOptions{Header: NoHeader}, 60_001, 60_002, "", ""},
		{"fewer vertices", "80000 60000\n" + path.String(), ReadOptions{}, 60_000, 60_001, "19999 of the vertices that the first line promises", ""},
		{"zeros", path.String() + "1 07\n", ReadOptions{}, 60_001, 60_002, "ids are text, since some begin with a zero", "an id that begins with a zero after ids that do not (--columns src:string,dst,… keeps 01 and 1 apart, src:int,dst:int,… makes them one)"},
		{"zeros as text", path.String() + "1 07\n", ReadOptions{Columns: []string{"src:string", "dst"}}, 60_001, 60_002, "", ""},
		{"zeros as numbers", path.String() + "1 07\n", ReadOptions{Columns: []string{"src:int", "dst:int"}}, 60_001, 60_001, "", ""},
	} {
		g, err := Read(context.Background(), put(t, "g.txt", []byte(c.in)), c.o, nil)
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(g.Read.Notes, "\n"); g.Read.Lines != c.lines || g.NumVertices() != c.vertices || !strings.Contains(notes, c.note) {
			t.Errorf("%s: %d lines, %d vertices, %q", c.name, g.Read.Lines, g.NumVertices(), notes)
		}
		c.o.Stdin = strings.NewReader(c.in)
		g, err = Read(context.Background(), "-", c.o, nil)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s from a pipe: %v, want %q", c.name, err, c.err)
			}
		case err != nil || g.Read.Lines != c.lines || g.NumVertices() != c.vertices:
			t.Errorf("%s from a pipe: %v", c.name, err)
		}
	}
}
