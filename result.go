package weft

import (
	"bytes"
	"encoding/json"
	"math/big"
	"runtime/debug"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/plan/explain"
	"github.com/weftgraph/weft/internal/search"
)

// Result is the answer to a query, with its times and notes.
type Result struct {
	Query     string
	Semantics string // iso, trail or hom
	Induced   bool
	// Subgraphs is Embeddings / Automorphisms; nil under trail and hom, where it
	// is not defined. Both are lower bounds unless Complete.
	Subgraphs     *big.Int
	Embeddings    *big.Int
	Automorphisms *big.Int
	Complete      bool
	Engine        string
	Device        string
	Graph         Summary
	Load          time.Duration
	Open          time.Duration // time until the driver and the devices were open, besides Load
	Check         time.Duration // time of verifying a large .weft file, besides Load; 0 if this version of it was verified before
	Plan          time.Duration
	Prepare       time.Duration // on a device: time of uploads, of tables made once, and of waiting for kernels to be compiled
	Search        time.Duration
	Total         time.Duration
	PeakMemory    int64 // bytes
	// Notes are for the user: why nothing can match, missing properties, why
	// this engine.
	Notes  []string
	Stats  []string // figures of the search, such as an idle rate
	Meters *Meters  // what a search on GPUs counted; nil without one
	Reason string   // reason for this engine
	Method string   // method of counting
}

// Meters are what a search on GPUs counted about its work, for comparisons of techniques.
type Meters struct {
	// LanesBusy of LanesAll steps of threads had work. Both are 0 if the search did not count them.
	LanesBusy, LanesAll uint64
	// Steals inside a block of threads, and from one block to another.
	StealsBlock, StealsGrid uint64
	// Scratch is the bytes that the search took on the device, besides the graph: stacks, pools and tables. Of several devices it is
	// the most.
	Scratch int64
}

// Idle returns the share of steps of threads without work; ok says whether they were counted.
func (m *Meters) Idle() (share float64, ok bool) {
	if m == nil || m.LanesAll == 0 {
		return 0, false
	}
	return 1 - float64(m.LanesBusy)/float64(m.LanesAll), true
}

// metersOf is nil for nil.
func metersOf(m *engine.Meters) *Meters {
	if m == nil {
		return nil
	}
	x := Meters(*m)
	return &x
}

type jsonResult struct {
	Query         string            `json:"query"`
	Semantics     string            `json:"semantics"`
	Induced       bool              `json:"induced,omitempty"`
	Subgraphs     explain.JSONCount `json:"subgraphs"`
	Embeddings    explain.JSONCount `json:"embeddings"`
	Automorphisms explain.JSONCount `json:"automorphisms"`
	Complete      bool              `json:"complete"`
	Engine        string            `json:"engine"`
	Device        string            `json:"device"`
	Graph         Summary           `json:"graph"`
	Seconds       jsonSeconds       `json:"seconds"`
	Peak          int64             `json:"peak_memory_bytes"`
	Version       string            `json:"version"`
	Notes         []string          `json:"notes,omitempty"`
	Stats         []string          `json:"stats,omitempty"`
}

type jsonSeconds struct {
	Load    float64 `json:"load"`
	Open    float64 `json:"open,omitempty"`
	Check   float64 `json:"check,omitempty"`
	Plan    float64 `json:"plan"`
	Prepare float64 `json:"prepare,omitempty"`
	Search  float64 `json:"search"`
	Total   float64 `json:"total"`
}

// readableJSON is json.Marshal without the escapes that HTML needs: the arrows of
// queries stay arrows.
func readableJSON(x any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(x)
	return bytes.TrimSpace(b.Bytes()), err
}

// MarshalJSON writes the result as `weft count --to json` does.
func (r Result) MarshalJSON() ([]byte, error) {
	round := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e6 }
	return readableJSON(jsonResult{
		r.Query, r.Semantics, r.Induced, explain.JSONCount{N: r.Subgraphs}, explain.JSONCount{N: r.Embeddings}, explain.JSONCount{N: r.Automorphisms},
		r.Complete, r.Engine, r.Device, r.Graph,
		jsonSeconds{round(r.Load), round(r.Open), round(r.Check), round(r.Plan), round(r.Prepare), round(r.Search), round(r.Total)}, r.PeakMemory, Version(), r.Notes, r.Stats,
	})
}

// result is r in the API's form.
func (g *Graph) result(r search.Result) Result {
	if r.Embeddings == nil {
		return Result{} // there is none
	}
	return Result{
		Query: r.Query, Semantics: r.Semantics, Induced: r.Induced,
		Subgraphs: r.Subgraphs, Embeddings: r.Embeddings, Automorphisms: r.Automorphisms, Complete: r.Complete,
		Engine: r.Engine, Device: r.Device, Graph: g.summary,
		Load: g.load - g.check, Open: r.Open, Check: g.check, Plan: r.Plan, Prepare: r.Prepare, Search: r.Search, Total: g.load + r.Total,
		PeakMemory: r.PeakMemory, Notes: r.Notes, Stats: r.Stats, Meters: metersOf(r.Meters), Reason: r.Reason, Method: r.Method,
	}
}

// version is set by release builds with -ldflags.
var version = ""

// Version returns the version of this module in the running program.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	const path = "github.com/weftgraph/weft"
	if info.Main.Path == path && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "(devel)"
}
