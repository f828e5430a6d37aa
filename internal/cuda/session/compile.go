package session

import (
	"context"
	"errors"
	"fmt"
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
	if j.sources == nil {
		return j.sourceOf(text)
	}
	return j.sources.get(j.parts(text), func() cuda.Source { return j.sourceOf(text) })
}

// sourceParts is all that a source depends on besides the shared files.
type sourceParts struct {
	name, text, behind, includes, options string
	cached                                bool
}

func (j *Job) parts(text string) sourceParts {
	of := &j.Source
	k := sourceParts{name: of.Name, text: of.Text, behind: text, options: strings.Join(of.Options, "\n"), cached: j.cached}
	for _, name := range slices.Sorted(maps.Keys(of.Includes)) {
		k.includes += fmt.Sprintf("%s\n%d\n%s", name, len(of.Includes[name]), of.Includes[name])
	}
	return k
}

// sources are those of the jobs of late, with the shared files and the keys of their images. Why: to find these
// takes longer than to answer a small query.
type sources struct {
	mu  sync.Mutex
	all map[sourceParts]cuda.Source
}

// sourcesMost is how many sources are remembered; then all are forgotten.
const sourcesMost = 256

func (s *sources) get(of sourceParts, find func() cuda.Source) cuda.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	src, ok := s.all[of]
	if !ok {
		src = find()
		src.Keys = &cuda.Keys{}
		if s.all == nil || len(s.all) >= sourcesMost {
			s.all = map[sourceParts]cuda.Source{}
		}
		s.all[of] = src
	}
	return src
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
