package memory

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func systemLimits() []Limit {
	out := groupLimits("/")
	var as unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &as) == nil && as.Cur < 1<<60 {
		used := func() uint64 { return field("/proc/self/status", "VmSize:") }
		out = append(out, Limit{Bytes: as.Cur, Text: "ulimit -v allows", used: used})
	}
	if total := field("/proc/meminfo", "MemTotal:"); total > 0 {
		free := func() uint64 { return field("/proc/meminfo", "MemAvailable:") + field("/proc/meminfo", "SwapFree:") }
		out = append(out, Limit{Bytes: total + field("/proc/meminfo", "SwapTotal:"), Text: "the machine has", free: free})
	}
	return out
}

// groupLimits reads the limits of the process's control groups, of version 1 or 2, and of the groups around them
// as far as they are visible. root is "/", except in tests.
func groupLimits(root string) []Limit {
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(root, name))
		return string(text)
	}
	// Lines are ID:CONTROLLERS:PATH. Version 2 has no controllers.
	groups := map[bool]string{} // by whether the version is 2
	for line := range strings.Lines(read("proc/self/cgroup")) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 && (f[1] == "" || slices.Contains(strings.Split(f[1], ","), "memory")) {
			groups[f[1] == ""] = f[2]
		}
	}
	var out []Limit
	for line := range strings.Lines(read("proc/self/mountinfo")) {
		// ID PARENT DEVICE ROOT MOUNT-POINT OPTIONS [TAG…] - TYPE SOURCE OPTIONS
		before, after, _ := strings.Cut(line, " - ")
		at, fs := strings.Fields(before), strings.Fields(after)
		if len(at) < 5 || len(fs) < 3 {
			continue
		}
		var file string
		two := fs[0] == "cgroup2"
		switch {
		case two:
			file = "memory.max"
		case fs[0] == "cgroup" && slices.Contains(strings.Split(fs[2], ","), "memory"):
			file = "memory.limit_in_bytes"
		default:
			continue
		}
		group, ok := groups[two]
		if !ok {
			continue
		}
		// The mount shows the groups from ROOT on. In a container the path may be the host's.
		below, inside := strings.CutPrefix(group, strings.TrimSuffix(at[3], "/"))
		if !inside || strings.Contains(below, "/..") {
			below = ""
		}
		for dir := path.Join("/", below); ; dir = path.Dir(dir) {
			name := path.Join(at[4], dir, file)
			if n, ok := number(read(name)); ok {
				swap := field(filepath.Join(root, "proc/meminfo"), "SwapTotal:")
				if most, ok := number(read(path.Join(at[4], dir, "memory.swap.max"))); ok {
					swap = min(swap, most)
				}
				out = append(out, Limit{Bytes: n + swap, Text: "the control group allows", Where: name})
			}
			if dir == "/" {
				break
			}
		}
	}
	return out
}

// number reads a limit. "max", and in version 1 a number near 2^63, are none.
func number(text string) (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	return n, err == nil && n < 1<<60
}

// anonymous is the anonymous memory of this process in bytes: files mapped into memory do not count.
func anonymous() uint64 { return field("/proc/self/status", "RssAnon:") }

// Peak is the largest resident set that this process had, in bytes.
func Peak() uint64 { return field("/proc/self/status", "VmHWM:") }

// ResetPeak makes Peak begin again with what is resident now. It returns false if the system does not allow that.
func ResetPeak() bool {
	fd, err := syscall.Open("/proc/self/clear_refs", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	n, err := syscall.Write(fd, []byte("5"))
	return n == 1 && err == nil
}

// field reads a field of a file of /proc, which counts in KiB. It is read for each query, so that it takes no
// memory of its own.
func field(file, name string) uint64 {
	fd, err := syscall.Open(file, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer syscall.Close(fd)
	// It has about 1500 bytes, but a process may be in thousands of groups.
	var space [4096]byte
	text, n := space[:0], 1
	for n > 0 {
		if len(text) == cap(text) {
			text = slices.Grow(text, len(text))
		}
		if n, err = syscall.Read(fd, text[len(text):cap(text)]); err != nil {
			return 0
		}
		text = text[:len(text)+n]
	}
	_, rest, ok := bytes.Cut(text, []byte(name))
	if !ok {
		return 0
	}
	kib := uint64(0)
	for _, c := range bytes.TrimLeft(rest, " \t") {
		if c < '0' || c > '9' {
			break
		}
		kib = 10*kib + uint64(c-'0')
	}
	return kib << 10
}
