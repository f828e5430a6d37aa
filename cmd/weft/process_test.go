//go:build unix

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/native"
)

// TestMain runs weft itself where a test starts its own binary as a process.
func TestMain(m *testing.M) {
	if os.Getenv("WEFT_TEST_RUN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// command is weft as a process.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, args...)
	c.Env = append(os.Environ(), "WEFT_TEST_RUN=1")
	return c
}

// ended runs weft in a process of its own and returns its exit code and what it wrote to standard error.
func ended(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var errs strings.Builder
	c := command(t, args...)
	c.Stderr = &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), errs.String()
}

// bigGraph is a graph with more paths than anyone waits for.
func bigGraph(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "er.txt")
	if code := run(context.Background(), []string{"gen", "er", "--n", "2000", "--m", "40000", "-o", path}, nil, io.Discard, io.Discard); code != 0 {
		t.Fatalf("gen: exit %d", code)
	}
	return path
}

// slow is a count that takes for ever.
var slow = []string{"count", "--pattern", "path(9)", "--engine-opt", "plan.method=nest", "--engine-opt", "plan.tail=off", "--to", "json"}

func TestTimeout(t *testing.T) {
	g := bigGraph(t)
	var out, errs bytes.Buffer
	start := time.Now()
	code := run(context.Background(), append(slow, "-g", g, "--timeout", "200ms"), nil, &out, &errs)
	if code != exitTimeout || time.Since(start) > 3*time.Minute {
		t.Errorf("exit %d after %s: %s", code, time.Since(start), errs.String())
	}
	var r struct{ Complete bool }
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Complete {
		t.Errorf("the result is not marked as partial: %s, %v", out.String(), err)
	}
	if !strings.Contains(errs.String(), "partial") {
		t.Errorf("standard error does not say so: %s", errs.String())
	}
}

// TestTimeoutEach checks that the timeout holds for each query.
func TestTimeoutEach(t *testing.T) {
	g := bigGraph(t)
	// On a busy machine the second query may need more than a short time, too, and so may reading the patterns.
	for timeout := 200 * time.Millisecond; ; timeout *= 2 {
		var out bytes.Buffer
		args := append(slow[:len(slow)-1:len(slow)-1], "ndjson", "--pattern", "triangle", "-g", g, "--timeout", timeout.String())
		if code := run(context.Background(), args, nil, &out, io.Discard); code != exitTimeout {
			t.Errorf("exit %d", code)
		}
		if out.Len() == 0 && timeout < time.Minute {
			continue
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], `"complete":false`) {
			t.Errorf("want a partial and another result: %s", out.String())
		} else if !strings.Contains(lines[1], `"complete":true`) {
			if timeout < time.Minute {
				continue
			}
			t.Errorf("the second query has the time of the first, too: %s", out.String())
		}
		break
	}
}

func TestSignals(t *testing.T) {
	hearHangup(t)
	g := bigGraph(t)
	for sig, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		// On a slow machine the first signals may come before the search begins.
		for delay := 500 * time.Millisecond; ; delay *= 2 {
			c := command(t, append(slow, "-g", g)...)
			var out, errs bytes.Buffer
			c.Stdout, c.Stderr = &out, &errs
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(delay)
			_ = c.Process.Signal(sig)
			start := time.Now()
			_ = c.Wait()
			if out.Len() == 0 && delay < 3*time.Minute {
				continue
			}
			if code := c.ProcessState.ExitCode(); code != want || time.Since(start) > 3*time.Minute {
				t.Errorf("%v: exit %d after %s: %s", sig, code, time.Since(start), errs.String())
			}
			if !strings.Contains(out.String(), `"complete": false`) {
				t.Errorf("%v: no partial result: %s%s", sig, out.String(), errs.String())
			}
			break
		}
	}
}

// hearHangup has programs that the test starts end with SIGHUP also where the test itself runs under nohup: they would inherit
// that it is ignored, but not that it is caught.
func hearHangup(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(c) })
}

