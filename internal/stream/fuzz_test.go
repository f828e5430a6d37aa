package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/vfs"
)

// FuzzUpdates reads any bytes as updates. A mistake has its place, each line is an update, a mistake or neither, and an update that
// is written and read again is the same.
func FuzzUpdates(f *testing.F) {
	for _, s := range []string{"+ 1 2\n- 1 2 A\n+v 3 A;B\n=v 3\n-v 3\n", "+,1,2,\"a, \"\"b\",5\r\n", "+\ta\tb\t\t2024-01-31\n", "\ufeffe 1 2 0\n-e 1 2 0\nv 3 4\n",
		`{"op":"+","u":1,"v":"b","label":"x\u00e9","time":17,"properties":{"w":1.5,"n":-3,"t":"\\","b":true,"z":null}}` + "\n" + `{"op":"+v","id":3,"labels":["A",7]}` + "\n",
		`{"op":"=v","id":3,"properties":{"a":1}}` + "\n" + `{"op":"=","u":1,"v":2,"properties":{}}`, "+ 1 2 _ 1.25\n+ 1 2 _ 1\n", "\x1f\x8b", "\x28\xb5\x2f\xfd", "+ 1 2\x00\n", "+ #a %b c d"} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, in []byte, texts bool) {
		o := Options{TextIDs: texts, Lateness: -1}
		r, err := Open(context.Background(), vfs.OS{}, "-", bytes.NewReader(in), o, nil)
		if err != nil {
			return
		}
		defer r.Close()
		var u, v Update
		for {
			err := r.Next(&u)
			var bad *InputError
			var at *format.Error
			switch {
			case errors.As(err, &bad):
				if !errors.As(err, &at) || at.Line <= 0 || at.Column < 0 || at.Offset < 0 || strings.Contains(err.Error(), "\n") {
					t.Fatalf("%#v", err)
				}
				continue
			case err != nil:
				packed := bytes.HasPrefix(in, []byte("\x1f\x8b")) || bytes.HasPrefix(in, []byte("\x28\xb5\x2f\xfd"))
				if lines, _ := r.Position(); err == io.EOF && !packed && lines != count(in) {
					t.Fatalf("%d lines of %d", lines, count(in))
				}
				return
			}
			for _, f := range Writable() {
				line, err := Append(nil, &u, Format(f))
				if errors.Is(err, ErrLoss) {
					continue
				}
				if err != nil || bytes.Count(line, []byte{'\n'}) != 1 {
					t.Fatalf("%s: %q, %v", f, line, err)
				}
				if ok, err := NewDecoder(o).Decode("", line[:len(line)-1], &v); !ok || err != nil {
					t.Fatalf("%s: %q is not read: %v", f, line, err)
				}
				if u.Op == RemoveVertex { // the formats of lines have a label, which is not used
					u.Labels = nil
				}
				if a, b := show(&u), show(&v); a != b {
					t.Fatalf("%s: %q is %s, want %s", f, line, b, a)
				}
			}
		}
	})
}

// count is the number of lines.
func count(in []byte) int64 {
	n := int64(bytes.Count(in, []byte{'\n'}))
	if len(in) > 0 && in[len(in)-1] != '\n' {
		n++
	}
	return n
}
