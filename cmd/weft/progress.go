package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/weftgraph/weft"
)

// progress reports how far a command is: a bar that is overwritten on a
// terminal, lines, or JSON lines.
type progress struct {
	mu    sync.Mutex
	w     *messages
	mode  string // bar, plain, json or none
	phase string
	start time.Time // of the phase
	last  time.Time
	shown bool // a bar is on the line
}

// progress decides the mode: auto is a bar on a terminal and nothing elsewhere.
func (a *app) progress(mode string) *progress {
	p := &progress{w: a.stderr, mode: mode}
	if mode == "auto" {
		p.mode = "none"
		if isTerminal(a.stderr.file) {
			p.mode = "bar"
		}
	}
	return p
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// options asks the library to report to p.
func (p *progress) options() []weft.Option {
	if p.mode == "none" {
		return nil
	}
	return []weft.Option{weft.WithProgress(p.report)}
}

// report shows how far a phase is.
func (p *progress) report(x weft.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if x.Phase != p.phase {
		p.phase, p.start, p.last = x.Phase, now, time.Time{}
	}
	every := time.Second
	if p.mode == "bar" {
		every = 100 * time.Millisecond
	}
	if now.Sub(p.last) < every {
		return
	}
	if p.last.IsZero() && p.mode != "json" && now.Sub(p.start) < every {
		p.last = now.Add(-every / 2) // work that ends at once needs no bar
		return
	}
	p.last = now
	p.show(x, now)
}

func (p *progress) show(x weft.Progress, now time.Time) {
	fraction, eta := 0.0, ""
	if x.Total > 0 {
		fraction = min(float64(x.Done)/float64(x.Total), 1)
	}
	took := now.Sub(p.start)
	if fraction > 0.001 {
		left := time.Duration(float64(took) * (1 - fraction) / fraction)
		eta = ", " + left.Round(time.Second).String() + " left"
	}
	detail := ""
	if x.Detail != "" {
		detail = ": " + x.Detail
	}
	switch p.mode {
	case "json":
		line := map[string]any{"phase": x.Phase, "done": x.Done, "total": x.Total, "seconds": took.Seconds()}
		if x.Detail != "" {
			line["detail"] = x.Detail
		}
		text, _ := json.Marshal(line)
		p.w.offer(append(text, '\n'))
	case "plain":
		if x.Total == 0 && x.Detail != "" {
			p.w.offer(fmt.Appendf(nil, "%s%s\n", x.Phase, detail))
			return
		}
		p.w.offer(fmt.Appendf(nil, "%s: %.1f%%%s%s\n", x.Phase, 100*fraction, eta, detail))
	case "bar":
		const width = 30
		p.shown = true
		if x.Total == 0 && x.Detail != "" {
			p.w.offer(fmt.Appendf(nil, "\r\x1b[K%s%s", x.Phase, detail))
			return
		}
		full := int(fraction * width)
		p.w.offer(fmt.Appendf(nil, "\r\x1b[K%s [%s%s] %3.0f%%%s%s", x.Phase, strings.Repeat("#", full), strings.Repeat(".", width-full), 100*fraction, eta, detail))
	}
}

// clear removes a bar from the terminal.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
	p.phase = ""
}
