package engines

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// WithSession runs f with a session over the devices, and closes it when f returns.
func WithSession(t *testing.T, o session.Options, f func(s *session.Session), devices ...*cuda.Device) {
	t.Helper()
	s, err := session.Open(devices, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	f(s)
}
