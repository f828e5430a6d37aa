package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
)

// ErrBusy is the error of Compile while a run has the devices: nothing was compiled.
var ErrBusy = errors.New("session: another run has the devices")

// Compile starts compiling the kernels of a job for all devices in the background, and returns
// at once. A Run of the job finds them compiled, or waits for the one compilation, and reports
// its error. Compilations that have not begun when ctx ends are dropped.
func (s *Session) Compile(ctx context.Context, j *Job) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if !s.use.try() {
		return ErrBusy
	}
	defer s.release()
	if s.use.over() {
		return errClosed
	}
	j = s.settled(j)
	j.sources = &s.sources
	for _, d := range s.devs {
		if err := d.dev.Do(func(c *cuda.Context) error { return j.expect(ctx, c, d.dev.Info()) }); err != nil {
			return err
		}
	}
	return nil
}

// Compiled reports whether all kernels of a job are kept for all devices, in memory or on disk. It does not
// wait for a run.
func (s *Session) Compiled(ctx context.Context, j *Job) bool {
	j = s.settled(j)
	j.sources = &s.sources
	for _, d := range s.devs {
		for _, text := range j.texts(d.dev.Info()) {
			if !d.dev.Compiled(ctx, j.source(text)) {
				return false
			}
		}
	}
	return true
}

// expect begins to compile the job's programs for one device.
func (j *Job) expect(ctx context.Context, c *cuda.Context, info cuda.Info) error {
	for _, text := range j.texts(info) {
		if err := c.Expect(ctx, j.source(text)); err != nil {
			return err
		}
	}
	return nil
}

// texts are the texts that follow Source's text in each program of the job: none, or the texts
// of Parts that it needs. An emulated device has one program of all parts, because the host's compiler takes
// longer to read the shared files than to compile a kernel.
func (j *Job) texts(info cuda.Info) (texts []string) {
	for name, text := range j.Parts {
		if info.Emulated || j.Needs == nil || slices.Contains(j.Needs, name) {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if len(texts) == 0 || info.Emulated {
		return []string{strings.Join(texts, "")}
	}
	return texts
}

// source is the job's with another text behind it, and with the shared files.
func (j *Job) source(text string) cuda.Source {
	if !j.Fixed || j.sources == nil {
		return j.sourceOf(text)
	}
	s := j.sources
	s.mu.Lock()
	defer s.mu.Unlock()
	name := j.Source.Name + "\n" + text
	src, ok := s.all[name]
	if !ok {
		src = j.sourceOf(text)
		src.Keys = &cuda.Keys{}
		if s.all == nil {
			s.all = map[string]cuda.Source{}
		}
		s.all[name] = src
	}
	return src
}

// sources are those of fixed programs, by the source's name and the text behind it.
type sources struct {
	mu  sync.Mutex
	all map[string]cuda.Source
}

func (j *Job) sourceOf(text string) cuda.Source {
	src := j.Source
	src.Text += text
	src.Includes = kernels.Includes(append(slices.Collect(maps.Values(j.Source.Includes)), src.Text)...)
	maps.Copy(src.Includes, j.Source.Includes)
	if j.cached {
		src.Options = append(slices.Clone(src.Options), "-DWEFT_CACHED")
	}
	return src
}
