package weft

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
)

// TestMatchaRunRows: batches have the rows that Run emits, with the same values, and end a run.
func TestMatchaRunRows(t *testing.T) {
	g := clique(t, 8)
	m := matchaProgram(t, `input G: Graph
def f(v):
    apply(lambda w: emit(mk_tuple(val=[v, w, size(neighbor(G, v)) * 9007199254740992])), lambda w: w > v, neighbor(G, v))
apply(f, None, vertices(G))
`)
	ctx, in := context.Background(), map[string]any{"G": g}
	var want []string
	if _, err := m.Run(ctx, in, func(row []any) bool {
		want = append(want, fmt.Sprint(row[0], row[1], row[2]))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	for _, target := range []string{"interp", "c"} {
		var mu sync.Mutex
		var got []string
		r, err := m.RunRows(ctx, in, func(rows MatchaRows) (int, bool) {
			mu.Lock()
			defer mu.Unlock()
			ints := make([]int64, rows.Len())
			for i := range rows.Len() {
				got = append(got, fmt.Sprint(rows.Value(i, 0), rows.Value(i, 1), rows.Value(i, 2)))
			}
			rows.Ints(1, ints, 1)
			for i, x := range ints {
				if any(x) != rows.Value(i, 1) {
					t.Errorf("%d as a number is %d", rows.Value(i, 1), x)
				}
			}
			if rows.Ints(2, ints, 1); ints[0] != math.MinInt64 && rows.Value(0, 2).(int64) > 1<<53 {
				t.Errorf("%v as a number is %d", rows.Value(0, 2), ints[0])
			}
			return rows.Len(), true
		}, WithTarget(target))
		if errors.Is(err, ErrDevice) && target == "c" {
			t.Skip(err)
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) || r.Emitted != uint64(len(want)) {
			t.Errorf("%s: %d rows, %d emitted, %v; want %d", target, len(got), r.Emitted, err, len(want))
		}
		// One that takes a row of each batch, and wants no more after the first.
		r, err = m.RunRows(ctx, in, func(MatchaRows) (int, bool) { return 1, false }, WithTarget(target), WithThreads(1))
		if err != nil || r.Complete || r.Emitted == 0 {
			t.Errorf("%s: %d emitted, complete %v, %v", target, r.Emitted, r.Complete, err)
		}
	}
}
