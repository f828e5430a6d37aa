package boltserver

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/bolt"
	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// listing has about 900,000 rows in the graph dense.
const (
	listing = "MATCH (a)--(b) RETURN id(a) AS a, id(b) AS b"
	nodes   = "MATCH (a)--(b) RETURN a, b"
)

// read reads all rows of a query, in one fetch of all or in fetches of the driver's size.
func read(b *testing.B, d neo4j.DriverWithContext, text string, fetch int) (rows int) {
	b.Helper()
	ctx := b.Context()
	s := d.NewSession(ctx, neo4j.SessionConfig{DatabaseName: "dense", FetchSize: fetch})
	defer s.Close(ctx)
	r, err := s.Run(ctx, text, nil)
	if err != nil {
		b.Fatal(err)
	}
	for r.Next(ctx) {
		rows++
	}
	if r.Err() != nil {
		b.Fatal(r.Err())
	}
	return rows
}

// BenchmarkRows reads rows by the Go driver: two numbers or two nodes in a row, in fetches of 1000 or in one of all.
func BenchmarkRows(b *testing.B) {
	_, address := listen(b, core(b, serve.Limits{}, nil), bolt.Options{})
	d := driver(b, "bolt://"+address, neo4j.NoAuth())
	for _, c := range []struct {
		name, text string
		fetch      int
	}{{"numbers", listing, 1000}, {"numbers/all", listing, neo4j.FetchAll}, {"nodes", nodes, 1000}} {
		b.Run(c.name, func(b *testing.B) {
			rows := 0
			for b.Loop() {
				rows += read(b, d, c.text, c.fetch)
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkDriverAlone reads the same bytes by the Go driver from a server that only repeats them: the rest of BenchmarkRows is weft's.
func BenchmarkDriverAlone(b *testing.B) {
	const rows = 900_000
	var record packstream.Encoder
	record.Struct(0x71, 1)
	record.List(2)
	record.Int(1234)
	record.Int(2345)
	var all []byte
	for range rows {
		all = append(binary.BigEndian.AppendUint16(all, uint16(len(record.Bytes))), record.Bytes...)
		all = append(all, 0, 0)
	}
	success := func(entries map[string]any) []byte {
		var e packstream.Encoder
		e.Value(packstream.Structure{Tag: 0x70, Fields: []any{entries}})
		return append(append(binary.BigEndian.AppendUint16(nil, uint16(len(e.Bytes))), e.Bytes...), 0, 0)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			n, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer n.Close()
				in := bufio.NewReader(n)
				_, _ = io.ReadFull(in, make([]byte, 20))
				_, _ = n.Write([]byte{0, 0, 8, 5})
				for {
					var head [2]byte
					if _, err := io.ReadFull(in, head[:]); err != nil {
						return
					}
					message := make([]byte, binary.BigEndian.Uint16(head[:])+2)
					if _, err := io.ReadFull(in, message); err != nil {
						return
					}
					switch message[1] {
					case 0x02:
						return
					case 0x10:
						_, _ = n.Write(success(map[string]any{"fields": []string{"a", "b"}, "t_first": 0}))
					case 0x3F:
						_, _ = n.Write(append(all[:len(all):len(all)], success(map[string]any{"type": "r", "t_last": 0})...))
					default:
						_, _ = n.Write(success(map[string]any{"server": "Neo4j/5.26.0", "connection_id": "1"}))
					}
				}
			}()
		}
	}()
	d := driver(b, "bolt://"+l.Addr().String(), neo4j.NoAuth())
	n := 0
	for b.Loop() {
		n += read(b, d, listing, neo4j.FetchAll)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkLatency is a small count by the library and by the Go driver.
func BenchmarkLatency(b *testing.B) {
	const text = "MATCH (a)--(b)--(c)--(a) RETURN count(*) AS n"
	s := core(b, serve.Limits{}, nil)
	_, address := listen(b, s, bolt.Options{})
	b.Run("library", func(b *testing.B) {
		lease, err := s.Catalog.Acquire("karate")
		if err != nil {
			b.Fatal(err)
		}
		defer lease.Release()
		q, err := weft.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		median(b, func() {
			if _, err := lease.Graph.Count(b.Context(), q); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("driver", func(b *testing.B) {
		d := driver(b, "bolt://"+address, neo4j.NoAuth())
		ctx := context.Background()
		session := d.NewSession(ctx, neo4j.SessionConfig{DatabaseName: "karate"})
		defer session.Close(ctx)
		median(b, func() {
			r, err := session.Run(ctx, text, nil)
			if err == nil {
				_, err = r.Single(ctx)
			}
			if err != nil {
				b.Fatal(err)
			}
		})
	})
}

// median reports the median time of a call.
func median(b *testing.B, call func()) {
	b.Helper()
	call()
	var times []time.Duration
	for b.Loop() {
		begin := time.Now()
		call()
		times = append(times, time.Since(begin))
	}
	b.ReportMetric(float64(quantile(times, 0.5).Microseconds()), "µs-median")
	b.ReportMetric(float64(quantile(times, 0.99).Microseconds()), "µs-p99")
}

func quantile(times []time.Duration, q float64) time.Duration {
	slices.Sort(times)
	return times[min(int(q*float64(len(times))), len(times)-1)]
}