// TestSignalsLeaveNothing: a signal while a file is written leaves no temporary file.
func TestSignalsLeaveNothing(t *testing.T) {
	hearHangup(t)
	g := bigGraph(t)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		c := command(t, "match", "-g", g, "--pattern", "path(9)", "--to", "csv", "-o", filepath.Join(dir, "paths.csv"))
		c.Stderr = io.Discard
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for { // until it has something in the temporary file
			entries, _ := os.ReadDir(dir)
			if len(entries) > 0 {
				if info, err := entries[0].Info(); err == nil && info.Size() > 0 {
					break
				}
			}
			time.Sleep(time.Millisecond)
		}
		_ = c.Process.Signal(sig)
		_ = c.Wait()
		if entries, _ := os.ReadDir(dir); len(entries) != 1 || entries[0].Name() != "paths.csv.partial" {
			t.Errorf("%v: left %v", sig, entries)
		}
	}
}

// TestNohup: a process that is told to ignore SIGHUP goes on.
func TestNohup(t *testing.T) {
	c := command(t, append(slow, "-g", bigGraph(t), "--timeout", "3s")...)
	c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `trap '' HUP; echo ready; exec "$0" "$@"`, c.Path}, c.Args[1:]...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Wait()
	}()
	for waiting := true; waiting; {
		select {
		case <-done:
			waiting = false
		case <-time.After(10 * time.Millisecond):
			_ = c.Process.Signal(syscall.SIGHUP)
		}
	}
	if code := c.ProcessState.ExitCode(); code != exitTimeout {
		t.Errorf("%v", c.ProcessState)
	}
}

// TestInterruptedListing checks that a file cut short is not left under its name.
func TestInterruptedListing(t *testing.T) {
	g := bigGraph(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "paths.csv")
	// On a slow machine the first timeouts may end before the search begins, or before the output is opened.
	for timeout := 100 * time.Millisecond; ; timeout *= 2 {
		var errs bytes.Buffer
		code := run(context.Background(), []string{"match", "-g", g, "--pattern", "path(6)", "-o", out, "--to", "csv", "--timeout", timeout.String()}, nil, io.Discard, &errs)
		if code != exitTimeout {
			t.Fatalf("exit %d: %s", code, errs.String())
		}
		entries, _ := os.ReadDir(dir)
		if len(entries) == 0 && timeout < 3*time.Minute {
			continue
		}
		if len(entries) != 1 || entries[0].Name() != "paths.csv.partial" {
			t.Fatalf("left: %v", entries)
		}
		data, _ := os.ReadFile(out + ".partial")
		if len(data) == 0 && timeout < 3*time.Minute {
			continue
		}
		if !bytes.HasPrefix(data, []byte("v0,v1,")) || !bytes.HasSuffix(data, []byte("\n")) {
			t.Errorf("after %s the partial file has no whole rows: %q …", timeout, data[:min(len(data), 40)])
		}
		return
	}
}

// TestClosedPipe ends like head does to other tools: quietly, by SIGPIPE.
func TestClosedPipe(t *testing.T) {
	g := bigGraph(t)
	c := command(t, "match", "-g", g, "--pattern", "path(6)", "--to", "csv")
	var errs bytes.Buffer
	c.Stderr = &errs
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil || line != "v0,v1,v2,v3,v4,v5\n" {
		t.Errorf("first line %q: %v", line, err)
	}
	pipe.Close()
	start := time.Now()
	_ = c.Wait()
	status := c.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGPIPE || time.Since(start) > 3*time.Minute {
		t.Errorf("ended with %v after %s", c.ProcessState, time.Since(start))
	}
	if errs.Len() > 0 {
		t.Errorf("it was not quiet: %s", errs.String())
	}
}

