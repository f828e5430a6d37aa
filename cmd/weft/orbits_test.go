package main

import (
	"strings"
	"testing"
)

// TestOrbitsFlags: flags that orbits do not have are refused, and not passed over.
func TestOrbitsFlags(t *testing.T) {
	for line, want := range map[string]string{
		"--device gpu:0":                      "--device does not go with --orbits",
		"--engine codegen":                    "--engine does not go with --orbits",
		"--engine-opt gpu.census=off":         "--engine-opt does not go with --orbits",
		"-k 6":                                "-k 6: motifs have 3, 4 or 5 vertices",
		"-k 5 --to ndjson":                    `"orbit_72":2}`,
		"--matcha":                            "--orbits and --matcha: a program counts motifs, and not orbits",
		"--directed":                          "leave them out (--no-directions",
		"--to xml":                            `unknown output format "xml"`,
		"--device cpu --engine host --to csv": "\n1,16,17,102,18\n",
		"--directed --no-directions --to csv": "\n1,16,17,102,18\n",
		"--edge-induced --to ndjson":          `{"vertex":1,"orbit_0":16,"orbit_1":53,"orbit_2":120,"orbit_3":18}`,
		"-k 4 --to ndjson --threads 3":        `"orbit_14":7}`,
	} {
		text := runScript(t.TempDir(), "motifs ../../testdata/graphs/karate.txt --orbits "+line)
		if !strings.Contains(text, want) || strings.HasPrefix(want, "-") && !strings.Contains(text, "exit 2") {
			t.Errorf("%s: %s", line, text)
		}
	}
}
