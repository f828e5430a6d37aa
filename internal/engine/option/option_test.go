package option

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

var table = Table{
	Switch("host.steal", true, "take work"), Choice("host.roots", "what a task is", "auto", "vertex"), Number("host.chunk", 7, 0, 9, "tasks at a time"),
	{Name: "host.sizes", Most: 100, List: true, Hidden: true},
}

func TestRead(t *testing.T) {
	v, err := table.Read(map[string]string{"host.steal": "false", "host.chunk": "3", "fine.pool": "x", "host.sizes": "4,9"})
	if err != nil || v.On("host.steal") || v.Number("host.chunk") != 3 || v.Text("host.roots") != "auto" ||
		Pick(v, "host.roots", map[string]int{"vertex": 1, "auto": 7}) != 7 || !slices.Equal(v.Given(table[1:]), []string{"host.chunk", "host.sizes"}) ||
		!slices.Equal(v.Numbers("host.sizes"), []int{4, 9}) {
		t.Errorf("%+v, %v", v, err)
	}
	v, err = table.Read(nil)
	if err != nil || !v.On("host.steal") || v.Number("host.chunk") != 7 || v.Numbers("host.sizes") != nil {
		t.Errorf("%+v, %v", v, err)
	}
	for option, why := range map[string]string{
		"host.steal=perhaps": `host.steal: "perhaps" is neither on nor off`,
		"host.roots=edge":    `host.roots: "edge": want auto, vertex`,
		"host.chunk=10":      `host.chunk: "10": want a number from 0 to 9`,
		"host.chunk=1,2":     `want a number from 0 to 9`,
		"host.sizes=1,x":     `"1,x": want a number from 0 to 100`,
		"host.stel=on":       "host.stel: unknown; there are host.steal, host.roots, host.chunk, host.sizes; did you mean host.steal?",
		"host.task-chunk=1":  "host.task-chunk: unknown; there are host.steal, host.roots, host.chunk, host.sizes; did you mean host.chunk?",
	} {
		name, value, _ := strings.Cut(option, "=")
		if _, err := table.Read(map[string]string{name: value}); !errors.Is(err, Err) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", option, err)
		}
	}
}
