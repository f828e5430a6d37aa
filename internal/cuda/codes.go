package cuda

// codeText is weft's kind and hint for one of the driver's errors (CUresult). Names also come from the
// driver, which knows more errors; the names here are of errors that have a kind or a hint.
type codeText struct {
	name string
	kind error
	lost bool // the context is dead: every later call gives the same error
	hint string
}

const (
	codeSuccess  = 0
	codeNoDevice = 100
	codeNotReady = 600
)

const (
	hintDefect = "this is a defect in weft: please report it with the command"
	hintReset  = "run the command again; if it fails again, look at `nvidia-smi -q` and the system's log, and restart the machine"
)

var codes = map[int]codeText{
	1:   {name: "CUDA_ERROR_INVALID_VALUE", hint: hintDefect},
	2:   {name: "CUDA_ERROR_OUT_OF_MEMORY", kind: ErrMemory, hint: "end other programs that use the GPU (nvidia-smi lists them), give weft less with --gpu-memory, or use --device cpu"},
	3:   {name: "CUDA_ERROR_NOT_INITIALIZED", kind: ErrNoDriver, hint: hintReset},
	4:   {name: "CUDA_ERROR_DEINITIALIZED", kind: ErrLost, lost: true, hint: hintReset},
	34:  {name: "CUDA_ERROR_STUB_LIBRARY", kind: ErrNoDriver, hint: "the loader finds the toolkit's stub of libcuda: take its directory out of LD_LIBRARY_PATH"},
	46:  {name: "CUDA_ERROR_DEVICE_UNAVAILABLE", kind: ErrNoDevice, hint: "another program has the GPU for itself (compute mode); wait for it, or choose another GPU"},
	100: {name: "CUDA_ERROR_NO_DEVICE", kind: ErrNoDevice, hint: "the driver sees no GPU: look at `nvidia-smi`, at CUDA_VISIBLE_DEVICES, and in a container at its --gpus option"},
	101: {name: "CUDA_ERROR_INVALID_DEVICE", kind: ErrNoDevice, hint: "`weft doctor` lists the GPUs"},
	200: {name: "CUDA_ERROR_INVALID_IMAGE", kind: ErrArch, hint: "the compiler is newer than the driver, or the cached kernel is broken: bring both to one version, and empty weft's cache directory"},
	201: {name: "CUDA_ERROR_INVALID_CONTEXT", hint: hintDefect},
	209: {name: "CUDA_ERROR_NO_BINARY_FOR_GPU", kind: ErrArch, hint: "the compiler does not know this GPU: install a newer NVRTC"},
	214: {name: "CUDA_ERROR_ECC_UNCORRECTABLE", kind: ErrLost, lost: true, hint: "the GPU's memory has a fault (`nvidia-smi -q -d ECC`): reset the GPU, and have it looked at if it happens again"},
	218: {name: "CUDA_ERROR_INVALID_PTX", kind: ErrArch, hint: "install an NVRTC of the driver's CUDA version"},
	220: {name: "CUDA_ERROR_NVLINK_UNCORRECTABLE", kind: ErrLost, lost: true, hint: hintReset},
	221: {name: "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", kind: ErrNoCompiler, hint: "the driver's libnvidia-ptxjitcompiler is missing: install the whole driver, or an NVRTC that knows this GPU"},
	222: {name: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", kind: ErrArch, hint: "NVRTC is newer than the driver: update the driver, or install an NVRTC of the driver's CUDA version"},
	226: {name: "CUDA_ERROR_CONTAINED", kind: ErrLost, lost: true, hint: hintReset},
	304: {name: "CUDA_ERROR_OPERATING_SYSTEM", hint: hintReset},
	400: {name: "CUDA_ERROR_INVALID_HANDLE", hint: hintDefect},
	500: {name: "CUDA_ERROR_NOT_FOUND", hint: hintDefect},
	700: {name: "CUDA_ERROR_ILLEGAL_ADDRESS", kind: ErrLaunch, lost: true, hint: hintDefect},
	701: {name: "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", kind: ErrLaunch, hint: hintDefect},
	702: {name: "CUDA_ERROR_LAUNCH_TIMEOUT", kind: ErrLaunch, lost: true, hint: "the system ends kernels that run for long on a GPU with a display: use a GPU without one, or raise the limit"},
	709: {name: "CUDA_ERROR_CONTEXT_IS_DESTROYED", kind: ErrLost, lost: true, hint: hintReset},
	710: {name: "CUDA_ERROR_ASSERT", kind: ErrLaunch, lost: true, hint: hintDefect},
	714: {name: "CUDA_ERROR_HARDWARE_STACK_ERROR", kind: ErrLaunch, lost: true, hint: hintDefect},
	715: {name: "CUDA_ERROR_ILLEGAL_INSTRUCTION", kind: ErrLaunch, lost: true, hint: hintDefect},
	716: {name: "CUDA_ERROR_MISALIGNED_ADDRESS", kind: ErrLaunch, lost: true, hint: hintDefect},
	717: {name: "CUDA_ERROR_INVALID_ADDRESS_SPACE", kind: ErrLaunch, lost: true, hint: hintDefect},
	718: {name: "CUDA_ERROR_INVALID_PC", kind: ErrLaunch, lost: true, hint: hintDefect},
	719: {name: "CUDA_ERROR_LAUNCH_FAILED", kind: ErrLaunch, lost: true, hint: hintDefect},
	800: {name: "CUDA_ERROR_NOT_PERMITTED", hint: "the system or container does not allow it: look at the container's GPU capabilities (NVIDIA_DRIVER_CAPABILITIES=compute)"},
	801: {name: "CUDA_ERROR_NOT_SUPPORTED", hint: "the GPU or its driver cannot do this: update the driver"},
	802: {name: "CUDA_ERROR_SYSTEM_NOT_READY", kind: ErrNoDevice, hint: "the machine's fabric manager is not running: start nvidia-fabricmanager"},
	803: {name: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", kind: ErrNoDriver, hint: "libcuda and the kernel's driver have different versions: restart the machine after a driver update"},
	804: {name: "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", kind: ErrNoDriver, hint: "the forward-compatibility libcuda does not work on this GPU: take it out of LD_LIBRARY_PATH, or update the driver"},
	999: {name: "CUDA_ERROR_UNKNOWN", kind: ErrLost, lost: true, hint: hintReset},
}

// errorOf makes the error of a code that is not success.
func errorOf(op string, number int, name, text string) *Error {
	c := codes[number]
	if name == "" {
		name = c.name
	}
	if name == "" {
		name = "an error that weft does not know"
	}
	return &Error{Op: op, Code: number, Name: name, Text: text, Hint: c.hint, Kind: c.kind, Lost: c.lost}
}