// TestFullDisk limits the size of files, as a full disk would, for every format that is written.
func TestFullDisk(t *testing.T) {
	g := bigGraph(t)
	dir := t.TempDir()
	full := func(name string, args ...string) {
		t.Helper()
		c := command(t, args...)
		c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `ulimit -f 20; trap '' XFSZ; exec "$0" "$@"`, c.Path}, c.Args[1:]...)
		var errs bytes.Buffer
		c.Stderr = &errs
		_ = c.Run()
		if code := c.ProcessState.ExitCode(); code != exitFailure || !strings.Contains(errs.String(), "file too large") || !strings.Contains(errs.String(), filepath.Join(dir, name)) {
			t.Errorf("%v: exit %d: %s", args, code, errs.String())
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 0 {
			t.Errorf("%v: left: %v", args, entries)
		}
	}
	for _, to := range []string{"csv", "ndjson", "json", "table", "arrow", "parquet"} {
		full("x", "match", "-g", g, "--pattern", "path(5)", "--limit", "300000", "-o", filepath.Join(dir, "x"), "--to", to)
	}
	for _, name := range []string{"x.csv", "x.tsv", "x.el", "x.mtx", "x.tve", "x.gmatch", "x.sg", "x.weft", "x.arrow", "x.parquet", "x.txt.gz", "x.mtx.zst"} {
		full(name, "convert", "--lossy", g, filepath.Join(dir, name))
		full(name, "gen", "er", "--n", "2000", "--m", "40000", "-o", filepath.Join(dir, name))
	}
	full("v.csv", "convert", "--lossy", g, "/dev/null", "--to", "csv", "--write-vertices", filepath.Join(dir, "v.csv"), "--labels", bigLabels(t))
	// A vertex table that cannot be written takes the edges with it.
	full("v.csv", "convert", "--lossy", smallGraph(t), filepath.Join(dir, "e.csv"), "--write-vertices", filepath.Join(dir, "v.csv"), "--labels", bigLabels(t))
}

// bigLabels is a file of vertex labels that is larger than TestFullDisk allows.
func bigLabels(t *testing.T) string {
	t.Helper()
	var text bytes.Buffer
	for v := range 5000 {
		fmt.Fprintf(&text, "%d label%d\n", v, v%10)
	}
	return put(t, "labels.txt", text.String())
}

func smallGraph(t *testing.T) string { return put(t, "small.txt", "1 2\n2 3\n3 1\n") }

func put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDevices: devices and pipes are written to, by every command that writes, and stay as they are.
func TestDevices(t *testing.T) {
	g := smallGraph(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(filepath.Dir(pipe), "table.csv") // whose name says a format
	if err := os.Symlink(pipe, table); err != nil {
		t.Fatal(err)
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"convert", g, "OUT", "--to", "csv"}, {"convert", g, "OUT", "--to", "weft"}, {"gen", "star", "--n", "3", "--to", "csv", "-o", "OUT"},
		{"count", g, "--pattern", "triangle", "-o", "OUT"}, {"match", g, "--pattern", "triangle", "-o", "OUT"}, {"motifs", g, "-o", "OUT"},
		{"exists", g, "--pattern", "triangle", "-o", "OUT"}, {"info", g, "-o", "OUT"}, {"explain", g, "--pattern", "triangle", "-o", "OUT"},
		{"verify", g, "--pattern", "triangle", "-o", "OUT"}, {"matcha", "run", "triangles", "-g", g, "-o", "OUT"},
		{"convert", g, "/dev/null", "--to", "csv", "--lossy", "--write-vertices", table},
	} {
		for _, out := range []string{os.DevNull, pipe} {
			read := make(chan []byte, 1)
			if out == pipe {
				go func() {
					b, _ := os.ReadFile(pipe)
					read <- b
				}()
			}
			with := slices.Clone(args)
			if i := slices.Index(with, "OUT"); i >= 0 {
				with[i] = out
			} else if out == os.DevNull {
				continue
			}
			var errs bytes.Buffer
			if code := run(t.Context(), with, nil, io.Discard, &errs); code != exitOK {
				t.Errorf("%v: exit %d: %s", with, code, errs.String())
				continue // nobody may have opened the pipe
			}
			if out == pipe && len(<-read) == 0 {
				t.Errorf("%v wrote nothing", with)
			}
		}
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode() != os.ModeNamedPipe|0o600 {
		t.Errorf("the pipe is %v, %v", info.Mode(), err)
	}
	if after, err := os.Lstat(os.DevNull); err != nil || after.Mode() != null.Mode() {
		t.Errorf("%s is %v, %v", os.DevNull, after.Mode(), err)
	}
}

// TestFullDiskHelp: a help text that could not be written is a failure too.
func TestFullDiskHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"count", "--help"}, {"help", "engine-options"}, {"help", "gen"}} {
		var errs bytes.Buffer
		if code := run(context.Background(), args, nil, fullDisk{}, &errs); code != exitFailure || !strings.Contains(errs.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%v: exit %d: %s", args, code, errs.String())
		}
	}
}

