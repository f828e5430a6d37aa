package stream

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// logged is a log of messages with the numbers 1, 2, 3 …
type logged struct {
	texts []string
	next  int
}

func (l *logged) Begin(number, _ int64) error { l.next = max(int(number)-1, 0); return nil }

func (l *logged) Next() (int64, []byte, error) {
	if l.next == len(l.texts) {
		return 0, nil, io.EOF
	}
	l.next++
	return int64(l.next), []byte(l.texts[l.next-1]), nil
}

func (l *logged) Waiting() bool { return l.next < len(l.texts) }
func (l *logged) Close() error  { return nil }

// TestMessages: a reader of messages goes on after any update as if it had never ended.
func TestMessages(t *testing.T) {
	texts := []string{"+ 1 2 _ 10\n+ 2 3 _ 20", "", "# none\n", "+ 3 4 _ 19\n\n", "wrong\n- 1 2\n+ 4 5 _ 18\n", "+ 5 6 _ 30"}
	type read struct {
		u     Update
		at    string
		lines int64
		off   int64
		state State
	}
	all := func(m *Messages) (out []read) {
		for {
			var r read
			err := m.Next(&r.u)
			var bad *InputError
			switch {
			case err == io.EOF:
				return out
			case errors.As(err, &bad):
				r.at = bad.Error()
			case err != nil:
				t.Fatal(err)
			default:
				r.lines, r.off = m.Position()
			}
			r.state = m.State()
			r.u.Labels, r.u.Properties = nil, nil
			out = append(out, r)
		}
	}
	o := Options{Lateness: 1}
	want := all(NewMessages(&logged{texts: texts}, "log", o))
	var errs []string
	for _, r := range want {
		if r.at != "" {
			errs = append(errs, r.at)
		}
	}
	if len(want) != 7 || len(errs) != 2 || !strings.HasPrefix(errs[0], "log, message 5:1:1: ") || !strings.HasPrefix(errs[1], "log, message 5:3:1: ") {
		t.Fatalf("%+v", want)
	}
	for i, r := range want {
		if r.at != "" {
			continue
		}
		m := NewMessages(&logged{texts: texts}, "log", o)
		if err := m.Resume(r.lines, r.off, 0, r.state); err != nil {
			t.Fatal(err)
		}
		if lines, off := m.Position(); lines != r.lines || off != r.off {
			t.Errorf("after %d: %d, %d", i, lines, off)
		}
		if got := all(m); len(got) != len(want[i+1:]) || len(got) > 0 && !reflect.DeepEqual(got, want[i+1:]) {
			t.Errorf("after %d: %+v\nwant %+v", i, got, want[i+1:])
		}
	}
	// A message of which lines were read is not there any more.
	m := NewMessages(&logged{texts: texts}, "log", o)
	if err := m.Resume(1, 0, 0, State{}); err != nil {
		t.Fatal(err)
	}
	if err := m.Next(&Update{}); !errors.Is(err, ErrLog) {
		t.Error(err)
	}
}
