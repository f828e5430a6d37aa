package format

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPairsAtTwoPlaces reads blocks of usual and odd lines, at two places in turn, and compares the numbers with those that
// the lines were made of.
func TestPairsAtTwoPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() uint64 { return rng.Uint64N(1<<32) >> rng.UintN(33) }
	for round := range 400 {
		odd := []uint64{0, 2, 50, 1 << 20}[round%4] // one line of how many; 0: none
		var text strings.Builder
		var want []uint64
		most := uint32(0)
		for range rng.IntN(200) {
			v, w := number(), number()
			end := "\n"
			if odd > 0 && rng.Uint64N(odd) == 0 {
				switch rng.IntN(4) {
				case 0:
					fmt.Fprintf(&text, "# %d %d\n", v, w)
					continue
				case 1:
					text.WriteString("\n")
					continue
				case 2:
					end = "\r\n"
				case 3:
					end = "  \n"
				}
			}
			fmt.Fprintf(&text, "%d\t%d%s", v, w, end)
			want = append(want, v<<32|w)
			most = max(most, uint32(v), uint32(w))
		}
		data := make([]byte, text.Len(), text.Len()+slack)
		copy(data, text.String())
		var p pairs
		room := make([]uint64, mostPairs(len(data)))
		n, found, err := p.narrow(data, &textSpec{span: 1 << 63}, room)
		if err != nil {
			t.Fatal(err)
		}
		got := room[:n]
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || found != most {
			t.Fatalf("%q: %d pairs up to %d, not %d up to %d", text.String(), n, found, len(want), most)
		}
	}
}

// TestPairsFirstError reads blocks with a wrong line in either half: the error is about the first one.
func TestPairsFirstError(t *testing.T) {
	for _, wrong := range [][]int{{0}, {1}, {499}, {500}, {501}, {998, 999}, {3, 700}, {499, 500}} {
		lines := slices.Repeat([]string{"12 345"}, 1000)
		at := wrong[0] * len("12 345\n")
		for _, i := range wrong {
			lines[i] = "12 x45"
		}
		text := strings.Join(lines, "\n") + "\n"
		data := make([]byte, len(text), len(text)+slack)
		copy(data, text)
		var p pairs
		_, _, err := p.narrow(data, &textSpec{span: 1 << 63}, make([]uint64, mostPairs(len(data))))
		s, ok := err.(*spot)
		if !ok || s.pos != at+3 {
			t.Errorf("wrong lines %v: %v, of byte %d expected", wrong, err, at+3)
		}
	}
}
