package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	weftmemory "github.com/weftgraph/weft/internal/memory"
)

// clientLoad is what clients that ask at the same time have seen. Its size does not depend on the number of their requests.
type clientLoad struct {
	times  histogram // of requests after the warm-up
	took   time.Duration
	memory []memoryUse

	mu     sync.Mutex
	failed int
	first  error // of those that failed
}

// memoryUse is the process's memory at a moment.
type memoryUse struct {
	resident uint64 // bytes, without mapped files
	heap     uint64 // bytes of Go's objects that a collection has found alive
}

// memoryNow collects garbage, and so stops the process for a moment.
func memoryNow() memoryUse {
	resident := weftmemory.InUse()
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return memoryUse{resident, live[0].Value.Uint64()}
}

// quarters is the number of parts of the time at whose ends memory is read.
const quarters = 4

// drive lets clients ask until a time has passed, after a tenth of it to warm up. It blocks.
func drive(ctx context.Context, clients int, during time.Duration, ask func(context.Context) error) *clientLoad {
	l := &clientLoad{}
	var kept, over atomic.Bool
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for !over.Load() && ctx.Err() == nil {
				keep, start := kept.Load(), time.Now()
				err := ask(ctx)
				if keep {
					l.times.add(time.Since(start))
				}
				if err != nil {
					l.fail(err)
				}
			}
		})
	}
	sleep(ctx, during/10) // until all connections are open, and memory is as it will be
	l.memory = append(l.memory, memoryNow())
	start := time.Now()
	kept.Store(true)
	for i := range quarters {
		sleep(ctx, time.Until(start.Add(during*time.Duration(i+1)/quarters)))
		l.memory = append(l.memory, memoryNow()) // while all clients ask
	}
	over.Store(true)
	running.Wait()
	l.took = time.Since(start)
	return l
}

func (l *clientLoad) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed++; l.first == nil {
		l.first = err
	}
}

// sleep blocks for a time, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// many is the part clients.
func (f *benchServeFlags) many(ctx context.Context, s *served) ([]figure, error) {
	body := f.counting()
	l := drive(ctx, f.clients, f.during, func(ctx context.Context) error {
		_, err := s.count(ctx, body)
		return err
	})
	n := l.times.total()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case l.first != nil:
		return nil, fmt.Errorf("%d requests failed, and %d did not; the first: %w", l.failed, n, l.first)
	}
	p50, p99 := l.times.quantile(0.5), l.times.quantile(0.99)
	out := []figure{
		{Name: "clients", Value: float64(f.clients), Unit: ""}, {Name: "requests", Value: float64(n), Unit: ""}, {Name: "errors", Value: float64(l.failed), Unit: ""},
		{Name: "requests_per_s", Value: float64(n) / l.took.Seconds(), Unit: "1/s"},
		{Name: "p50", Value: inMillis(p50), Unit: "ms"}, {Name: "p99", Value: inMillis(p99), Unit: "ms"}, {Name: "p99_to_p50", Value: float64(p99) / float64(p50), Unit: ""},
	}
	for i, m := range l.memory {
		at := fmt.Sprintf("_%d%%", 100*i/quarters)
		out = append(out, figure{Name: "memory" + at, Value: float64(m.resident) / (1 << 20), Unit: "MiB"}, figure{Name: "heap" + at, Value: float64(m.heap) / (1 << 20), Unit: "MiB"})
	}
	return out, nil
}
