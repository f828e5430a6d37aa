package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/bolt"
)

// searching is how long a search has run when its client goes.
const searching = 50 * time.Millisecond

// gone is the part gone: the time from the end of a client's connection to the end of its search.
func (f *benchServeFlags) gone(ctx context.Context, s *served) ([]figure, error) {
	count, err := json.Marshal(map[string]string{"graph": "g", "query": f.long, "engine": "host"})
	if err != nil {
		return nil, err
	}
	var out []figure
	for _, way := range []struct {
		name string
		ask  func(context.Context) error
	}{
		{"http_count", func(ctx context.Context) error { _, err := s.count(ctx, count); return err }},
		{"http_rows", func(ctx context.Context) error {
			body, _, err := s.ask(ctx, "/v1/match", "application/x-ndjson", count)
			if err != nil {
				return err
			}
			defer body.Close()
			_, err = io.Copy(io.Discard, body)
			return err
		}},
		{"bolt_rows", func(ctx context.Context) error {
			c, err := bolt.Dial(ctx, s.bolt)
			if err != nil {
				return err
			}
			defer c.Close()
			_, err = c.Rows("g", f.long, nil, boltBatch, func([]any) {})
			return err
		}},
	} {
		var took []time.Duration
		for range f.runs {
			one, err := s.goes(ctx, way.ask)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", way.name, err)
			}
			took = append(took, one)
		}
		slices.Sort(took)
		out = append(out, figure{Name: way.name + "_p50", Value: inMillis(quantile(took, 0.5)), Unit: "ms"}, figure{Name: way.name + "_max", Value: inMillis(took[len(took)-1]), Unit: "ms"})
	}
	return out, nil
}

// goes lets a client ask and go while its search runs. Its result is the time until the server has no search any more.
func (s *served) goes(ctx context.Context, ask func(context.Context) error) (time.Duration, error) {
	connected, leave := context.WithCancel(ctx)
	defer leave()
	answered := make(chan error, 1)
	go func() { answered <- ask(connected) }()
	running := func() bool {
		all := s.server.Running(serve.Anyone())
		return len(all) > 0 && all[0].State == "running"
	}
	for !running() {
		select {
		case err := <-answered:
			return 0, tooShort(err)
		case <-time.After(100 * time.Microsecond):
		}
	}
	select {
	case err := <-answered:
		return 0, tooShort(err)
	case <-time.After(searching):
	}
	start := time.Now()
	leave()
	for len(s.server.Running(serve.Anyone())) > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		time.Sleep(100 * time.Microsecond)
	}
	took := time.Since(start)
	<-answered
	return took, nil
}

// tooShort is the error of a search that ended before its client went.
func tooShort(err error) error {
	if err != nil {
		return err
	}
	return usagef("the query takes less than %v in this graph; name a longer one by --long", searching)
}
