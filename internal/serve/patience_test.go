package serve

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// TestPatienceChanges: a write that waits already has the whole time from the call that sets a deadline.
func TestPatienceChanges(t *testing.T) {
	const soon = 400 * time.Millisecond
	for name, first := range map[string]time.Duration{"without a deadline": 0, "with a deadline": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, system := net.Pipe()
			defer client.Close()
			p := newPatient(system)
			defer p.Close()
			if first > 0 {
				if err := p.SetWriteDeadline(time.Now().Add(first)); err != nil {
					t.Fatal(err)
				}
			}
			begun, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				close(begun)
				_, err := p.Write([]byte("nobody reads this"))
				ended <- err
			}()
			<-begun
			time.Sleep(2 * soon)
			from := time.Now()
			if err := p.SetWriteDeadline(from.Add(soon)); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				if took := time.Since(from); !errors.Is(err, os.ErrDeadlineExceeded) || took < soon {
					t.Errorf("%v after %v, and not %v", err, took, soon)
				}
			case <-time.After(20 * time.Second):
				t.Error("the write goes on")
			}
		})
	}
}
