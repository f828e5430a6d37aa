package packstream

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func encoded(x any) []byte {
	var e Encoder
	e.Value(x)
	return e.Bytes
}

// TestBytes compares encodings with those that the specification of PackStream shows.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		x    any
		want string
	}{
		{nil, "\xC0"}, {true, "\xC3"}, {false, "\xC2"},
		{int64(1), "\x01"}, {int64(42), "\x2A"}, {int64(-16), "\xF0"}, {int64(-17), "\xC8\xEF"}, {int64(-128), "\xC8\x80"},
		{int64(127), "\x7F"}, {int64(128), "\xC9\x00\x80"}, {int64(-129), "\xC9\xFF\x7F"}, {int64(1234), "\xC9\x04\xD2"},
		{int64(32768), "\xCA\x00\x00\x80\x00"}, {int64(math.MinInt64), "\xCB\x80\x00\x00\x00\x00\x00\x00\x00"},
		{6.283185307179586, "\xC1\x40\x19\x21\xFB\x54\x44\x2D\x18"},
		{"", "\x80"}, {"A", "\x81A"}, {"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "\xD0\x1AABCDEFGHIJKLMNOPQRSTUVWXYZ"},
		{"Größenmaßstäbe", "\xD0\x12Gr\xC3\xB6\xC3\x9Fenma\xC3\x9Fst\xC3\xA4be"},
		{[]byte{1, 2, 3}, "\xCC\x03\x01\x02\x03"},
		{[]any{}, "\x90"}, {[]any{int64(1), 2.0, "three"}, "\x93\x01\xC1\x40\x00\x00\x00\x00\x00\x00\x00\x85three"},
		{map[string]any{"one": "eins"}, "\xA1\x83one\x84eins"},
		{Structure{'D', []any{int64(7)}}, "\xB1D\x07"},
		{time.Unix(3, 5).In(time.FixedZone("", 3600)), "\xB3I\x03\x05\xC9\x0E\x10"},
		{-1500 * time.Millisecond, "\xB4E\x00\x00\xFE\xCA\x1D\xCD\x65\x00"},
	} {
		if got := encoded(c.x); string(got) != c.want {
			t.Errorf("%v: % X, want % X", c.x, got, c.want)
		}
	}
}

// TestRoundTrip reads values at the bounds of every marker as they were written.
func TestRoundTrip(t *testing.T) {
	long := make([]any, 70000)
	wide := map[string]any{}
	for i := range 300 {
		wide[strings.Repeat("k", i)] = int64(i)
	}
	for _, x := range []any{
		nil, true, false, int64(-16), int64(-17), int64(-129), int64(math.MinInt16), int64(math.MinInt16 - 1), int64(math.MaxInt32),
		int64(math.MaxInt32 + 1), int64(math.MinInt32 - 1), int64(math.MaxInt64), 1.5, math.Inf(-1), strings.Repeat("x", 15), strings.Repeat("x", 16),
		strings.Repeat("x", 255), strings.Repeat("x", 256), strings.Repeat("x", 65536), make([]byte, 300), make([]byte, 70000), long[:15], long[:16], long[:256], long, wide,
		Structure{'N', []any{int64(1), []any{"L"}, map[string]any{"a": nil}, "1"}},
	} {
		d := NewDecoder(encoded(x), Limits{})
		got, err := d.Value()
		if err != nil || d.End() != nil || !cmp.Equal(got, x) {
			t.Errorf("%.80v: %v, %v", x, err, d.End())
		}
	}
	var e Encoder
	e.Value([]string{"a", "b"})
	e.Value(7)
	d := NewDecoder(e.Bytes, Limits{})
	if x, err := d.Value(); err != nil || !cmp.Equal(x, []any{"a", "b"}) {
		t.Error(x, err)
	}
	if err := d.End(); err == nil || err.Error() != "byte 5 of the message: 1 bytes follow the last value" {
		t.Error(err)
	}
}

// TestBad shows the errors of bytes that are not PackStream, and that a claimed length allocates nothing.
func TestBad(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"", "byte 0 of the message: a value needs 1 bytes, and 0 are left"},
		{"\xC4", "byte 0 of the message: no value begins with the byte 0xC4"},
		{"\xC9\x01", "byte 1 of the message: a value needs 2 bytes, and 1 are left"},
		{"\x81\xFF", "byte 1 of the message: a text is not UTF-8"},
		{"\xD2\xFF\xFF\xFF\xFFx", "byte 5 of the message: a value needs 4294967295 bytes, and 1 are left"},
		{"\xCE\xFF\xFF\xFF\xFFx", "byte 5 of the message: a value needs 4294967295 bytes, and 1 are left"},
		{"\xD6\xFF\xFF\xFF\xFFx", "byte 0 of the message: 4294967295 values cannot be in the 1 bytes that are left"},
		{"\xDA\xFF\xFF\xFF\xFFx", "byte 0 of the message: 8589934590 values cannot be in the 1 bytes that are left"},
		{"\xA1\x01\x01", "byte 1 of the message: a key of a map is not a text"},
		{"\xA2\x81a\x01\x81a\x01", "byte 4 of the message: a map has the key \"a\" twice"},
		{strings.Repeat("\x91", 40) + "\x01", "byte 32 of the message: values lie too deep inside each other"},
		{"\xD5\xFF\xFF" + strings.Repeat("\xC0", 1<<16), "the message has too many values"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := NewDecoder([]byte(c.data), Limits{Values: 1000}).Value()
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("% .20X: %v, want %s", c.data, err, c.want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("% .20X: %d bytes allocated", c.data, used)
		}
	}
}

// FuzzPackStream reads any bytes. A value that is accepted is the same after it was written and read.
func FuzzPackStream(f *testing.F) {
	for _, x := range []any{nil, int64(-129), 1.5, "text", []byte("b"), []any{int64(1), "a"}, map[string]any{"k": []any{true}}, Structure{'I', []any{int64(1), int64(2), int64(3)}}} {
		f.Add(encoded(x))
	}
	f.Add([]byte("\xD6\xFF\xFF\xFF\xFF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := NewDecoder(data, Limits{Values: 10000})
		x, err := d.Value()
		if err != nil {
			return
		}
		again := encoded(x)
		if d.at < len(again) {
			t.Fatalf("% X became longer: % X", data[:d.at], again)
		}
		y, err := NewDecoder(again, Limits{Values: 10000}).Value()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again, encoded(y)) && !cmp.Equal(x, y) && !cmp.Equal(x, y, cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })) {
			t.Fatalf("%v became %v", x, y)
		}
	})
}
