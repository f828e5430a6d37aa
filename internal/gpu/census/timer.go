package census

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/gpu"
)

// timer measures how long kernels take on a device that follow each other in its stream.
type timer struct {
	names  []string
	events []*cuda.Event
}

// mark notes when the device begins the kernel of a name, and so ends the one before it. The last mark has no kernel.
func (t *timer) mark(x *session.Exec, name string) error {
	e, err := x.Context().Event()
	if err != nil {
		return err
	}
	t.names, t.events = append(t.names, name), append(t.events, e)
	return e.Record(x.Stream())
}

// text lists the time of each kernel. All of them must have ended.
func (t *timer) text() (string, error) {
	var parts []string
	for i, e := range t.events[1:] {
		took, err := e.Since(t.events[i])
		if err != nil {
			return "", err
		}
		parts = append(parts, fmt.Sprintf("%s %v", strings.TrimPrefix(t.names[i], "census_"), gpu.Round(took)))
	}
	return strings.Join(parts, ", "), nil
}

// close gives the events back.
func (t *timer) close() error {
	var errs []error
	for _, e := range t.events {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}
