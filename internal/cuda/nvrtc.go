package cuda

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/dynlib"
)

// nvrtc is NVIDIA's run-time compiler, opened.
type nvrtc struct {
	path         string   // of the file
	from         string   // how it was found
	passedOver   []string // why others, which were found first, were not taken
	major, minor int
	archs        []int // architectures for which it makes machine code, ascending: 90 is sm_90

	getErrorString, getVersion, createProgram, destroyProgram, compileProgram uintptr
	getLogSize, getLog, getCubinSize, getCubin, getPTXSize, getPTX            uintptr
	getNumArchs, getArchs                                                     uintptr
}

// oldestNVRTC is the first with __grid_constant__; 128-bit integers in kernels came with 11.5.
const oldestNVRTC = "11.7"

const hintNVRTC = "install one of: the package cuda-nvrtc of NVIDIA's repository, `pip install nvidia-cuda-nvrtc` (or -cu12), a CUDA toolkit; and if it is in an unusual place, set CUDA_PATH"

// loadNVRTC opens the compiler once in a process. It takes the first one found that is not of a later CUDA than
// the driver, which would refuse its images. If there is none, it takes the first one found.
var loadNVRTC = sync.OnceValues(func() (*nvrtc, error) {
	driver := 0
	if a, err := loadDriver(); err == nil {
		driver = a.version / 1000
	}
	return firstNVRTC(machineSearch().places(), driver)
})

func firstNVRTC(places []place, driver int) (*nvrtc, error) {
	var tooNew *nvrtc
	var refused []string
	for _, p := range places {
		path := p.path
		if p.from != fromLoader { // the loader's own path is the system's matter
			var err error
			if path, err = disk.Trusted(p.path); err != nil {
				refused = append(refused, fmt.Sprintf("%s, by %s, is not loaded: %v", p.path, p.from, err))
				continue
			}
		}
		h, err := dynlib.Open(path)
		if err != nil {
			if p.from != fromLoader { // a file that is there and cannot be loaded
				refused = append(refused, err.Error())
			}
			continue
		}
		n := &nvrtc{path: p.path, from: p.from}
		if p.from == fromLoader {
			n.path = loadedFrom(p.path)
		}
		err = n.start(h)
		switch {
		case err != nil:
			refused = append(refused, err.Error())
			h.Close()
		case driver == 0 || n.major <= driver:
			n.passedOver = refused
			return n, nil
		case tooNew == nil:
			tooNew = n
		}
	}
	if tooNew != nil {
		tooNew.passedOver = refused
		return tooNew, nil
	}
	text := "NVRTC (libnvrtc) was not found"
	if refused != nil {
		text = "no NVRTC that can be used: " + strings.Join(refused, "; ")
	}
	return nil, &Error{Op: "GPU compiler", Text: text, Hint: hintNVRTC, Kind: ErrNoCompiler}
}

func (n *nvrtc) start(handle dynlib.Library) error {
	err := resolve(handle, n.path, []symbol{
		{&n.getErrorString, "nvrtcGetErrorString"},
		{&n.getVersion, "nvrtcVersion"},
		{&n.createProgram, "nvrtcCreateProgram"},
		{&n.destroyProgram, "nvrtcDestroyProgram"},
		{&n.compileProgram, "nvrtcCompileProgram"},
		{&n.getLogSize, "nvrtcGetProgramLogSize"},
		{&n.getLog, "nvrtcGetProgramLog"},
		{&n.getCubinSize, "nvrtcGetCUBINSize"},
		{&n.getCubin, "nvrtcGetCUBIN"},
		{&n.getPTXSize, "nvrtcGetPTXSize"},
		{&n.getPTX, "nvrtcGetPTX"},
		{&n.getNumArchs, "nvrtcGetNumSupportedArchs"},
		{&n.getArchs, "nvrtcGetSupportedArchs"},
	})
	if err != nil {
		return fmt.Errorf("%w; weft needs NVRTC %s or newer", err, oldestNVRTC)
	}
	var major, minor int32
	if err := n.check("version of NVRTC", dynlib.Call(n.getVersion, uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor)))); err != nil {
		return err
	}
	n.major, n.minor = int(major), int(minor)
	if n.major < 11 || n.major == 11 && n.minor < 7 {
		return fmt.Errorf("%s is NVRTC %s; weft needs %s or newer", n.path, n.version(), oldestNVRTC)
	}
	var count int32
	if err := n.check("architectures of NVRTC", dynlib.Call(n.getNumArchs, uintptr(unsafe.Pointer(&count)))); err != nil {
		return err
	}
	archs := make([]int32, max(1, count))
	if err := n.check("architectures of NVRTC", dynlib.Call(n.getArchs, uintptr(unsafe.Pointer(&archs[0])))); err != nil {
		return err
	}
	for _, a := range archs[:count] {
		n.archs = append(n.archs, int(a))
	}
	slices.Sort(n.archs)
	return nil
}

func (n *nvrtc) version() string { return fmt.Sprintf("%d.%d", n.major, n.minor) }