// TestFullDiskAnswers: where exit code 1 is an answer, it is not that of a failure.
func TestFullDiskAnswers(t *testing.T) {
	g := bigGraph(t)
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"exists", "--pattern", "triangle"}, exitTrouble},
		{[]string{"exists", "--pattern", "clique(9)"}, exitTrouble},
		{[]string{"match", "MATCH (a)--(b) RETURN exists()"}, exitTrouble},
		{[]string{"verify", "--pattern", "triangle"}, exitTrouble},
		{[]string{"bench", "--pattern", "triangle", "--runs", "1", "--warmup", "0"}, exitTrouble},
		{[]string{"count", "--pattern", "triangle"}, exitFailure},
		{[]string{"match", "--pattern", "triangle"}, exitFailure},
	} {
		var errs bytes.Buffer
		code := run(context.Background(), append(c.args, "-g", g), nil, fullDisk{}, &errs)
		if code != c.code || !strings.Contains(errs.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%v: exit %d: %s", c.args, code, errs.String())
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/full", Err: syscall.ENOSPC}
}

// TestNoCompiler: without a C compiler the exit code says that something is not
// there, and the message what.
func TestNoCompiler(t *testing.T) {
	withoutCompiler(t, "CC=no-such-compiler -O1", "no-such-compiler")
	withoutCompiler(t, "CC=true", "compile")
}

// TestNoTemporaryFolder: a compiler without a place for its files is of no use.
func TestNoTemporaryFolder(t *testing.T) {
	if _, err := native.C(); err != nil {
		t.Skip(err)
	}
	withoutCompiler(t, "TMPDIR=/none/at/all", "temporary files go to /none/at/all")
}

// withoutCompiler runs commands that need a C compiler with a variable of the
// environment that takes it away.
func withoutCompiler(t *testing.T, variable, want string) {
	t.Helper()
	g := bigGraph(t)
	for _, args := range [][]string{
		{"count", "-g", g, "--pattern", "triangle", "--engine", "codegen", "--device", "cpu"},
		{"matcha", "run", "triangles", "-g", g, "--target", "c"},
		{"motifs", "-g", g, "--engine", "codegen", "--device", "cpu"},
	} {
		p := command(t, args...)
		p.Env = append(p.Env, "WEFT_CACHE=off", variable)
		out, _ := p.CombinedOutput()
		if code := p.ProcessState.ExitCode(); code != exitDevice || !strings.Contains(string(out), want) {
			t.Errorf("%v with %s: exit %d: %s", args, variable, code, out)
		}
	}
}

// TestPromises: what a header or the parameters of a model promise, and no memory has, is refused in a sentence.
// Each command is a process of its own, since what earlier tests left in memory counts too.
func TestPromises(t *testing.T) {
	const mtx = "%%MatrixMarket matrix coordinate pattern symmetric\n"
	csr := func(header ...uint64) string { // of a .sg file
		b := []byte{0}
		for _, x := range header {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
		return string(append(b, make([]byte, 64)...))
	}
	for _, c := range []struct {
		input string
		args  []string
		code  int
		want  string
	}{
		{mtx + "500000000 500000000 1\n2 1\n", []string{"info", "-"}, exitMemory, "500000000 vertices and 1 edges, which need at least 14.9 GiB"},
		{mtx + "4000000000 4000000000 1\n2 1\n", []string{"count", "-", "--pattern", "triangle"}, exitMemory, "need at least 119.2 GiB"},
		{csr(10, 2000000000), []string{"info", "-", "--format", "sg"}, exitMemory, "2000000000 vertices and 10 edges"},
		{"\x00\x00\x00\xf0\x00\x00\x00\x00" + strings.Repeat("\x00", 64), []string{"info", "-", "--format", "gmatch"}, exitMemory, "4026531840 vertices"},
		{"", []string{"gen", "star", "--n", "1000000000", "-o", os.DevNull, "--to", "weft"}, exitMemory, "star makes 1000000001 vertices"},
		{"", []string{"gen", "rmat", "--scale", "10", "--m", "1000000000", "-o", os.DevNull, "--to", "weft"}, exitMemory, "1000000000 edges"},
	} {
		if c.input != "" { // packed, so that its size is not known
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			if _, err := io.WriteString(z, c.input); err != nil || z.Close() != nil {
				t.Fatal(err)
			}
			c.args[1] = put(t, "graph.gz", packed.String())
		}
		code, errs := ended(t, append(c.args, "--memory", "2G")...)
		if code != c.code || !strings.Contains(errs, c.want) || !strings.Contains(errs, "of the 2.0 GiB that --memory allows") {
			t.Errorf("%v: exit %d: %s; want %q", c.args, code, errs, c.want)
		}
	}
	// A file that cannot have its entries is cut short, whatever memory there is.
	cut := put(t, "cut.mtx", mtx+"5 5 1000000000000\n2 1\n")
	if code, errs := ended(t, "info", cut); code != exitInput || !strings.Contains(errs, "cut.mtx:2:") {
		t.Errorf("exit %d: %s", code, errs)
	}
	// What fits is made.
	if code, errs := ended(t, "gen", "star", "--n", "10", "--memory", "2G", "-o", os.DevNull, "--to", "csv"); code != exitOK {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestWritingMemory: --memory holds for writing as for reading.
func TestWritingMemory(t *testing.T) {
	dir := t.TempDir()
	var errs bytes.Buffer
	code := run(t.Context(), []string{"convert", bigGraph(t), filepath.Join(dir, "x.parquet"), "--memory", "1K"}, nil, io.Discard, &errs)
	if entries, _ := os.ReadDir(dir); code != exitMemory || len(entries) > 0 {
		t.Errorf("convert: exit %d, left %v: %s", code, entries, errs.String())
	}
	g, err := weft.Open(t.Context(), bigGraph(t))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	err = g.Write(t.Context(), filepath.Join(dir, "x.parquet"), weft.WriteOptions{Memory: 1 << 10})
	if entries, _ := os.ReadDir(dir); !errors.Is(err, weft.ErrMemory) || len(entries) > 0 {
		t.Errorf("Write: %v, left %v", err, entries)
	}
}

// TestReplayInterrupted: a replay that is interrupted while its reader does not read says how many updates the reader gets, and the
// reader gets no part of another.
func TestReplayInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "u.txt")
	if err := os.WriteFile(file, bytes.Repeat([]byte("+ 1 2 abc\n"), 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	c := command(t, "replay", file, "--speed", "max")
	var errs strings.Builder
	c.Stderr = &errs
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c.Stdout = w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	first := make([]byte, 1)
	if _, err := r.Read(first); err != nil { // it writes, and waits when the pipe is full
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = c.Wait()
	rest, readErr := io.ReadAll(r)
	if code := c.ProcessState.ExitCode(); code != exitInterrupted || readErr != nil {
		t.Fatalf("%d, %v, %v: %s", code, err, readErr, errs.String())
	}
	got := append(first, rest...)
	want := fmt.Sprintf("weft: interrupted: %d updates written\n", bytes.Count(got, []byte("\n")))
	if !strings.HasSuffix(errs.String(), want) || got[len(got)-1] != '\n' {
		t.Errorf("%q, want %q; the reader got …%q", errs.String(), want, got[max(0, len(got)-20):])
	}
}
