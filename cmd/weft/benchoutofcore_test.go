package main

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/gpu"
	memlimit "github.com/weftgraph/weft/internal/memory"
)

// TestBenchOutOfCore: budgets are shares of what the graph's arrays take in core, the second count of each pair is
// measured, and a count that differs and one that fails are marked.
func TestBenchOutOfCore(t *testing.T) {
	a := &app{ctx: t.Context(), stderr: newMessages(t.Context(), new(bytes.Buffer))}
	var queries []*weft.Query
	for _, name := range []string{"triangle", "diamond"} {
		qs, err := weft.PatternsByName(name)
		if err != nil {
			t.Fatal(err)
		}
		queries = append(queries, qs...)
	}
	var budgets []int64
	calls := map[string]int{}
	count := func(_ context.Context, q *weft.Query, way variant, bytes int64) (weft.Result, error) {
		if way.name == "other" && bytes == 250 {
			return weft.Result{}, errTooSmall
		}
		key := q.Name() + way.name
		calls[key]++
		budgets = append(budgets, bytes)
		n := int64(7)
		if way.name == "wrong" {
			n = 8
		}
		arrays := int64(1000)
		if q.Name() == "diamond" {
			arrays = 400
		}
		took := 100 * time.Millisecond
		switch {
		case calls[key]%2 == 1:
			took = time.Hour // the first of a pair
		case way.name != inCore:
			took *= 3
		}
		f := gpu.Figures{Arrays: arrays, Cache: 60, Lists: 5, Reads: 0.5, Search: 9, Host: 11, Copied: 13}
		return weft.Result{Embeddings: big.NewInt(n), Search: took, Stats: []string{f.Line(time.Second), gpu.Copies{Bytes: 1 << 30, Took: time.Second, Hidden: time.Second / 2}.Line()}}, nil
	}
	quarter, err := parseShare("1/4")
	if err != nil {
		t.Fatal(err)
	}
	size, err := parseShare("2K")
	if err != nil {
		t.Fatal(err)
	}
	all := a.measureOutOfCore(count, queries, []share{quarter, size}, []variant{{name: "other"}, {name: "wrong"}}, 2)
	if len(all) != 2+2*2*2 {
		t.Fatalf("%d cases", len(all))
	}
	for _, c := range all {
		want := map[string]int64{inCore: 0, "1/4": 250, "2K": 2048}[c.budget]
		if c.bytes != want {
			t.Errorf("%s of %s: %d bytes, want %d", c.budget, c.pattern, c.bytes, want)
		}
		switch {
		case c.way == "other" && c.bytes == 250:
			if c.Err != errTooSmall {
				t.Errorf("%+v", c.Row)
			}
		case c.Err != nil || c.Agrees != (c.way != "wrong") || c.Runs != 2 || c.memory.Lists != 5 || c.memory.Reads != 0.5 || c.memory.Copied != 13 || c.copies.Rate() != 1 || c.copies.Overlap() != 0.5:
			t.Errorf("%s, %s: %+v %+v %+v", c.way, c.budget, c.Row, c.memory, c.copies)
		case runtime.GOOS == "linux" && memlimit.ResetPeak() && c.peak < 1<<20:
			t.Errorf("%s: the process had %d bytes", c.way, c.peak)
		case c.way != inCore && c.Ratio != 3:
			t.Errorf("%s: ratio %v", c.way, c.Ratio)
		case c.firstMedian < time.Hour:
			t.Errorf("%s: the first count took %v", c.way, c.firstMedian)
		}
	}
	for _, bad := range []string{"1/0", "x", "-1/2", "0", "1/x"} {
		if _, err := parseShare(bad); err == nil || !strings.Contains(err.Error(), "--budget") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestBenchOutOfCoreInterrupted: cases whose turn did not come say why they have no count, and none is said to differ.
func TestBenchOutOfCoreInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	a := &app{ctx: ctx, stderr: newMessages(ctx, new(bytes.Buffer))}
	qs, err := weft.PatternsByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	count := func(_ context.Context, _ *weft.Query, way variant, _ int64) (weft.Result, error) {
		if way.name == "first" {
			cancel(why)
		}
		return weft.Result{Embeddings: big.NewInt(7), Search: time.Second}, nil
	}
	for _, c := range a.measureOutOfCore(count, qs, []share{{name: "1K", bytes: 1 << 10}}, []variant{{name: "first"}, {name: "second"}}, 1) {
		if done := c.way != "second"; done && (c.Err != nil || !c.Agrees) || !done && c.Err != why {
			t.Errorf("%s: %+v", c.way, c.Row)
		}
	}
}

// TestBenchOutOfCoreUsage: mistakes in flags are usage errors on machines without GPUs too.
func TestBenchOutOfCoreUsage(t *testing.T) {
	graph := "testdata/none.txt" // nothing is read before flags are
	for args, want := range map[string]string{
		"--budget 1/0":         `--budget "1/0"`,
		"--budget half":        `--budget "half"`,
		"--variant cached":     "--variant",
		"--device cpu":         "--device cpu: bench outofcore measures counts on GPUs",
		"--runs 0":             "--runs",
		"--gpu-memory 1G":      "--gpu-memory",
		"--variant x:engine=y": "",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"bench", "outofcore", "-g", graph}, strings.Fields(args)...), strings.NewReader(""), &out, &errs)
		t.Log(args, code, errs.String())
		if want != "" && (code != exitUsage || !strings.Contains(errs.String(), want)) {
			t.Errorf("%s: exit code %d: %s", args, code, errs.String())
		}
	}
}

var errTooSmall = errors.New("too small")
