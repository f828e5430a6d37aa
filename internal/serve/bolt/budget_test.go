package bolt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// statementRows are the rows of a statement without a pattern.
func statementRows(ctx context.Context, s *Server, text string, params map[string]any) ([][]any, Result, error) {
	r, ok, err := s.procedure(ctx, fakeUser{s.backend.(*fake)}, Query{Graph: "one", Text: text, Params: params})
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, nil, errors.New("the text is taken for a pattern")
	}
	return r.(*table).rows, r, nil
}

// numbers is a list of different integers.
func numbers(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// TestStatementLimits: no statement without a pattern makes more rows or bytes, or takes longer, than it may.
func TestStatementLimits(t *testing.T) {
	s := New(&fake{}, Options{})
	long := strings.Repeat("x", 10<<20)
	params := map[string]any{"l": numbers(60_000), "p": long, "q": []any{long, long}}
	for _, c := range []struct{ text, code, want string }{
		{"UNWIND $l AS x RETURN x UNION ALL UNWIND $l AS x RETURN x", CodeArgument, "more than 100000 rows"},
		{"UNWIND $l AS x UNWIND [1, 2] AS y RETURN x", CodeArgument, "more than 100000 rows"},
		{"UNWIND $l AS x RETURN $p", CodeArgument, "more than 67108864 bytes"},
		{"RETURN [$q, $q, $q, $q]", CodeArgument, "more than 67108864 bytes"},
		{"UNWIND $l AS x RETURN collect($p)", CodeArgument, "more than 67108864 bytes"},
		{"UNWIND $l AS x RETURN DISTINCT $q", CodeArgument, "more than 67108864 bytes"},
		{"UNWIND $l AS x RETURN x IN $l", CodeTimedOutServer, "time limit"},
		{"UNWIND $l AS x RETURN count($l = $l)", CodeTimedOutServer, "time limit"},
		{"UNWIND $l AS x RETURN x ORDER BY [$l, x]", CodeArgument, "more than 67108864 bytes"},
		{"UNWIND $l AS x RETURN count($p CONTAINS 'y')", CodeTimedOutServer, "time limit"},
		{"UNWIND $l AS x RETURN count(false" + strings.Repeat(" OR false", 5000) + ")", CodeTimedOutServer, "time limit"},
		{"UNWIND $l AS x RETURN count(size($p))", CodeTimedOutServer, "time limit"},
	} {
		s.backend.(*fake).statement = time.Minute
		if c.code == CodeTimedOutServer {
			s.backend.(*fake).statement = 200 * time.Millisecond
		}
		start := time.Now()
		_, _, err := statementRows(t.Context(), s, c.text, params)
		if took := time.Since(start); took > 10*time.Second { // of a busy machine
			t.Errorf("%.80s took %v", c.text, took)
		}
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message, c.want) {
			t.Errorf("%.80s: %v", c.text, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	s.backend.(*fake).statement = time.Hour
	if _, _, err := statementRows(ctx, s, "UNWIND $l AS x RETURN x IN $l", params); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := s.held.Load(); n != 0 {
		t.Errorf("%d bytes are held", n)
	}
}

// TestStatementDistinct: DISTINCT of many values takes no longer than reading them, and knows equal values of all types.
func TestStatementDistinct(t *testing.T) {
	s := New(&fake{}, Options{})
	params := map[string]any{"l": numbers(60_000), "d": time.Second, "t": time.Unix(5, 0).UTC(), "b": strings.Repeat("x", 1000)}
	for _, c := range []struct{ text, want string }{
		{"UNWIND $l AS x RETURN count(DISTINCT x)", "[[60000]]"},
		{"UNWIND $l AS x RETURN size(collect(DISTINCT x))", "[[60000]]"},
		{"UNWIND [1, 1.0, '1', [1], [1.0], {a: 1}, {a: 1}, null, null, true, [], [[]], 1.5] AS x RETURN DISTINCT x", "[[1] [1] [[1]] [map[a:1]] [<nil>] [true] [[]] [[[]]] [1.5]]"},
		{"UNWIND [[1, 2], [1], {b: 1}, {a: 2}, {a: 1}, null, $d, $t, 'b', 'a', true, false, 2, 1.5] AS x RETURN x ORDER BY x", "[[map[a:1]] [map[a:2]] [map[b:1]] [[1]] [[1 2]] [a] [b] [false] [true] [1.5] [2] [1970-01-01 00:00:05 +0000 UTC] [1s] [<nil>]]"},
		{"UNWIND [9007199254740993, 9007199254740992, 9007199254740992.0] AS x RETURN count(DISTINCT x)", "[[2]]"},
		{"RETURN 9007199254740993 > 9007199254740992.0, 1 = 1.0, [1, 2] = [1, 2], {a: 1} = {a: 2}", "[[true true true false]]"},
		{"RETURN $b AS x UNION RETURN $b AS x UNION RETURN 'y' AS x", "[[" + params["b"].(string) + "] [y]]"},
		{"UNWIND [1, 2, 1.0] AS x RETURN x, count(*)", "[[1 2] [2 1]]"},
	} {
		rows, r, err := statementRows(t.Context(), s, c.text, params)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if d := cmp.Diff(c.want, fmt.Sprint(rows)); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
		r.Close()
	}
}

// TestStatementHeld: the open results of statements without a pattern have a common limit of memory.
func TestStatementHeld(t *testing.T) {
	s := New(&fake{}, Options{})
	params := map[string]any{"p": strings.Repeat("x", 14<<20)}
	var open []Result
	for {
		_, r, err := statementRows(t.Context(), s, "RETURN [$p, $p]", params)
		var e *Error
		if errors.As(err, &e) && e.Code == CodeMemory {
			break
		}
		if err != nil || len(open) == 100 {
			t.Fatal(len(open), err)
		}
		open = append(open, r)
	}
	if len(open) < 2 {
		t.Errorf("%d results are open", len(open))
	}
	for _, r := range open {
		r.Close()
		r.Close()
	}
	if _, r, err := statementRows(t.Context(), s, "RETURN [$p, $p]", params); err != nil {
		t.Error(err)
	} else {
		r.Close()
	}
	if n := s.held.Load(); n != 0 {
		t.Errorf("%d bytes are held", n)
	}
}
