package memory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGroupLimits reads the limits of control groups as machines and containers show them.
func TestGroupLimits(t *testing.T) {
	const (
		two  = "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
		one  = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		mine = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n"
	)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"none": {nil, ""},
		"version 2, nested": {map[string]string{
			"proc/self/cgroup": "0::/user/job\n", "proc/self/mountinfo": two,
			"sys/fs/cgroup/user/job/memory.max": "max\n", "sys/fs/cgroup/user/memory.max": "1000000\n", "sys/fs/cgroup/cgroup.procs": "",
		}, "1000000 /sys/fs/cgroup/user/memory.max"},
		"version 2, both": {map[string]string{
			"proc/self/cgroup": "0::/user/job\n", "proc/self/mountinfo": two,
			"sys/fs/cgroup/user/job/memory.max": "2000000\n", "sys/fs/cgroup/user/memory.max": "3000000\n",
		}, "2000000 /sys/fs/cgroup/user/job/memory.max, 3000000 /sys/fs/cgroup/user/memory.max"},
		"version 2 in a container": {map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": two, "sys/fs/cgroup/memory.max": "4000000\n",
		}, "4000000 /sys/fs/cgroup/memory.max"},
		"version 2 with swap": {map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": two, "proc/meminfo": "SwapTotal:    100 kB\n",
			"sys/fs/cgroup/a/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.swap.max": "1024\n",
		}, "1001024 /sys/fs/cgroup/a/memory.max"},
		"version 1": {map[string]string{
			"proc/self/cgroup": "9:name=systemd:/\n4:memory:/slurm/job_7\n2:cpu:/other\n0::/\n", "proc/self/mountinfo": one,
			"sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes": "5000000\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, "5000000 /sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes"},
		"version 1 in a container": {map[string]string{
			"proc/self/cgroup": "4:cpu,memory:/docker/abc\n", "proc/self/mountinfo": mine, "sys/fs/cgroup/memory/memory.limit_in_bytes": "6000000\n",
		}, "6000000 /sys/fs/cgroup/memory/memory.limit_in_bytes"},
		"a path of the host": {map[string]string{
			"proc/self/cgroup": "0::/../../host\n", "proc/self/mountinfo": two, "sys/fs/cgroup/memory.max": "7000000\n",
		}, "7000000 /sys/fs/cgroup/memory.max"},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(root, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, l := range groupLimits(root) {
			got = append(got, fmt.Sprint(l.Bytes, " ", l.Where))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, not %q", name, text, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	if len(Limits()) == 0 {
		t.Fatal("this machine has no memory")
	}
	for i, l := range Limits() {
		if l.Bytes == 0 || l.Text == "" || i > 0 && l.Bytes < Limits()[i-1].Bytes {
			t.Errorf("limit %d is %+v", i, l)
		}
	}
	if InUse() == 0 || Peak() < InUse() {
		t.Errorf("%d bytes are in use, and %d were at most", InUse(), Peak())
	}
}
