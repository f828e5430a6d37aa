//go:build linux && (amd64 || arm64)

package emu

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/runtime/code"
)

// outside is the run-time system as a process of its own. A call is a request and an answer, each a header of
// numbers and then bytes, in the order of runtime/main.cpp.
type outside struct {
	cmd   *exec.Cmd
	to    *bufio.Writer
	in    io.WriteCloser
	out   *bufio.Reader
	log   *head
	ended error // how the process ended, once it has
}

// environment makes sanitizers report on standard error and end the process with the first finding.
var environment = []string{
	"ASAN_OPTIONS=detect_leaks=0:abort_on_error=0:exitcode=99:handle_abort=1:allocator_may_return_null=1",
	"UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:exitcode=99",
	"TSAN_OPTIONS=halt_on_error=1:exitcode=99:report_thread_leaks=0",
}

func openProgram(c *compiler, images *code.Cache, sanitize Sanitizer, dir string) (system, error) {
	image, err := c.program(images, sanitize)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "device")
	if err := os.WriteFile(path, image, 0o700); err != nil {
		return nil, fmt.Errorf("emu: %w", err)
	}
	s := &outside{cmd: exec.Command(path), log: &head{}}
	s.cmd.Env = append(os.Environ(), environment...)
	s.cmd.Stderr = s.log
	to, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("emu: %w", err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("emu: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("emu: %w", err)
	}
	s.in, s.to, s.out = to, bufio.NewWriterSize(to, 1<<16), bufio.NewReaderSize(out, 1<<16)
	return s, nil
}

type request struct {
	Op               uint32
	_                uint32
	InBytes, OutSize uint64
	Args             args
}

type answer struct {
	Status              uint32
	_                   uint32
	TextBytes, OutBytes uint64
	Args                args
}

func (s *outside) call(op uint32, a *args, in, out []byte) (int, string) {
	if s.ended != nil {
		return statusLost, s.ended.Error()
	}
	status, text, err := s.exchange(op, a, in, out)
	if err != nil {
		s.ended = errors.New(s.obituary(err))
		return statusLost, s.ended.Error()
	}
	return status, text
}

func (s *outside) exchange(op uint32, a *args, in, out []byte) (int, string, error) {
	err := binary.Write(s.to, binary.LittleEndian, request{Op: op, InBytes: uint64(len(in)), OutSize: uint64(len(out)), Args: *a})
	if err == nil {
		_, err = s.to.Write(in)
	}
	if err == nil {
		err = s.to.Flush()
	}
	if err != nil {
		return 0, "", err
	}
	var r answer
	if err := binary.Read(s.out, binary.LittleEndian, &r); err != nil {
		return 0, "", err
	}
	if r.TextBytes > errorBytes || r.OutBytes != 0 && r.OutBytes != uint64(len(out)) {
		return 0, "", fmt.Errorf("an answer with %d and %d bytes", r.TextBytes, r.OutBytes)
	}
	text := make([]byte, r.TextBytes)
	if _, err := io.ReadFull(s.out, text); err != nil {
		return 0, "", err
	}
	if r.OutBytes > 0 {
		if _, err := io.ReadFull(s.out, out); err != nil {
			return 0, "", err
		}
	}
	*a = r.Args
	return int(r.Status), string(text), nil
}

// obituary says why the process no longer answers: mostly a sanitizer's report.
func (s *outside) obituary(err error) string {
	s.in.Close()
	state := s.wait()
	if log := s.log.String(); log != "" {
		return fmt.Sprintf("the device's process ended (%v):\n%s", state, log)
	}
	return fmt.Sprintf("the device's process does not answer: %v, %v", err, state)
}

// wait waits for the process, which has been told to end, and kills it where it does not.
func (s *outside) wait() error {
	kill := time.AfterFunc(20*time.Second, func() { s.cmd.Process.Kill() })
	defer kill.Stop()
	return s.cmd.Wait()
}

func (s *outside) pinName(file int) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file) }

func (s *outside) end() error {
	if s.ended != nil {
		return nil // reported when it was found
	}
	s.ended = cuda.ErrClosed
	s.in.Close()
	if err := s.wait(); err != nil {
		return fmt.Errorf("emu: the device's process: %w\n%s", err, s.log.String())
	}
	return nil
}

// head keeps the first bytes of a process's output, because a sanitizer's report begins with its
// main points.
type head struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *head) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 8<<10 - t.text.Len(); room > 0 {
		t.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *head) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.text.String())
}