// check turns the result of an NVRTC function into an error.
func (n *nvrtc) check(op string, result uintptr) error {
	r := int32(result)
	if r == 0 {
		return nil
	}
	// nvrtcGetErrorString returns the name, as an address.
	at := dynlib.Call(n.getErrorString, uintptr(r))
	name := goString(*(**byte)(unsafe.Pointer(&at)))
	return &Error{Op: op, Code: int(r), Name: name, Hint: hintNVRTC, Kind: ErrNoCompiler}
}

// target chooses the output of a compilation for a device. It is machine code if NVRTC knows the device.
// Otherwise it is text for the newest virtual architecture that NVRTC knows, which the driver translates.
func (n *nvrtc) target(device Info) (arch string, machine bool, err error) {
	want := device.Major*10 + device.Minor
	if slices.Contains(n.archs, want) {
		return fmt.Sprintf("sm_%d", want), true, nil
	}
	below := slices.DeleteFunc(slices.Clone(n.archs), func(a int) bool { return a > want })
	if len(below) == 0 {
		return "", false, &Error{Op: "GPU compiler", Text: fmt.Sprintf("NVRTC %s does not compile for %s", n.version(), device.Arch()),
			Hint: "install an older NVRTC (NVRTC 12 still knows sm_70)", Kind: ErrArch}
	}
	return fmt.Sprintf("compute_%d", below[len(below)-1]), false, nil
}

// everySource are the compiler's options for every source. A lambda that a template passes on has no place to be
// called a device function: all functions are. Fractions round after each operation, as on the host: a condition
// must hold for the same matches.
var everySource = []string{"--std=c++17", "-device-int128", "-default-device", "--fmad=false"}

// options are the compiler's options for a source.
func (src Source) options(arch string) []string {
	out := append([]string{"--gpu-architecture=" + arch}, everySource...)
	if src.Debug {
		out = append(out, "-lineinfo", "-DWEFT_DEBUG")
	}
	return append(out, src.Options...)
}

// The results of nvrtcCompileProgram that are about the source; the others are about NVRTC itself.
const (
	nvrtcInvalidOption = 5
	nvrtcCompilation   = 6
)

// compile makes an image. Messages of the compiler begin with the source's name and the line.
func (n *nvrtc) compile(src Source, device Info) ([]byte, error) {
	op := "compile of " + src.Name
	arch, machine, err := n.target(device)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(src.Includes))
	var includes, headers cStrings
	for _, name := range names {
		includes.add(name)
		headers.add(src.Includes[name])
	}
	var options cStrings
	for _, o := range src.options(arch) {
		options.add(o)
	}
	text, name := cString(src.Text), cString(src.Name)
	var program uintptr
	if err := n.check(op, dynlib.Call(n.createProgram, uintptr(unsafe.Pointer(&program)), uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(&name[0])),
		uintptr(len(names)), uintptr(headers.array()), uintptr(includes.array()))); err != nil {
		return nil, err
	}
	defer func() { dynlib.Call(n.destroyProgram, uintptr(unsafe.Pointer(&program))) }()
	if r := dynlib.Call(n.compileProgram, program, uintptr(len(options)), uintptr(options.array())); int32(r) != 0 {
		e := n.check(op, r).(*Error)
		log, err := n.output(op, program, n.getLogSize, n.getLog)
		if err != nil {
			return nil, err
		}
		e.Log = goString(unsafe.SliceData(log))
		if e.Code == nvrtcInvalidOption || e.Code == nvrtcCompilation {
			e.Kind, e.Hint = ErrCompile, hintDefect
		}
		return nil, e
	}
	if machine {
		return n.output(op, program, n.getCubinSize, n.getCubin)
	}
	return n.output(op, program, n.getPTXSize, n.getPTX)
}

// CompileFor compiles a source for devices of an architecture, 9.0 say, without one: a check of the source. The error
// is ErrNoCompiler where NVRTC is not installed, and ErrCompile with the compiler's messages.
func CompileFor(src Source, major, minor int) (image []byte, err error) {
	n, err := loadNVRTC()
	if err != nil {
		return nil, err
	}
	return n.compile(src, Info{Major: major, Minor: minor})
}

// output reads one of the things that a program has become. There is a zero byte behind it.
func (n *nvrtc) output(op string, program, size, get uintptr) ([]byte, error) {
	var bytes uint64
	if err := n.check(op, dynlib.Call(size, program, uintptr(unsafe.Pointer(&bytes)))); err != nil {
		return nil, err
	}
	out := make([]byte, bytes+1)
	if err := n.check(op, dynlib.Call(get, program, uintptr(unsafe.Pointer(&out[0])))); err != nil {
		return nil, err
	}
	return out[:bytes], nil
}

// cStrings is an array of C strings.
type cStrings []*byte

func (s *cStrings) add(text string) { *s = append(*s, &cString(text)[0]) }

// array is the array's address; null when it is empty.
func (s cStrings) array() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }
