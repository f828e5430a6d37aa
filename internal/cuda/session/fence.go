package session

import (
	"errors"

	"github.com/weftgraph/weft/internal/cuda"
)

// fence takes the device memory that the session may not use, so that pages of managed memory get no more than the session
// may have, and kept for the driver. Without it all free memory of the device would serve as their cache, whatever --gpu-memory
// says. It does nothing where the user gave no limit. unfence gives the memory back.
func (d *device) fence(c *cuda.Context) error {
	if !d.room.given || d.fenced.Size > 0 {
		return nil
	}
	free, total, err := c.Memory()
	if err != nil {
		return err
	}
	beyond := free - d.room.left() - min(reserve, total/10)
	if beyond <= 0 {
		return nil
	}
	d.fenced, err = c.Alloc(beyond)
	return err
}

func (d *device) unfence(c *cuda.Context) error {
	err := c.Free(d.fenced)
	d.fenced = cuda.Buffer{}
	return err
}

// unfence gives back what fences of all devices hold. The holder of the devices calls it, after managed memory has been freed.
func (s *Session) unfence() error {
	var errs []error
	for _, d := range s.devs {
		if d.fenced.Size > 0 {
			errs = append(errs, d.dev.Do(d.unfence))
		}
	}
	return errors.Join(errs...)
}
