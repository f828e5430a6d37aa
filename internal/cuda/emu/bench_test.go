package emu

import (
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
)

// loops are kernels that do one thing p.n times.
const loops = `
#include "base/device.cuh"
struct Params { u64* out; u32 n; };
WEFT_KERNEL(ballots, Params) {
  u32 x = 0;
  for (u32 i = 0; i < p.n; i++) x += ballot(ALL, (i + lane()) & 1);
  if (thread() == 0) p.out[block()] = x;
}
WEFT_KERNEL(shuffles, Params) {
  u32 x = lane();
  for (u32 i = 0; i < p.n; i++) x += shfl_xor(ALL, x, i & 31);
  if (thread() == 0) p.out[block()] = x;
}
WEFT_KERNEL(pairs, Params) {
  u32 x = lane(), mask = 3u << (lane() & 30);
  for (u32 i = 0; i < p.n; i++) x += shfl_xor(mask, x, 1);
  if (thread() == 0) p.out[block()] = x;
}
WEFT_KERNEL(barriers, Params) {
  for (u32 i = 0; i < p.n; i++) sync_block();
  if (thread() == 0) p.out[block()] = p.n;
}
WEFT_KERNEL(spins, Params) {
  for (u32 i = 0; i < p.n; i++) spin();
  if (thread() == 0) p.out[block()] = p.n;
}
WEFT_KERNEL(atomics, Params) {
  for (u32 i = 0; i < p.n; i++) atomic_add(p.out + block(), 1ull);
}
`

type loopParams struct {
	out uint64
	n   uint32
	_   uint32
}

// BenchmarkLanes says how long a lane takes for one collective, barrier, spin or atomic, and with what of a switch.
func BenchmarkLanes(b *testing.B) {
	d, err := Open(Options{Threads: 1, Optimize: "-O2"})
	if err != nil {
		b.Skip(err)
	}
	defer d.Close()
	for _, name := range []string{"ballots", "shuffles", "pairs", "barriers", "spins", "atomics"} {
		b.Run(name, func(b *testing.B) {
			err := d.Do(func(c *cuda.Context) error {
				m, err := c.Module(cuda.Source{Name: "loops.cu", Text: loops, Includes: kernels.Includes(loops)})
				if err != nil {
					return err
				}
				defer m.Close()
				k, err := m.Kernel(name)
				if err != nil {
					return err
				}
				out, err := c.Alloc(8 * 16)
				if err != nil {
					return err
				}
				defer c.Free(out)
				const blocks, threads = 4, 128
				b.ResetTimer()
				began := time.Now()
				if err := k.Launch(cuda.Launch{Blocks: blocks, Threads: threads}, &loopParams{out: out.Ptr, n: uint32(b.N)}); err != nil {
					return err
				}
				err = c.Synchronize()
				b.ReportMetric(float64(time.Since(began).Nanoseconds())/float64(b.N*blocks*threads), "ns/lane")
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkLaunch says how long the smallest launch takes.
func BenchmarkLaunch(b *testing.B) {
	d, err := Open(Options{})
	if err != nil {
		b.Skip(err)
	}
	defer d.Close()
	err = d.Do(func(c *cuda.Context) error {
		m, err := c.Module(cuda.Source{Name: "loops.cu", Text: loops, Includes: kernels.Includes(loops)})
		if err != nil {
			return err
		}
		k, err := m.Kernel("ballots")
		if err != nil {
			return err
		}
		out, err := c.Alloc(8 * 16)
		if err != nil {
			return err
		}
		for b.Loop() {
			if err := k.Launch(cuda.Launch{Blocks: 8, Threads: 128}, &loopParams{out: out.Ptr, n: 1}); err != nil {
				return err
			}
			if err := c.Synchronize(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
