package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is weft shell on a pseudo-terminal.
type terminal struct {
	t  *testing.T
	pt *os.File
	mu sync.Mutex
	b  bytes.Buffer
	n  int // bytes so far
}

// until waits until the terminal shows text, and forgets what stands before its end.
func (x *terminal) until(text string) string {
	x.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		if i := strings.Index(x.b.String(), text); i >= 0 {
			got := string(x.b.Next(i + len(text)))
			x.mu.Unlock()
			return got
		}
		x.mu.Unlock()
	}
	x.t.Fatalf("no %q in a minute: %q", text, x.b.String())
	return ""
}

// typed types a text when the terminal has been quiet for a while, as a person would. Keys are lost that come while the line
// editor waits for the place of the cursor.
func (x *terminal) typed(text string) {
	for last := -1; ; time.Sleep(200 * time.Millisecond) {
		x.mu.Lock()
		n := x.n
		x.mu.Unlock()
		if n == last {
			break
		}
		last = n
	}
	if _, err := x.pt.WriteString(text); err != nil {
		x.t.Fatal(err)
	}
}

// openTerminal starts weft shell on a pseudo-terminal.
func openTerminal(t *testing.T, environment []string, args ...string) (*terminal, *exec.Cmd) {
	t.Helper()
	pt, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pt.Close() })
	if err := unix.IoctlSetPointerInt(int(pt.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(pt.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := command(t, append([]string{"shell", "--progress", "none"}, args...)...)
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	c.Env = append(c.Environ(), append([]string{"INPUTRC=/dev/null", "TERM=xterm", "NO_COLOR="}, environment...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	tty.Close()
	x := &terminal{t: t, pt: pt}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := pt.Read(b)
			x.mu.Lock()
			x.b.Write(b[:n])
			x.n += n
			x.mu.Unlock()
			for range bytes.Count(b[:n], []byte("\x1b[6n")) { // where is the cursor?
				if _, err := pt.WriteString("\x1b[5;1R"); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return x, c
}

// TestShellTerminalColours types a query whose parts are coloured as they come, completes a name of the query, and opens a graph with
// other labels. With NO_COLOR no part is coloured.
func TestShellTerminalColours(t *testing.T) {
	follows := filepath.Join(t.TempDir(), "follows.csv")
	if err := os.WriteFile(follows, []byte("src,dst,label,since\nann,bob,FOLLOWS,2001\nbob,ann,FOLLOWS,2003\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	x, c := openTerminal(t, []string{"WEFT_HISTORY=off"}, "-g", k4(t), "--to", "csv")
	x.until("weft> ")
	x.typed(":graph " + filepath.Dir(follows) + "/fol\t")
	x.until("follows.csv")
	x.typed("\r")
	x.until("weft> ")
	x.typed("MATCH (follower)-[:F\t")
	x.until("\x1b[1;34mMATCH\x1b[0m (follower)-[:\x1b[36mFOLLOWS\x1b[0m")
	x.typed("]->(b) RETURN fol\t")
	x.until("\x1b[1;34mRETURN\x1b[0m follower")
	x.typed(", 'x'; //y")
	x.until("\x1b[32m'x'\x1b[0m; \x1b[90m\x1b[90m//y\x1b[0m")
	x.typed("\x15\x15:labels\r")
	x.until("edges,label,FOLLOWS,2,")
	x.until("weft> ")
	x.typed("\x04")
	if err := c.Wait(); err != nil {
		t.Errorf("after Ctrl-D: %v", err)
	}
	x, c = openTerminal(t, []string{"WEFT_HISTORY=off", "NO_COLOR=1"}, "-g", k4(t))
	x.until("weft> ")
	x.typed("MATCH (a) /* # // */ RETURN a")
	shown := x.until("RETURN a")
	x.typed("\r;\r")
	shown += x.until("weft> ")
	for _, code := range regexp.MustCompile("\x1b\\[([0-9;]*)m").FindAllStringSubmatch(shown, -1) {
		if code[1] != "0" && code[1] != "49" { // as without a highlighter
			t.Errorf("colour %q in %q", code[1], shown)
		}
	}
	x.typed("\x04")
	if err := c.Wait(); err != nil {
		t.Errorf("after Ctrl-D: %v", err)
	}
}

// TestShellDumbTerminal types queries and mistakes on a terminal that does not know control sequences. The shell reads plain lines there. Ctrl-C drops the text
// and stops a query, and the shell goes on.
func TestShellDumbTerminal(t *testing.T) {
	x, c := openTerminal(t, []string{"TERM=dumb"}, "-g", bigGraph(t), "--to", "csv", "--engine-opt", "plan.method=nest", "--engine-opt", "plan.tail=off")
	shown := x.until("weft> ")
	x.typed("MATCH (a)--(b)\n")
	shown += x.until("    > ")
	x.typed("RETURN count(*);\n")
	shown += x.until("\n80000,")
	shown += x.until("weft> ")
	x.typed(":nonsense\n")
	shown += x.until("unknown command")
	shown += x.until("weft> ")
	x.typed("MATCH (dropped)\n")
	shown += x.until("    > ")
	x.typed("\x03")
	shown += x.until("weft> ")
	x.typed(":count path(9)\n")
	time.Sleep(500 * time.Millisecond)
	x.typed("\x03")
	shown += x.until("interrupted: the result is partial")
	shown += x.until("weft> ")
	x.typed(":count edge\n")
	shown += x.until("\n40000,")
	shown += x.until("weft> ")
	x.typed("\x04")
	if err := c.Wait(); err != nil {
		t.Errorf("after Ctrl-D: %v", err)
	}
	if strings.Contains(shown, "\x1b") {
		t.Errorf("sequences: %q", shown)
	}
}

// TestShellTerminal types queries over lines, more matches than are shown, Ctrl-C in a text
// and in a query that takes for ever, Tab, the arrow up, and Ctrl-D.
func TestShellTerminal(t *testing.T) {
	g := bigGraph(t)
	kept := filepath.Join(t.TempDir(), "state", "history")
	x, c := openTerminal(t, []string{"WEFT_HISTORY=" + kept, "NO_COLOR=1"}, "-g", g, "--engine-opt", "plan.method=nest", "--engine-opt", "plan.tail=off")
	x.until("weft> ")
	x.typed("MATCH (a)--(b)\rRETURN a, b;\r")
	x.until("the first 25 matches")
	x.until("weft> ")
	x.typed("MATCH (a)-\rdropped")
	x.until("dropped")
	x.typed("\x03")
	x.until("^C")
	x.until("weft> ")
	x.typed(":count path(9)\r")
	x.until("path(9)")
	time.Sleep(500 * time.Millisecond)
	start := time.Now()
	x.typed("\x03")
	x.until("interrupted: the result is partial")
	took := time.Since(start)
	t.Logf("Ctrl-C took %s", took)
	if took > 20*time.Second {
		t.Errorf("Ctrl-C took %s", took)
	}
	x.until("weft> ")
	x.typed(":count (a)--(\r")
	x.until("^")
	x.until("weft> ")
	x.typed(":cou\t")
	x.until(":count")
	x.typed(" edge\r")
	x.until("40000")
	x.until("weft> ")
	x.typed("\x1b[A\x1b[A\x1b[A\x1b[A") // the text that Ctrl-C dropped is not there
	x.until("RETURN a, b;")
	x.typed("\r")
	x.until("the first 25 matches")
	x.until("weft> ")
	x.typed("\x04")
	if err := c.Wait(); err != nil {
		t.Errorf("after Ctrl-D: %v", err)
	}
	info, err := os.Stat(kept)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history: %v, %v", info, err)
	}
	h, err := os.ReadFile(kept)
	if err != nil || !strings.Contains(string(h), `"MATCH (a)--(b)\nRETURN a, b;"`+"\n") || strings.Contains(string(h), "(a)-\n") {
		t.Errorf("the history: %s, %v", h, err)
	}
}
