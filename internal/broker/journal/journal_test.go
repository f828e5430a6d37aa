package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

func open(t *testing.T, dir string) *Journal {
	t.Helper()
	j, err := Open(t.Context(), vfs.OS{}, dir, 4096)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func add(t *testing.T, j *Journal, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := j.Append(fmt.Appendf(nil, "%d", i), 2); err != nil {
			t.Fatal(err)
		}
	}
}

func expect(t *testing.T, j *Journal, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		number, data, err := j.Next()
		if err != nil || string(data) != fmt.Sprint(i) || number != int64(i)+1 {
			t.Fatalf("message %d: %q, %v; want %d", number, data, err, i)
		}
	}
}

// TestJournal: a journal keeps what was appended, ends after it, deletes what is not needed, and holds Append back if it has no room.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	add(t, j, 0, 60)
	expect(t, j, 0, 25)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir)
	if j.Lines() != 120 {
		t.Errorf("%d lines", j.Lines())
	}
	if err := j.Begin(26, 0); err != nil {
		t.Fatal(err)
	}
	add(t, j, 60, 70)
	expect(t, j, 25, 70)
	done := make(chan error)
	go func() {
		var err error
		for i := 70; i < 400 && err == nil; i++ {
			err = j.Append(fmt.Appendf(nil, "%d", i), 2)
		}
		j.End(io.EOF)
		done <- err
	}()
	for i := 70; i < 400; i++ {
		expect(t, j, i, i+1)
		j.mu.Lock()
		bytes := j.bytes
		j.mu.Unlock()
		if bytes > 4096+headSize {
			t.Fatalf("%d bytes", bytes)
		}
		if j.Crowded() {
			if err := j.Trim(int64(i) + 2); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, _, err := j.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	_ = j.Close()
	j = open(t, dir)
	defer j.Close()
	if j.Lines() != 800 || j.last != 400 {
		t.Errorf("%d lines, %d messages", j.Lines(), j.last)
	}
	for _, x := range []struct {
		number, read int64
		want         string
	}{
		{12, 0, "begins with message"}, {402, 0, "ends with message 400"}, {0, 12, "message 1 comes next"}, {398, 402, "message 401 was read"},
	} {
		if err := j.Begin(x.number, x.read); !errors.Is(err, stream.ErrLog) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%d, %d: %v", x.number, x.read, err)
		}
	}
}

