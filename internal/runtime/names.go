package runtime

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Errors of devices; test with errors.Is.
var (
	// ErrName: no engine or device is called so.
	ErrName = errors.New("unknown name")
	// ErrDevice: the device was asked for and cannot be used.
	ErrDevice = errors.New("device not available")
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

// OnGPU reports whether a device name asks for GPUs.
func OnGPU(device string) bool { return GPUs(device) > 0 }

// GPUs is the number of GPUs that a device name asks for; 0 for the processor.
func GPUs(device string) int {
	list, err := ordinals(device)
	if err != nil {
		return 0
	}
	return len(list)
}

// nameOf is the device name that asks for these GPUs.
func nameOf(list []int) string {
	var names []string
	for _, n := range list {
		names = append(names, strconv.Itoa(n))
	}
	return "gpu:" + strings.Join(names, ",")
}
