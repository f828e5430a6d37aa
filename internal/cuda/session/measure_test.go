package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	devices "github.com/weftgraph/weft/internal/testing/device"
)

// TestMeasure prints, as JSON lines, how fast arrays are uploaded and a graph is
// put into degree order on the GPU. With WEFT_MEASURE set; skipped elsewhere, and
// where there is no GPU.
func TestMeasure(t *testing.T) {
	if os.Getenv("WEFT_MEASURE") == "" {
		t.Skip("WEFT_MEASURE is not set")
	}
	d, err := cuda.Open(0, devices.Objects().Images)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	say := func(fields map[string]any) {
		fields["device"] = d.Info().Name
		line, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(string(line))
	}
	err = d.Do(func(c *cuda.Context) error {
		return errors.Join(measureUpload(c, say), measureOrder(c, d.Info().SMs, say))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func measureUpload(c *cuda.Context, say func(map[string]any)) error {
	data := make([]byte, 1<<30)
	for i := range data {
		data[i] = byte(i * 7)
	}
	b, err := c.Alloc(int64(len(data)))
	if err != nil {
		return err
	}
	defer c.Free(b)
	start := time.Now()
	s, err := newStage(c)
	if err != nil {
		return err
	}
	defer s.close()
	made := time.Since(start)
	for range 3 {
		start := time.Now()
		if err := cuda.Upload(c, b, 0, data); err != nil {
			return err
		}
		plain := time.Since(start)
		start = time.Now()
		if err := s.upload(context.Background(), c, b, bytes.NewReader(data)); err != nil {
			return err
		}
		staged := time.Since(start)
		say(map[string]any{
			"what": "upload of 1 GiB", "stage_made_ms": made.Seconds() * 1e3,
			"plain_gb_per_s": float64(len(data)) / plain.Seconds() / 1e9, "staged_gb_per_s": float64(len(data)) / staged.Seconds() / 1e9,
		})
	}
	return nil
}

// measureOrder relabels a random multigraph of 4 M vertices and 200 M list
// entries, whose lists are those of a random permutation's cycles shifted.
func measureOrder(c *cuda.Context, sms int, say func(map[string]any)) error {
	const n, degree = 1 << 22, 48
	off, adj := make([]uint64, n+1), make([]uint32, 0, n*degree)
	r := rand.New(rand.NewPCG(devices.Seed(), 10))
	shift := make([]uint32, degree/2)
	for k := range shift {
		shift[k] = 1 + r.Uint32N(n-1)
	}
	for v := range uint32(n) { // a circulant graph: symmetric
		for _, s := range shift {
			adj = append(adj, (v+s)%n, (v+n-s)%n)
		}
		off[v+1] = uint64(len(adj))
	}
	for range 2 {
		var all []cuda.Buffer
		take := func(_ string, bytes int64) (cuda.Buffer, error) {
			b, err := c.Alloc(bytes)
			all = append(all, b)
			return b, err
		}
		tools, err := newTools(context.Background(), c, toolsSource(), c.Main(), sms, take)
		if err != nil {
			return err
		}
		o, _ := take("", int64(8*len(off)))
		a, err := take("", int64(4*len(adj)))
		if err != nil {
			return err
		}
		if err := errors.Join(cuda.Upload(c, o, 0, off), cuda.Upload(c, a, 0, adj)); err != nil {
			return err
		}
		start := time.Now()
		_, err = tools.DegreeOrder(Lists{o, a}, cuda.Buffer{}, 1, n, uint64(len(adj)))
		err = errors.Join(err, c.Synchronize())
		took := time.Since(start)
		for _, b := range all {
			err = errors.Join(err, c.Free(b))
		}
		if err = errors.Join(err, tools.close()); err != nil {
			return err
		}
		say(map[string]any{"what": "degree order", "vertices": n, "list_entries": len(adj), "ms": took.Seconds() * 1e3})
	}
	return nil
}
