package choose

import (
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// Instead has open devices stand for the GPUs of this process, gpu:0,1,… all of them
// together: for tests on machines without any. end closes them.
func Instead(devices ...*cuda.Device) (end func(), err error) {
	open.Lock()
	defer open.Unlock()
	closeOpen()
	s, err := session.Open(devices, session.Options{})
	if err != nil {
		return nil, err
	}
	open.session, open.devices, open.memory = s, devices, 0
	for i := range devices {
		open.list = append(open.list, i)
	}
	before := gpus
	gpus = func() (int, error) { return len(devices), nil }
	return func() {
		open.Lock()
		defer open.Unlock()
		closeOpen()
		gpus = before
	}, nil
}
