package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/weftgraph/weft/internal/runtime/code"
)

// Finding is a line of a report: the thing looked for, the thing found (empty if none), and advice.
type Finding struct{ What, Found, Advice string }

// Report says what this machine has for GPUs, and what is missing. It starts the driver and opens NVRTC,
// but takes no memory on a GPU. images is the cache of compiled kernels.
func Report(images *code.Cache) []Finding {
	a, err := loadDriver()
	out := []Finding{driverFinding(a, err), compilerFinding(loadNVRTC())}
	if err == nil {
		out = append(out, deviceFindings(a)...)
	}
	return append(out, cacheFinding(images))
}

func driverFinding(a *driverAPI, err error) Finding {
	f := Finding{What: "GPU driver"}
	if err != nil {
		return f.failed(err)
	}
	f.Found = fmt.Sprintf("CUDA %s, %s", a.versionText(), a.path)
	return f
}

func compilerFinding(n *nvrtc, err error) Finding {
	f := Finding{What: "GPU compiler (NVRTC)"}
	if err != nil {
		return f.failed(err)
	}
	f.Found = fmt.Sprintf("NVRTC %s, %s (%s)", n.version(), n.path, n.from)
	if len(n.passedOver) > 0 {
		f.Advice = "others were not used: " + strings.Join(n.passedOver, "; ")
	}
	if a, err := loadDriver(); err == nil && n.major > a.version/1000 {
		f.Advice = fmt.Sprintf("it is newer than the driver (CUDA %s), which will refuse its kernels: update the driver or install NVRTC %d", a.versionText(), a.version/1000)
	}
	return f
}

// failed puts an error's text and hint into the line.
func (f Finding) failed(err error) Finding {
	f.Found = err.Error()
	var e *Error
	if errors.As(err, &e) {
		f.Found, f.Advice = e.Text, e.Hint
		if e.Name != "" {
			f.Found = strings.TrimSuffix(fmt.Sprintf("%s (%d): %s", e.Name, e.Code, e.Text), ": ")
		}
	}
	return f
}

func deviceFindings(a *driverAPI) []Finding {
	n, err := Count()
	if err != nil {
		return []Finding{Finding{What: "GPUs"}.failed(err)}
	}
	var out []Finding
	for i := range n {
		f := Finding{What: fmt.Sprintf("GPU %d", i)}
		info, err := a.describeDevice(i)
		if err != nil {
			out = append(out, f.failed(err))
			continue
		}
		out = append(out, deviceFinding(f, info))
	}
	return out
}

func deviceFinding(f Finding, info Info) Finding {
	f.Found = fmt.Sprintf("%s, %.1f GiB, %s, %d multiprocessors", info.Name, float64(info.Memory)/(1<<30), info.Arch(), info.SMs)
	if info.Major < minMajor {
		f.Advice = fmt.Sprintf("too old: weft needs sm_%d0 or newer", minMajor)
		return f
	}
	if n, err := loadNVRTC(); err == nil {
		if _, machine, err := n.target(info); err != nil {
			return Finding{f.What, f.Found, err.Error()}
		} else if !machine {
			f.Advice = fmt.Sprintf("NVRTC %s does not know it: the driver translates kernels, which takes longer the first time; a newer NVRTC would not need that", n.version())
		}
	}
	return f
}

// cacheFinding says where compiled kernels are kept.
func cacheFinding(images *code.Cache) Finding {
	f := Finding{What: "GPU kernel cache"}
	if images.Dir() == "" {
		f.Found = "off"
		if os.Getenv("WEFT_CACHE") != "off" {
			f.Advice = "there is no cache directory, so kernels are compiled in every run; set WEFT_CACHE or HOME"
		}
		return f
	}
	f.Found = images.Dir()
	err := images.Writable()
	if err != nil {
		f.Advice = fmt.Sprintf("it cannot be used (%v), so kernels are compiled in every run; set WEFT_CACHE to another directory", err)
	}
	files, bytes := images.Count()
	if files > 0 {
		f.Found += fmt.Sprintf(", %d kernels, %.1f MiB", files, float64(bytes)/(1<<20))
	}
	return f
}
