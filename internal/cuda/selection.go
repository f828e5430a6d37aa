package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// visibleVariable is read by the driver when it starts. It lists the GPUs that the driver shows, in order, by
// their numbers or unique ids, up to the first invalid entry (CUDA Programming Guide, CUDA environment
// variables).
const visibleVariable = "CUDA_VISIBLE_DEVICES"

// Only says which GPUs this process will open. It must be called before all other functions of this package. The
// driver then ignores the other GPUs, which saves a tenth of a second and more for each. Numbers keep their
// meaning, as does Count. If only the driver can tell that these GPUs exist, it starts with all. A GPU that was
// left out cannot be opened. Only is for programs, not for libraries: other users of CUDA in the process find no
// other GPUs either.
func Only(ordinals ...int) {
	only.Lock()
	defer only.Unlock()
	only.ordinals = slices.Clone(ordinals)
}

var only struct {
	sync.Mutex
	ordinals []int
}

// selection is some of the GPUs, for a driver that shows no others.
type selection struct {
	ordinals []int  // as they are without it, ascending: the driver's number of a GPU is its place here
	count    int    // of all
	list     string // the list for the driver
}

// selected returns the request of Only; nil: all GPUs.
func selected() *selection {
	only.Lock()
	defer only.Unlock()
	list, set := os.LookupEnv(visibleVariable)
	names := []string(nil)
	if there := countGPUs("/"); set {
		names = visible(list, there)
	} else {
		for i := range there {
			names = append(names, strconv.Itoa(i))
		}
	}
	return selectFrom(names, only.ordinals)
}

// selectFrom selects among the GPUs of these names; nil where it is not known that they are there, or where they
// are all.
func selectFrom(names []string, ordinals []int) *selection {
	s := &selection{ordinals: slices.Compact(slices.Sorted(slices.Values(ordinals))), count: len(names)}
	if len(s.ordinals) == 0 || len(s.ordinals) == s.count {
		return nil
	}
	var list []string
	for _, i := range s.ordinals {
		if i < 0 || i >= len(names) {
			return nil
		}
		list = append(list, names[i])
	}
	s.list = strings.Join(list, ",")
	return s
}

// visible returns the GPUs that a list shows on a machine with `there` GPUs; 0 means that the number is not
// known. A list with one GPU twice shows none.
func visible(list string, there int) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if n, err := strconv.Atoi(name); err == nil && (n < 0 || n >= there) ||
			err != nil && !strings.HasPrefix(name, "GPU-") && !strings.HasPrefix(name, "MIG-") {
			break
		}
		if slices.Contains(names, name) {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// countGPUs returns the number of GPUs that the system shows to this process. It returns 0 if the driver may find
// another number: if the system does not say, or if GPUs are divided into instances. A container may list all
// GPUs of the host and have the devices of some. A sandbox may have only devices. A host makes devices when they
// are first used.
func countGPUs(root string) int {
	driver := filepath.Join(root, "proc/driver/nvidia")
	if instances, _ := filepath.Glob(filepath.Join(driver, "capabilities/gpu*/mig/gi*")); instances != nil {
		return 0
	}
	listed, _ := os.ReadDir(filepath.Join(driver, "gpus"))
	devices, _ := filepath.Glob(filepath.Join(root, "dev/nvidia[0-9]*"))
	if len(listed) == 0 || len(devices) == 0 {
		return max(len(listed), len(devices))
	}
	return min(len(listed), len(devices))
}

// apply tells the driver, before it starts.
func (s *selection) apply() error { return os.Setenv(visibleVariable, s.list) }

// started is the error of a driver that shows n of the GPUs that it was started for.
func (s *selection) started(n int) error {
	if n == len(s.ordinals) {
		return nil
	}
	return &Error{Op: "start of the GPU driver with " + visibleVariable + "=" + s.list,
		Text: fmt.Sprintf("it shows %d of these %d GPUs", n, len(s.ordinals)), Hint: codes[codeNoDevice].hint, Kind: ErrNoDevice}
}

// number is the driver's number of a GPU.
func (a *driverAPI) number(ordinal int) (uintptr, error) {
	if a.selection == nil {
		return uintptr(ordinal), nil
	}
	i, ok := slices.BinarySearch(a.selection.ordinals, ordinal)
	if !ok {
		return 0, &Error{Op: fmt.Sprintf("GPU %d", ordinal), Text: "the driver was started without it, since this process had asked for other GPUs only", Kind: ErrNoDevice}
	}
	return uintptr(i), nil
}
