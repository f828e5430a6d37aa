package cuda

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// place is a file that may be NVRTC, or a name for the loader, and where that comes from.
type place struct{ path, from string }

const fromLoader = "loader's path"

// search says where to look for NVRTC. root replaces the machine's root in tests.
type search struct {
	goos, goarch, root string
	env                func(name string) string
}

func machineSearch() search {
	return search{goos: runtime.GOOS, goarch: runtime.GOARCH, env: os.Getenv}
}

// places lists possible files of NVRTC, the preferred first. These are the files that the loader finds
// by itself, the toolkit in the user's variables, toolkits in the usual place, and the packages of pip
// and conda.
func (s search) places() []place {
	var out []place
	seen := map[string]bool{}
	add := func(from string, paths ...string) {
		for _, p := range paths {
			if !seen[p] {
				seen[p] = true
				out = append(out, place{p, from})
			}
		}
	}
	add(fromLoader, s.loaderNames()...)
	for _, name := range []string{"CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"} {
		if dir := s.env(name); dir != "" {
			add(name, s.inToolkit(dir)...)
		}
	}
	for _, pattern := range s.toolkits() {
		for _, dir := range s.glob(pattern) {
			add("CUDA toolkit", s.inToolkit(dir)...)
		}
	}
	for _, site := range s.sitePackages() {
		for _, dir := range s.glob(filepath.Join(site, "nvidia", "*", s.pythonLib())) {
			add("Python package", s.inDir(dir)...)
		}
	}
	if dir := s.env("CONDA_PREFIX"); dir != "" {
		add("conda", s.inToolkit(dir)...)
		add("conda", s.inDir(filepath.Join(dir, "lib"))...)
	}
	if s.goos == "linux" { // set after the program started, the loader does not look there
		for _, dir := range filepath.SplitList(s.env("LD_LIBRARY_PATH")) {
			add("LD_LIBRARY_PATH", s.inDir(dir)...)
		}
	}
	return out
}

// loaderNames are the library's names, the newest first; versions that are not out yet will be found by the
// unversioned name or in a toolkit's directory.
func (s search) loaderNames() []string {
	if s.goos == "windows" {
		return []string{"nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"}
	}
	return []string{"libnvrtc.so", "libnvrtc.so.14", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}
}

func (s search) toolkits() []string {
	if s.goos == "windows" {
		return []string{`C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v*`}
	}
	return []string{"/usr/local/cuda*", "/opt/cuda*", "/opt/nvidia/hpc_sdk/Linux_*/*/cuda/*"}
}

// inToolkit lists the library in a toolkit's directory.
func (s search) inToolkit(dir string) []string {
	if s.goos == "windows" {
		return slices.Concat(s.inDir(filepath.Join(dir, "bin", "x64")), s.inDir(filepath.Join(dir, "bin")))
	}
	target := map[string]string{"amd64": "x86_64-linux", "arm64": "sbsa-linux"}[s.goarch]
	return slices.Concat(s.inDir(filepath.Join(dir, "lib64")), s.inDir(filepath.Join(dir, "targets", target, "lib")))
}

// pythonLib is where Python packages keep libraries, below nvidia/cuda_nvrtc or nvidia/cu13.
func (s search) pythonLib() string {
	if s.goos == "windows" {
		return "bin"
	}
	return "lib"
}

// sitePackages are the directories of Python packages of environments, of the user, of the Python that PATH
// finds, and of the system.
func (s search) sitePackages() []string {
	var bases []string
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := s.env(name); dir != "" {
			bases = append(bases, dir)
		}
	}
	if home := s.env("HOME"); home != "" {
		bases = append(bases, filepath.Join(home, ".local"))
	}
	for _, dir := range filepath.SplitList(s.env("PATH")) {
		if filepath.Base(dir) == "bin" && len(s.glob(filepath.Join(dir, "python3*"))) > 0 {
			bases = append(bases, filepath.Dir(dir))
		}
	}
	bases = append(bases, "/usr/local", "/usr")
	var out []string
	for _, base := range bases {
		for _, pattern := range []string{"lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3*/dist-packages", "Lib/site-packages"} {
			for _, dir := range s.glob(filepath.Join(base, filepath.FromSlash(pattern))) {
				if !slices.Contains(out, dir) {
					out = append(out, dir)
				}
			}
		}
	}
	return out
}

// inDir lists the library in a directory: under its plain name, or the highest version.
func (s search) inDir(dir string) []string {
	if s.goos == "windows" {
		found := s.glob(filepath.Join(dir, "nvrtc64_*_0.dll"))
		return slices.DeleteFunc(found, func(p string) bool { return strings.Contains(p, ".alt.") })
	}
	if found := s.glob(filepath.Join(dir, "libnvrtc.so")); len(found) > 0 {
		return found
	}
	return s.glob(filepath.Join(dir, "libnvrtc.so.*"))
}

// glob finds paths, a name without version first, then the highest version.
func (s search) glob(pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(s.root, pattern))
	for i, p := range found {
		found[i] = strings.TrimPrefix(p, s.root)
	}
	slices.SortStableFunc(found, func(a, b string) int {
		va, vb := versionIn(a), versionIn(b)
		if (len(va) == 0) != (len(vb) == 0) {
			return cmp.Compare(len(va), len(vb))
		}
		return -slices.Compare(va, vb)
	})
	return found
}

// versionIn are the numbers in the last part of a path.
func versionIn(path string) []int {
	var out []int
	for _, field := range strings.FieldsFunc(filepath.Base(path), func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(field); err == nil {
			out = append(out, n)
		}
	}
	return out
}
