package route

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/runtime"
)

// TestOutdated: auto leaves out GPUs whose architecture is too old and takes the first that
// can, or all that can, and says so; another error ends the search for one.
func TestOutdated(t *testing.T) {
	for _, c := range []struct {
		is      string // of each GPU: o: outdated; g: good; b: broken
		several bool
		want    string // the GPUs of the choice; "": the processor
		note    string
		tries   int
	}{
		{"g", false, "gpu:0", "", 1},
		{"go", false, "gpu:0", "", 1},
		{"og", false, "gpu:1", "on gpu:1, since others cannot: device not available: gpu:0: P100", 2},
		{"oog", false, "gpu:2", "gpu:0: P100; device not available: gpu:1: P100", 3},
		{"ogog", true, "gpu:1,3", "on gpu:1,3, since others cannot: device not available: gpu:0: P100; gpu:2: P100", 2},
		{"o", false, "", "on the processor, since gpu:0 cannot: device not available: gpu:0: P100", 1},
		{"oo", true, "", "on the processor, since gpu:0,1 cannot: device not available: gpu:0: P100; gpu:1: P100", 1},
		{"bg", false, "", "on the processor, since gpu:0 cannot: device not available: gpu:0: H100", 1},
		{"ob", true, "", "on the processor, since gpu:0,1 cannot: device not available: gpu:1: H100", 1},
		{"ob", false, "", "on the processor, since gpu:1 cannot: device not available: gpu:0: P100; device not available: gpu:1: H100", 2},
	} {
		tries := 0
		r := Request{}
		got, note, err := pickAmong(r, len(c.is), c.several, func(r Request) (Choice, error) {
			tries++
			bad := false
			rt := runtime.New(runtime.Options{Open: func(i int) (*cuda.Device, error) {
				switch c.is[i] {
				case 'o':
					return nil, &cuda.Error{Op: "P100", Kind: cuda.ErrArch}
				case 'b':
					return nil, &cuda.Error{Op: "H100", Kind: cuda.ErrLost}
				}
				return nil, nil
			}})
			for i := range c.is {
				bad = bad || c.is[i] != 'g' && strings.Contains(r.Device, strconv.Itoa(i))
			}
			if bad {
				_, err := rt.Session(t.Context(), r.Device, 0, nil)
				if !errors.Is(err, ErrDevice) || errors.Is(err, cuda.ErrLost) != strings.Contains(err.Error(), "H100") || errors.Is(err, cuda.ErrArch) == errors.Is(err, cuda.ErrLost) {
					t.Errorf("%s: %v of another kind", c.is, err)
				}
				return Choice{}, err
			}
			return Choice{device: r.Device}, nil
		})
		if got.device != c.want || (err == nil) != (c.want != "") || tries != c.tries {
			t.Errorf("%s: %q after %d tries, want %q after %d; %v", c.is, got.device, tries, c.want, c.tries, err)
		}
		if !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
			t.Errorf("%s: %q, want %q", c.is, note, c.note)
		}
	}
}
