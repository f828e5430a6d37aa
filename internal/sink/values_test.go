package sink

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestValues: whole numbers that JSON cannot hold are texts.
func TestValues(t *testing.T) {
	var b bytes.Buffer
	w := NewValues(&b, "ndjson")
	w.Add([]any{int64(1) << 53, 1.5})
	w.Add([]any{int64(1)<<53 + 1, 2.5})
	w.Add([]any{-int64(1)<<53 - 1, 3.5})
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	want := `{"v0":9007199254740992,"v1":1.5}` + "\n" + `{"v0":"9007199254740993","v1":2.5}` + "\n" + `{"v0":"-9007199254740993","v1":3.5}` + "\n"
	if b.String() != want || w.Count() != 3 || w.Err() != nil {
		t.Errorf("%s, want\n%s", b.String(), want)
	}
}

// TestValuesNames: columns have the given name, or a number; a table without rows has its columns.
func TestValuesNames(t *testing.T) {
	for _, test := range []struct {
		names []string
		row   []any
		types []string
		want  string
	}{
		{nil, []any{int64(1), true}, nil, "v0,v1\n1,true\n"},
		{[]string{"result"}, []any{"x"}, nil, "result\nx\n"},
		{[]string{"result"}, []any{1.5, int64(2)}, nil, "result0,result1\n1.5,2\n"},
		{nil, nil, []string{"int", "string"}, "v0,v1\n"},
	} {
		var b bytes.Buffer
		w := NewValues(&b, "csv", test.names...)
		if test.row != nil {
			w.Add(test.row)
		}
		if err := w.Close(test.types); err != nil || b.String() != test.want {
			t.Errorf("%v: %v, %q, want %q", test.names, err, b.String(), test.want)
		}
	}
}

// numbers are rows of a worker: its number, and the numbers from first on.
type numbers struct{ worker, first, n int }

func (b numbers) Len() int           { return b.n }
func (b numbers) Width() int         { return 2 }
func (b numbers) Value(i, j int) any { return [2]int64{int64(b.worker), int64(b.first + i)}[j] }
func (b numbers) Ints(j int, to []int64, step int) {
	for i := range b.n {
		if to[i*step] = b.Value(i, j).(int64); i%2 == 0 {
			to[i*step] = NoInt
		}
	}
}

// TestValuesBatches: workers add rows concurrently, and each row is written once, up to the limit.
func TestValuesBatches(t *testing.T) {
	for _, limit := range []int64{0, 7777} {
		var b bytes.Buffer
		w := NewValues(&b, "csv")
		w.Limit = limit
		var all sync.WaitGroup
		var taken, stopped atomic.Int64
		for worker := range 4 {
			all.Go(func() {
				for k := range 100 {
					n, more := w.AddBatch(worker, numbers{worker, 100 * k, 100})
					if taken.Add(int64(n)); !more {
						stopped.Add(1)
						return
					}
				}
			})
		}
		all.Wait()
		if err := w.Close(nil); err != nil {
			t.Fatal(err)
		}
		want := int64(4 * 100 * 100)
		if limit > 0 {
			want = limit
		}
		lines := strings.Fields(b.String())[1:]
		slices.Sort(lines)
		if n := len(slices.Compact(lines)); int64(n) != want || w.Count() != want || taken.Load() != want || (stopped.Load() > 0) != (limit > 0) {
			t.Errorf("limit %d: %d different rows, %d counted, %d taken, %d workers told; want %d rows", limit, n, w.Count(), taken.Load(), stopped.Load(), want)
		}
	}
}