// TestDamaged: a changed byte anywhere, and a segment that is cut or gone, are errors or leave out the last message alone, which then counts as not
// appended. A message is never another one.
func TestDamaged(t *testing.T) {
	whole := t.TempDir()
	j := open(t, whole)
	add(t, j, 0, 40)
	_ = j.Close()
	names, err := filepath.Glob(filepath.Join(whole, "*.log"))
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	try := func(what string, damage func(dir string) error, torn bool) {
		dir := t.TempDir()
		if err := errors.Join(os.CopyFS(dir+"/x", os.DirFS(whole)), damage(dir+"/x")); err != nil {
			t.Fatal(err)
		}
		j, err := Open(t.Context(), vfs.OS{}, dir+"/x", 4096)
		if err == nil {
			defer j.Close()
			if !torn || j.last >= 40 {
				t.Errorf("%s: %d messages", what, j.last)
			}
			if err := j.Begin(41, 0); !errors.Is(err, stream.ErrLog) { // a checkpoint has all
				t.Errorf("%s: %v", what, err)
			}
			j.End(io.EOF)
			expect(t, j, 0, int(j.last))
		} else if !errors.Is(err, stream.ErrLog) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i, name := range names {
		base := filepath.Base(name)
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		last := i == len(names)-1
		for at := 0; at < len(b); at += 11 {
			try(fmt.Sprint(base, " byte ", at), func(dir string) error {
				c := append([]byte(nil), b...)
				c[at] ^= 0x21
				return os.WriteFile(filepath.Join(dir, base), c, 0o600)
			}, last)
		}
		for size := 1; size < len(b); size += 53 {
			try(fmt.Sprint(base, " cut to ", size), func(dir string) error { return os.Truncate(filepath.Join(dir, base), int64(size)) }, last)
		}
		if i > 0 && !last {
			try(base+" gone", func(dir string) error { return os.Remove(filepath.Join(dir, base)) }, false)
		}
	}
}

// TestZeros: a loss of power may leave zeros where the last record was to be, or the head of a segment without records. They count as not appended.
// Zeros anywhere else are damage.
func TestZeros(t *testing.T) {
	whole := t.TempDir()
	j := open(t, whole)
	add(t, j, 0, 40)
	_ = j.Close()
	names, err := filepath.Glob(filepath.Join(whole, "*.log"))
	if err != nil || len(names) < 3 {
		t.Fatal(names, err)
	}
	final := names[len(names)-1]
	whole40, err := os.ReadFile(final)
	if err != nil {
		t.Fatal(err)
	}
	record := recordHead + len("39")
	cut := whole40[:len(whole40)-record]
	middle := slices.Concat(whole40[:headSize], make([]byte, len(whole40)-headSize-record), whole40[len(whole40)-record:])
	before, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, name string
		text       []byte
		has        int // messages; -1: it is damaged
	}{
		{"one zero", final, append(slices.Clone(whole40), 0), 40},
		{"zeros", final, append(slices.Clone(whole40), make([]byte, 100000)...), 40},
		{"a record of zeros", final, append(slices.Clone(cut), make([]byte, record)...), 39},
		{"half a record of zeros", final, append(slices.Clone(cut), make([]byte, record/2)...), 39},
		{"half a record, and zeros", final, slices.Concat(cut, whole40[len(cut):len(cut)+recordHead+1], make([]byte, 1)), 39},
		{"a new segment of zeros", filepath.Join(filepath.Dir(final), fmt.Sprintf("%019d.log", 41)), make([]byte, headSize), 40},
		{"zeros in the middle", final, middle, -1},
		{"a head of zeros", final, append(make([]byte, headSize), whole40[headSize:]...), -1},
		{"zeros in an earlier segment", names[0], append(slices.Clone(before), make([]byte, 50)...), -1},
		{"an end of zeros in an earlier segment", names[0], append(slices.Clone(before[:len(before)-5]), make([]byte, 5)...), -1},
	} {
		dir := filepath.Join(t.TempDir(), "x")
		if err := errors.Join(os.CopyFS(dir, os.DirFS(whole)), os.WriteFile(filepath.Join(dir, filepath.Base(c.name)), c.text, 0o600)); err != nil {
			t.Fatal(err)
		}
		j, err := Open(t.Context(), vfs.OS{}, dir, 4096)
		if c.has < 0 {
			if !errors.Is(err, stream.ErrLog) {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		if err != nil || int(j.last) != c.has {
			t.Errorf("%s: %v; %+v", c.what, err, j)
			continue
		}
		add(t, j, c.has, 50)
		_ = j.Close()
		j = open(t, dir)
		expect(t, j, 0, 50)
		_ = j.Close()
	}
}

// TestWorth: a producer that is faster than the service keeps the journal full. The file of the graph is written once for half of the room, and not at
// each look; and the producer always goes on, whatever the sizes of messages.
func TestWorth(t *testing.T) {
	for _, size := range []int{100, 700, 3000, 9000} {
		const room, messages = 16384, 150
		dir := t.TempDir()
		j, err := Open(t.Context(), vfs.OS{}, dir, room)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			var err error
			for i := 0; i < messages && err == nil; i++ {
				err = j.Append(make([]byte, size), 1)
			}
			j.End(io.EOF)
			done <- err
		}()
		written, read := 0, int64(0)
		graph, before := int64(0), int64(0) // the positions of the latest file of the graph, and that of the checkpoint before
		for {
			last := graph // a checkpoint
			if j.Worth(graph, read) {
				graph = read
				written++
			}
			if err := j.Trim(before); err != nil {
				t.Fatal(err)
			}
			before = last
			j.mu.Lock()
			ended := j.ended != nil
			j.mu.Unlock()
			if !ended && !j.Waiting() { // the service looks again later
				time.Sleep(10 * time.Microsecond)
				continue
			}
			number, _, err := j.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			read = number
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		most := 2*messages*(size+recordHead)/room + 2
		if size > room/8 { // a record for itself needs room for itself
			most = messages
		}
		if written == 0 || written > most {
			t.Errorf("messages of %d bytes: %d files of the graph, want at most %d", size, written, most)
		}
		_ = j.Close()
	}
}

// TestFaults: whichever operation fails, also as on a full disk, what Append acknowledged is there afterwards, and nothing else but whole messages.
func TestFaults(t *testing.T) {
	for what, fault := range map[string]errorfs.Fault{
		"any":  {Kinds: errorfs.All, Err: syscall.EIO},
		"full": {Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half, Stays: true},
	} {
		errorfs.Each(t, fault, nil, func(fsys *errorfs.FS) {
			dir := filepath.Join(t.TempDir(), "log")
			acknowledged := 0
			err := func() error {
				j, err := Open(t.Context(), fsys, dir, 1024)
				if err != nil {
					return err
				}
				defer j.Close()
				for acknowledged < 20 {
					if err := j.Append(fmt.Appendf(nil, "%d", acknowledged), 2); err != nil {
						return err
					}
					acknowledged++
				}
				return nil
			}()
			if err != nil && !errors.Is(err, fault.Err) {
				t.Errorf("%s: %v", what, err)
			}
			j, err := Open(t.Context(), vfs.OS{}, dir, 1024)
			if err != nil {
				t.Errorf("%s, after %d messages: %v", what, acknowledged, err)
				return
			}
			defer j.Close()
			if int(j.last) < acknowledged || int(j.last) > acknowledged+1 {
				t.Errorf("%s: %d messages, and %d were acknowledged", what, j.last, acknowledged)
			}
			j.End(io.EOF)
			expect(t, j, 0, int(j.last))
		})
	}
}
