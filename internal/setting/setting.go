// Package setting holds the values of a call's options. It knows which options concern which call, and which values
// of planning and of engines follow from them.
//
// It knows the options of planning, of engines and of readers. It must not know a graph or a query.
package setting

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// Settings are the values of one call's options. The zero value of a field means that the option
// was not given.
type Settings struct {
	Read      format.ReadOptions
	Engine    string
	Device    string
	Threads   int
	Memory    int64 // bytes
	GPUMemory int64 // bytes on each GPU
	Spill     string
	Limit     int64
	Timeout   time.Duration
	Planning  time.Duration // the most
	Order     string
	Params    map[string]any
	Switches  map[string]string // of planning and engines, NAME=VALUE
	Seed      uint64
	Mode      *pattern.Mode
	NoMode    error // of a name that is not a mode's
	Induced   *bool
	Product   bool
	// Lists is Subgraphs or Embeddings where an option says it, and nil where the query does.
	Lists       *What
	Levels      bool
	QueryColumn bool
	Undirected  bool // motifs without directions
	Listing     *bool
	Partitioner string
	Imbalance   *float64
	Progress    func(phase string, done, total uint64)
	Details     func(done, total uint64, detail string) // of a search

	// Of Matcha programs.
	Passes   string // "" is all
	Target   string
	Schedule string // of the target
	Debug    bool   // a debug build
	Stats    bool   // notes about the work done
	Lanes    bool   // the lanes of a GPU are counted
	// ProgramMemory is the most bytes of what a program makes. 0 means as many as Memory.
	ProgramMemory int64

	// CompilerMemory is the most bytes of a compiler of the machine that a search or a program starts. 0 means as many as Memory.
	CompilerMemory int64
}

// What is one of the two counts.
type What uint8

// The counts, as in the root package.
const (
	Subgraphs What = iota
	Embeddings
)

// New returns the settings of a call without options.
func New() *Settings { return &Settings{Params: map[string]any{}, Switches: map[string]string{}} }

// Workers is the number of threads that an engine will use.
func (s *Settings) Workers() int {
	if s.Threads > 0 {
		return s.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// EngineOptions are the settings for an engine whose goroutines belong to a crew.
func (s *Settings) EngineOptions(c *crew.Pool) engine.Options {
	return engine.Options{Threads: s.Workers(), Crew: c, Memory: s.Memory, Compiler: cmp.Or(s.CompilerMemory, s.Memory), Spill: s.Spill, Levels: s.Levels, Opt: maps.Clone(s.Switches)}
}

// Searching is told how far a search is. It is nil where nobody wants to know.
func (s *Settings) Searching() func(done, total uint64) {
	f := s.Progress
	if f == nil {
		return nil
	}
	return func(done, total uint64) { f("search", done, total) }
}

// Ordered reports whether the matching order is to be made in a certain way.
func (s *Settings) Ordered() bool { return s.Order != "" && s.Order != "auto" }

// PlanOptions are the settings for a plan of p.
func (s *Settings) PlanOptions(p *pattern.Pattern) (plan.Options, error) {
	o := plan.Options{Order: s.Order, Root: plan.NoRoot, Params: s.Params, AllowProduct: s.Product, Seed: s.Seed, Threads: s.Workers()}
	v, err := planSwitches.Read(s.Switches)
	if err != nil {
		return o, kind.With(kind.Usage, err)
	}
	if s.Order != "" && !slices.Contains(plan.OrderRules, s.Order) {
		given, err := plan.GivenOrder(s.Order, p, v.Text("plan.method") == plan.Local.String())
		if err != nil {
			return o, kind.With(kind.Usage, err)
		}
		o.Order, o.Given = "given", given
	}
	for k, v := range s.Switches {
		err := Switches.Check(k, v)
		if err == nil {
			err = s.checkEffect(k)
		}
		if err != nil {
			return o, kind.With(kind.Usage, fmt.Errorf("engine option %s: %w", k, err))
		}
	}
	o.Method, o.NoTail, o.NoMotion, o.NoRestrictions = v.Text("plan.method"), !v.On("plan.tail"), !v.On("plan.motion"), !v.On("plan.restrictions")
	return o, nil
}

// Preparing returns a text that is equal for settings under which a query is prepared in the
// same way. It leaves out the settings of a run.
func (s *Settings) Preparing() string {
	k := *s
	k.Limit, k.Timeout, k.Planning, k.Lists, k.Progress, k.Details = 0, 0, 0, nil, nil, nil
	mode, induced := "", ""
	if k.Mode != nil {
		mode = k.Mode.String()
	}
	if k.Induced != nil {
		induced = fmt.Sprint(*k.Induced)
	}
	k.Mode, k.Induced = nil, nil
	return fmt.Sprintf("%s %s %#v", mode, induced, k)
}
