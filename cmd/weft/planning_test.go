//go:build unix

package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// TestTimeoutPlanning: a timeout that passes while a query is planned ends it as one
// that passes while it is searched.
func TestTimeoutPlanning(t *testing.T) {
	g := bigGraph(t)
	for _, c := range []struct {
		args []string
		out  string
	}{
		{[]string{"count", "--pattern", "path(6)", "--to", "json"}, `"complete": false`},
		{[]string{"count", "--pattern", "path(6)", "--pattern", "triangle", "--to", "ndjson", "--stats"}, `"complete":false`},
		{[]string{"count", "MATCH (a)--(b)--(c) RETURN participation(b)"}, ""},
		{[]string{"cliques", "-k", "6", "--to", "json"}, `"complete": false`},
		{[]string{"motifs", "-k", "5", "--to", "ndjson"}, `"complete":false`},
		{[]string{"exists", "--pattern", "triangle", "--to", "json"}, "null"},
		{[]string{"match", "--pattern", "path(6)", "--to", "csv"}, ""},
		{[]string{"explain", "--pattern", "path(6)"}, ""},
		{[]string{"verify", "--pattern", "path(6)"}, ""},
	} {
		var out, errs bytes.Buffer
		a := &app{ctx: context.Background(), stdout: &out, stderr: newMessages(context.Background(), &errs), patient: true}
		code := a.run(append(c.args, "-g", g, "--timeout", "1ns"))
		if code != exitTimeout || !strings.Contains(errs.String(), "--timeout passed") || !strings.Contains(out.String(), c.out) {
			t.Errorf("%v: exit %d, %s%s", c.args, code, out.String(), errs.String())
		}
	}
	var errs bytes.Buffer
	start := time.Now()
	code := run(context.Background(), []string{"count", "--pattern", "path(6)", "-g", g, "--timeout", "20ms", "--stats"}, nil, &bytes.Buffer{}, &errs)
	// Far more than is promised: other programs may have the processor. A search of this takes minutes.
	if took := time.Since(start); code != exitTimeout || took > 3*time.Minute {
		t.Errorf("exit %d after %v: %s", code, took, errs.String())
	}
}
