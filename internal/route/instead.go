package route

import (
	"context"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// Instead has open devices stand for the GPUs of this process, gpu:0,1,… all of them
// together: for tests on machines without any. end closes them.
func Instead(devices ...*cuda.Device) (end func(), err error) {
	if err := closeOpen(); err != nil {
		return nil, err
	}
	s, err := session.Open(devices, session.Options{})
	if err != nil {
		return nil, err
	}
	o := asking(nil, 0)()
	o.session, o.devices = s, devices
	for i := range devices {
		o.list = append(o.list, i)
	}
	close(o.ready)
	open.mu.Lock()
	open.now = o
	open.mu.Unlock()
	before := gpus
	gpus = func() (int, error) { return len(devices), nil }
	return func() {
		_ = closeOpen()
		gpus = before
	}, nil
}

// closeOpen closes the GPUs that are open, after the runs there.
func closeOpen() error {
	for o := open.current(nil); o != nil; o = open.current(nil) {
		<-o.ready
		if o.err != nil {
			continue
		}
		if err := open.retire(context.Background(), o); err != nil {
			return err
		}
	}
	return nil
}
