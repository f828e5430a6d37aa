package cuda

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// tree makes files below a new root and searches there.
func tree(t *testing.T, env map[string]string, files ...string) (search, func() []string) {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		path := filepath.Join(root, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := search{goos: "linux", goarch: "amd64", root: root, env: func(name string) string { return env[name] }}
	return s, func() []string {
		var out []string
		for _, p := range s.places() {
			if p.from != fromLoader {
				out = append(out, p.from+": "+filepath.ToSlash(p.path))
			}
		}
		return out
	}
}

func TestPlaces(t *testing.T) {
	env := map[string]string{
		"CUDA_HOME":       "/opt/mine",
		"VIRTUAL_ENV":     "/venv",
		"HOME":            "/home/x",
		"PATH":            "/usr/bin:/opt/torch/.venv/bin:/none/bin",
		"LD_LIBRARY_PATH": "/lib1:/venv/lib/python3.12/site-packages/nvidia/cu13/lib:/lib2",
		"CONDA_PREFIX":    "/conda",
	}
	_, places := tree(t, env,
		"/opt/mine/lib64/libnvrtc.so",
		"/opt/mine/lib64/libnvrtc.so.12",
		"/usr/local/cuda/targets/x86_64-linux/lib/libnvrtc.so.13",
		"/usr/local/cuda/targets/sbsa-linux/lib/libnvrtc.so.13",
		"/usr/local/cuda-9.2/lib64/libnvrtc.so.9.2",
		"/usr/local/cuda-12.9/lib64/libnvrtc.so.12",
		"/usr/local/cuda-12.10/lib64/libnvrtc.so.12",
		"/usr/local/cuda-12.10/lib64/libnvrtc.so.12.10.33",
		"/usr/local/cuda-12.10/lib64/libnvrtc-builtins.so.12.10",
		"/usr/local/cuda-12.10/lib64/libnvrtc.alt.so.12",
		"/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
		"/venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.13",
		"/home/x/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
		"/opt/torch/.venv/bin/python3",
		"/opt/torch/.venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
		"/none/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
		"/usr/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2",
		"/conda/lib/libnvrtc.so.12",
		"/lib2/libnvrtc.so",
	)
	want := []string{
		"CUDA_HOME: /opt/mine/lib64/libnvrtc.so",
		"CUDA toolkit: /usr/local/cuda/targets/x86_64-linux/lib/libnvrtc.so.13",
		"CUDA toolkit: /usr/local/cuda-12.10/lib64/libnvrtc.so.12.10.33",
		"CUDA toolkit: /usr/local/cuda-12.10/lib64/libnvrtc.so.12",
		"CUDA toolkit: /usr/local/cuda-12.9/lib64/libnvrtc.so.12",
		"CUDA toolkit: /usr/local/cuda-9.2/lib64/libnvrtc.so.9.2",
		"Python package: /venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
		"Python package: /home/x/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
		"Python package: /opt/torch/.venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
		"Python package: /usr/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2",
		"conda: /conda/lib/libnvrtc.so.12",
		"LD_LIBRARY_PATH: /lib2/libnvrtc.so",
	}
	if got := places(); !slices.Equal(got, want) {
		t.Errorf("places:\n%s\nnot:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestPlacesOfAnEmptyMachine(t *testing.T) {
	s, places := tree(t, nil)
	if got := places(); got != nil {
		t.Errorf("places %v", got)
	}
	first := s.places()
	if len(first) < 4 || first[0].path != "libnvrtc.so" || first[0].from != fromLoader {
		t.Errorf("the loader is asked for %v", first)
	}
}

func TestPlacesOnWindows(t *testing.T) {
	s, _ := tree(t, map[string]string{"CUDA_PATH": "/cuda"}, "/cuda/bin/x64/nvrtc64_130_0.dll", "/cuda/bin/nvrtc64_120_0.dll", "/cuda/bin/nvrtc64_120_0.alt.dll")
	s.goos = "windows"
	var found []string
	for _, p := range s.places() {
		if p.from == "CUDA_PATH" {
			found = append(found, filepath.Base(p.path))
		}
	}
	if want := []string{"nvrtc64_130_0.dll", "nvrtc64_120_0.dll"}; !slices.Equal(found, want) {
		t.Errorf("found %v, not %v", found, want)
	}
}

func TestFilesThatAreNoLibrary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libnvrtc.so")
	if err := os.WriteFile(path, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := firstNVRTC([]place{{path, "CUDA_PATH"}}, 13)
	e, ok := err.(*Error)
	if !ok || e.Kind != ErrNoCompiler || e.Hint == "" || !strings.Contains(e.Text, path) && len(driverNames()) > 0 {
		t.Errorf("error %v", err)
	}
	if _, err := firstNVRTC([]place{{"libnvrtc-that-is-not.so", fromLoader}}, 13); err == nil || !strings.Contains(err.Error(), "was not found") {
		t.Errorf("error %v", err)
	}
}

// TestForeignNVRTC: a library that another user may have put there is not loaded, and the report says so.
func TestForeignNVRTC(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("owners are not looked at")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "libnvrtc.so")
	if err := os.WriteFile(path, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := firstNVRTC([]place{{path, "CUDA_PATH"}}, 13)
	if err == nil || !strings.Contains(err.Error(), dir+" may be written by other users") || !strings.Contains(err.Error(), "CUDA_PATH") {
		t.Errorf("error %v", err)
	}
	f := compilerFinding(&nvrtc{passedOver: []string{"that one"}}, nil)
	if !strings.Contains(f.Advice, "that one") {
		t.Errorf("finding %+v", f)
	}
}

func TestTarget(t *testing.T) {
	n := &nvrtc{major: 13, archs: []int{75, 80, 86, 90, 100}}
	for _, c := range []struct {
		major, minor int
		arch         string
		machine      bool
	}{{9, 0, "sm_90", true}, {8, 9, "compute_86", false}, {12, 0, "compute_100", false}, {7, 0, "", false}} {
		arch, machine, err := n.target(Info{Major: c.major, Minor: c.minor})
		if arch != c.arch || machine != c.machine || (err == nil) != (c.arch != "") {
			t.Errorf("%d.%d: %s, %v, %v", c.major, c.minor, arch, machine, err)
		}
	}
}
