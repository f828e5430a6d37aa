package cuda

import "fmt"

// Info describes a device. Sizes are in bytes.
type Info struct {
	Ordinal        int
	Name           string // "NVIDIA H200"
	Driver         string // the driver's version, "CUDA 13.0"
	Compiler       string // "NVRTC 13.0"; empty: there is none, and only operations without kernels work
	Major, Minor   int    // compute capability
	SMs            int    // multiprocessors
	WarpSize       int
	Memory         int64
	L2             int64
	SharedPerBlock int // the most that a block can have, static and dynamic together
	SharedPerSM    int
	RegistersPerSM int
	ThreadsPerSM   int
	BlocksPerSM    int
	Emulated       bool // runs on the host's cores: for tests, and no GPU
}

// Arch is the name of the architecture that kernels are compiled for: "sm_90", or "emulated".
func (i Info) Arch() string {
	if i.Emulated {
		return "emulated"
	}
	return fmt.Sprintf("sm_%d%d", i.Major, i.Minor)
}

// String names the device in messages.
func (i Info) String() string {
	if i.Emulated {
		return i.Name
	}
	return fmt.Sprintf("GPU %d (%s)", i.Ordinal, i.Name)
}
