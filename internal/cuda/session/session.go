package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/weftgraph/weft/internal/cuda"
)

// Options of a session.
type Options struct {
	// Memory is the number of bytes of each device's memory that the session may use. 0 means
	// all free memory, less a reserve for the driver.
	Memory int64
	// Ring is about how many bytes of pinned memory each device's ring of match
	// rows has; 0: 16 MiB.
	Ring int64
	// Host is how many bytes of page-locked host memory arrays may take, which runs read in place.
	// All devices read the same copy. 0: what the machine has.
	Host int64
}

// Session runs jobs on devices, and keeps arrays there between them. Two
// sessions must not share a device. Its methods may be called from any
// goroutine; runs come one after the other.
type Session struct {
	o    Options
	devs []*device
	use  *lock // its holder uses host, devs[i].arrays and the other fields of functions of Do
	host hostArrays

	sources sources
	values  values

	workers int         // of each device, of a session of Apart; 0: by the cores
	locking *sync.Mutex // held while such sessions take page-locked memory, so that none counts on the same free memory

	mu   sync.Mutex
	gone []any   // owners whose arrays are to be freed when the devices are free
	lost []error // of freeing those
}

// device is one device of a session. Everything but dev belongs to functions of
// Do.
type device struct {
	dev    *cuda.Device
	room   budget // of device memory
	arrays residents
	spares spares
	// control and ring are kept between runs: pinned memory is slow to get.
	control *cuda.Pinned
	ring    *cuda.Pinned
	stage   *stage
	// needed is the bytes that the last rehearsed run took, and rehearsed its figures.
	needed    int64
	rehearsed DeviceResult
	spare     []*cuda.Pinned // of Lend, that the last run which borrowed had
	idle      int            // runs since then
	// fenced is memory that nobody uses during a run with managed memory.
	fenced cuda.Buffer
}

// Open starts a session over open devices, which stay the caller's to close,
// after the session.
func Open(devices []*cuda.Device, o Options) (*Session, error) {
	if len(devices) == 0 {
		return nil, fmt.Errorf("session: %w", cuda.ErrNoDevice)
	}
	if o.Ring == 0 {
		o.Ring = ringBytes
	}
	if o.Host == 0 {
		o.Host = math.MaxInt64
	}
	s := &Session{o: o, use: newLock()}
	for _, d := range devices {
		dev := &device{dev: d}
		s.devs = append(s.devs, dev)
		err := d.Do(func(c *cuda.Context) (err error) {
			dev.room, err = newBudget(c, o.Memory)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close waits for a run's end and gives back all that the session keeps on its
// devices. Runs that wait for their turn return cuda.ErrClosed at once.
func (s *Session) Close() error {
	s.use.close()
	s.use.held <- struct{}{}
	return s.shut()
}

// CloseWithin is Close in turn with the runs that wait; closed reports whether this call
// has closed the session. When ctx ends first, the session stays open and the error is
// the cause. The error of a session that another call closes is cuda.ErrClosed.
func (s *Session) CloseWithin(ctx context.Context) (closed bool, err error) {
	if err := s.use.take(ctx); err != nil {
		return false, err
	}
	s.use.close()
	return true, s.shut()
}

// shut frees the session's memory, and then the devices, which the caller holds.
func (s *Session) shut() error {
	defer s.use.give()
	s.values.forget(func(any) bool { return true })
	s.mu.Lock()
	errs := s.lost
	s.gone, s.lost = nil, nil
	s.mu.Unlock()
	errs = append(errs, s.freeHost(func(*hostArray) bool { return true }))
	for _, d := range s.devs {
		errs = append(errs, d.dev.Do(func(c *cuda.Context) error {
			errs := []error{d.freeAll(c)}
			if d.stage != nil {
				errs = append(errs, d.stage.close())
			}
			for _, p := range append(d.spare, d.control, d.ring) {
				if p != nil {
					errs = append(errs, p.Free())
				}
			}
			d.stage, d.control, d.ring, d.spare = nil, nil, nil, nil
			return errors.Join(errs...)
		}))
	}
	return cuda.Join(errs...)
}

// Forget frees all resident arrays and values. It waits for a run in progress.
func (s *Session) Forget() error {
	s.values.forget(func(any) bool { return true })
	s.use.held <- struct{}{}
	defer s.release()
	errs := []error{s.freeHost(func(*hostArray) bool { return true })}
	for _, d := range s.devs {
		errs = append(errs, d.dev.Do(func(c *cuda.Context) error { return d.freeAll(c) }))
	}
	return cuda.Join(errs...)
}

// ForgetOwner frees the arrays and values of an owner (Job.Owner) that is gone. It does not
// wait for a run: where one is going on, they are freed at its end, and Close
// returns the error that this may give.
func (s *Session) ForgetOwner(owner any) error {
	s.values.forget(func(o any) bool { return o == owner })
	s.mu.Lock()
	s.gone = append(s.gone, owner)
	s.mu.Unlock()
	if !s.use.try() {
		return nil // the holder of the devices also frees them
	}
	err := s.sweep()
	s.release()
	return err
}

// release gives the devices back, without the arrays of owners that are gone.
func (s *Session) release() {
	for {
		if err := s.sweep(); err != nil {
			s.mu.Lock()
			s.lost = append(s.lost, err)
			s.mu.Unlock()
		}
		s.use.give()
		s.mu.Lock()
		more := len(s.gone) > 0
		s.mu.Unlock()
		if !more || !s.use.try() {
			return
		}
	}
}

// sweep frees temporary arrays, and those of owners that are gone.
func (s *Session) sweep() error {
	s.mu.Lock()
	gone := s.gone
	s.gone = nil
	s.mu.Unlock()
	errs := []error{s.freeHost(func(a *hostArray) bool { return a.temporary() || slices.Contains(gone, a.owner) }), s.unfence()}
	if len(gone) == 0 {
		return cuda.Join(errs...)
	}
	for _, d := range s.devs {
		if len(d.arrays.all) == 0 {
			continue
		}
		errs = append(errs, d.dev.Do(func(c *cuda.Context) error {
			return d.freeIf(c, func(a *array) bool { return slices.Contains(gone, a.owner) })
		}))
	}
	return cuda.Join(errs...)
}

// Devices describes the session's devices.
func (s *Session) Devices() []cuda.Info {
	var infos []cuda.Info
	for _, d := range s.devs {
		infos = append(infos, d.dev.Info())
	}
	return infos
}

// Memory is how many bytes the session may use on each device: the least of them.
func (s *Session) Memory() int64 {
	least := int64(math.MaxInt64)
	for _, d := range s.devs {
		least = min(least, d.room.limit)
	}
	return least
}

// String names the session's devices for people.
func (s *Session) String() string {
	infos := s.Devices()
	if len(infos) == 1 {
		return infos[0].String()
	}
	var names []string
	for _, i := range infos {
		if !slices.Contains(names, i.Name) {
			names = append(names, i.Name)
		}
	}
	return fmt.Sprintf("%d × %s", len(infos), strings.Join(names, ", "))
}

// Workers is how many workers call a job's Rows.
func (s *Session) Workers() int { return len(s.devs) * s.drainers() }

// drainers is how many workers take a device's rows.
func (s *Session) drainers() int {
	if s.workers > 0 {
		return s.workers
	}
	return max(1, min(4, runtime.GOMAXPROCS(0)/len(s.devs)))
}
