package cuda

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

func TestSelection(t *testing.T) {
	const a, b, m = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-41", "MIG-GPU-8932f937-d72c-4106-c12f-20bd9faed9f6/1/0"
	for _, c := range []struct {
		list     string // "-": none is set
		there    int
		ordinals []int
		want     *selection
	}{
		{"-", 8, []int{0}, &selection{[]int{0}, 8, "0"}},
		{"-", 8, []int{5, 0, 5}, &selection{[]int{0, 5}, 8, "0,5"}},
		{"-", 8, nil, nil},         // no GPU is asked for by name
		{"-", 1, []int{0}, nil},    // all that there are
		{"-", 2, []int{1, 0}, nil}, // the same
		{"-", 2, []int{7}, nil},    // the driver says that there are 2
		{"-", 2, []int{0, 7}, nil}, //
		{"-", 0, []int{0}, nil},    // nobody knows how many there are
		{"-", 2, []int{-1}, nil},   //
		{"3,1,2", 8, []int{0}, &selection{[]int{0}, 3, "3"}},
		{"3,1,2", 8, []int{2, 1}, &selection{[]int{1, 2}, 3, "1,2"}},
		{"3,1,2", 8, []int{3}, nil},
		{"3", 8, []int{0}, nil},
		{"", 8, []int{0}, nil}, // it shows none
		{"0,2,-1,1", 8, []int{1}, &selection{[]int{1}, 2, "2"}},
		{"0,2,-1,1", 8, []int{3}, nil}, // it ends before the first that is none
		{"0,9,1", 2, []int{2}, nil},
		{"0,1,0", 2, []int{1}, nil}, // twice the same: the driver says what is wrong
		{a + ", " + b, 8, []int{1}, &selection{[]int{1}, 2, b}},
		{a + "," + b, 0, []int{0}, &selection{[]int{0}, 2, a}},
		{a + ",1", 0, []int{1}, nil},
		{a + ",1", 2, []int{1}, &selection{[]int{1}, 2, "1"}},
		{m + "," + b, 0, []int{0}, &selection{[]int{0}, 2, m}},
		{"all", 8, []int{0}, nil},
	} {
		names := visible(c.list, c.there)
		if c.list == "-" {
			names = nil
			for i := range c.there {
				names = append(names, string(rune('0'+i)))
			}
		}
		if got := selectFrom(names, c.ordinals); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v of %q on a machine with %d: %+v, not %+v", c.ordinals, c.list, c.there, got, c.want)
		}
	}
}

// TestOnly: what the process asks for and what the environment says come together.
func TestOnly(t *testing.T) {
	t.Setenv(visibleVariable, "GPU-a,GPU-b,GPU-c")
	Only(2)
	defer Only()
	if s := selected(); s == nil || s.list != "GPU-c" || s.count != 3 || !slices.Equal(s.ordinals, []int{2}) {
		t.Errorf("selected %+v", s)
	}
	Only()
	if s := selected(); s != nil {
		t.Errorf("without a wish, %+v", s)
	}
}

func TestCountGPUs(t *testing.T) {
	for _, c := range []struct {
		there []string
		want  int
	}{
		{nil, 0},
		{[]string{"dev/nvidiactl", "dev/nvidia-uvm"}, 0},
		{[]string{"proc/driver/nvidia/gpus/0000:18:00.0", "proc/driver/nvidia/gpus/0000:2a:00.0", "proc/driver/nvidia/capabilities/gpu0/mig"}, 2},
		{[]string{"dev/nvidia0", "dev/nvidia3", "dev/nvidia11", "dev/nvidiactl"}, 3},
		{[]string{"proc/driver/nvidia/gpus/0000:18:00.0", "proc/driver/nvidia/gpus/0000:2a:00.0", "dev/nvidia1"}, 1},
		{[]string{"proc/driver/nvidia/gpus/0000:18:00.0", "dev/nvidia0", "proc/driver/nvidia/capabilities/gpu0/mig/gi7"}, 0},
	} {
		root := t.TempDir()
		for _, dir := range c.there {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if n := countGPUs(root); n != c.want {
			t.Errorf("%v: %d GPUs, not %d", c.there, n, c.want)
		}
	}
}
