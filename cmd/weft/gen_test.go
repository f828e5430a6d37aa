package main

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft"
)

// TestModelFlags: each model has its flags, and its example makes a graph.
func TestModelFlags(t *testing.T) {
	for _, model := range weft.GenerateModels() {
		m, ok := modelFlags[model]
		if !ok {
			t.Errorf("%s: no flags", model)
			continue
		}
		args := append([]string{"gen", model}, strings.Fields(strings.ReplaceAll(m.example, "--scale 20 --m 16000000", "--scale 4 --m 16"))...)
		var errs strings.Builder
		if code := run(t.Context(), args, nil, &strings.Builder{}, &errs); code != 0 {
			t.Errorf("%v: exit %d: %s", args, code, errs.String())
		}
	}
}
