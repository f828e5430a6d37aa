package choose

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// ordinals reads a device name: the numbers of the GPUs that it asks for, nil
// for the processor.
func ordinals(device string) ([]int, error) {
	switch device {
	case "", "auto", "cpu":
		return nil, nil
	case "gpu":
		return []int{0}, nil
	}
	list, ok := strings.CutPrefix(device, "gpu:")
	var out []int
	seen := map[int]bool{}
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 0 || seen[n] {
			return nil, fmt.Errorf("%w: device %q: want auto, cpu or gpu:0,1,…", ErrName, device)
		}
		seen[n] = true
		out = append(out, n)
	}
	return out, nil
}

// sessions are the open sessions by device name: a graph that was brought onto
// a GPU stays there for the next query. They end with the process.
var sessions struct {
	sync.Mutex
	open map[string]*session.Session
	gpus map[int]bool // in use by one of them
}

// sessionOn returns the session over the GPUs that a device name asks for.
func sessionOn(device string) (*session.Session, error) {
	list, err := ordinals(device)
	if err != nil {
		return nil, err
	}
	sessions.Lock()
	defer sessions.Unlock()
	if s := sessions.open[device]; s != nil {
		return s, nil
	}
	var devs []*cuda.Device
	closeAll := func(err error) error {
		for _, d := range devs {
			err = errors.Join(err, d.Close())
		}
		return err
	}
	for _, n := range list {
		if sessions.gpus[n] {
			return nil, closeAll(fmt.Errorf("%w: gpu:%d is in use by another choice of devices of this process", ErrDevice, n))
		}
		d, err := cuda.Open(n)
		if err != nil {
			return nil, closeAll(fmt.Errorf("%w: gpu:%d: %w", ErrDevice, n, err))
		}
		devs = append(devs, d)
	}
	s, err := session.Open(devs, session.Options{})
	if err != nil {
		return nil, closeAll(fmt.Errorf("%w: %s: %w", ErrDevice, device, err))
	}
	if sessions.open == nil {
		sessions.open, sessions.gpus = map[string]*session.Session{}, map[int]bool{}
	}
	sessions.open[device] = s
	for _, n := range list {
		sessions.gpus[n] = true
	}
	return s, nil
}

// OnGPU reports whether a device name asks for GPUs.
func OnGPU(device string) bool {
	list, err := ordinals(device)
	return err == nil && len(list) > 0
}
