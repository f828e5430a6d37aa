package weft

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Option changes how a graph is read or a query is answered. Each call takes the options
// that concern it: another one is an error of kind ErrUsage. See Concerning for a list of
// options that several calls share. The zero Option changes nothing.
type Option struct {
	name string // of the function that made it
	set  func(*settings)
}

type settings struct {
	read         format.ReadOptions
	engine       string
	device       string
	threads      int
	memory       int64
	gpuMemory    int64
	limit        int64
	timeout      time.Duration
	order        string
	params       map[string]any
	opts         map[string]string
	seed         uint64
	mode         *pattern.Mode
	noMode       error // of a name that is no mode's
	induced      *bool
	product      bool
	what         What
	levels       bool
	queryCol     bool
	noDirections bool // of Motifs
	listing      *bool
	passes       string // of a Matcha program; "": all
	stats        bool   // of a Matcha run
	lanes        bool
	target       string // of a Matcha program
	schedule     string // of its target
	debug        bool   // a debug build of it
	progress     func(Progress)
}

// collect makes settings of the options of a call.
func collect(of call, options []Option) (*settings, error) {
	s := &settings{params: map[string]any{}, opts: map[string]string{}}
	for _, o := range options {
		if o.set == nil {
			continue
		}
		if concerns[o.name]&of == 0 {
			return nil, withKind(ErrUsage, fmt.Errorf("%s does not concern %s: it concerns %s", o.name, of, concerns[o.name]))
		}
		o.set(s)
	}
	return s, nil
}

// Progress is how far a call is. Total is 0 where it is not known.
type Progress struct {
	Phase       string // "load" (bytes) or "search" (the first vertices of matches)
	Done, Total uint64
}

// What says which of the two counts a listing is about.
type What uint8

const (
	// Subgraphs lists each subgraph once: one of the embeddings that the
	// pattern's symmetries make of each other.
	Subgraphs What = iota
	// Embeddings lists every way to map the pattern's names.
	Embeddings
)

// WithFormat names the file's format; the default guesses it.
func WithFormat(name string) Option {
	return Option{"WithFormat", func(s *settings) { s.read.Format = name }}
}

// WithDirected says whether edges have a direction. Without it the file does, by its
// header or by the names of its columns; edges of a file that says nothing have none.
func WithDirected(directed bool) Option {
	return Option{"WithDirected", func(s *settings) {
		s.read.Direction = format.Undirected
		if directed {
			s.read.Direction = format.Directed
		}
	}}
}

// WithColumns names the columns of text and tables: src, dst, label, time,
// weight, a property, or _ for one that is not read.
func WithColumns(names ...string) Option {
	return Option{"WithColumns", func(s *settings) { s.read.Columns = names }}
}

// WithNull names words that stand for a missing value in text, besides the usual
// ones such as NA and NULL. Unlike those, they do so in columns of texts too.
func WithNull(words ...string) Option {
	return Option{"WithNull", func(s *settings) { s.read.Null = words }}
}

// WithSkip drops the first lines of a text.
func WithSkip(lines int) Option { return Option{"WithSkip", func(s *settings) { s.read.Skip = lines }} }

// WithHeader says whether the first line of a text is left out: it names the columns,
// or holds the sizes of the graph. Without it, the values below the line decide, and a
// line that cannot be told from an edge is reported, or is an error of kind ErrInput.
func WithHeader(header bool) Option {
	return Option{"WithHeader", func(s *settings) {
		s.read.Header = format.NoHeader
		if header {
			s.read.Header = format.WithHeader
		}
	}}
}

// WithDuplicates keeps edges that are equal in all columns, each as one edge. Without it
// they are merged, and ReadReport counts them. On an undirected graph an edge that is
// given from both ends stays one edge.
func WithDuplicates() Option {
	return Option{"WithDuplicates", func(s *settings) { s.read.KeepDuplicates = true }}
}

// WithLabels reads vertex labels from a file of lines "id label".
func WithLabels(path string) Option {
	return Option{"WithLabels", func(s *settings) { s.read.Labels = path }}
}

// WithVertices reads ids, labels and properties of vertices from a table.
func WithVertices(path string) Option {
	return Option{"WithVertices", func(s *settings) { s.read.Vertices = path }}
}

// WithThreads sets the number of threads; 0 is one a core, and more than 4096 are
// 4096.
func WithThreads(n int) Option {
	n = min(n, native.MostWorkers)
	return Option{"WithThreads", func(s *settings) { s.threads, s.read.Threads = n, n }}
}

// WithMemory bounds the memory of the process in bytes: a call that would need
// more fails with ErrMemory instead. The limits of the system (of control groups on
// Linux, and what the machine has) hold as well, and with 0 alone.
func WithMemory(bytes int64) Option {
	return Option{"WithMemory", func(s *settings) { s.memory, s.read.Memory = bytes, bytes }}
}

// WithGPUMemory bounds what may be used of each GPU's memory in bytes: a call
// that would need more fails with ErrMemory. 0, the default, is what is free.
func WithGPUMemory(bytes int64) Option {
	return Option{"WithGPUMemory", func(s *settings) { s.gpuMemory = bytes }}
}

// WithEngine names the engine; "auto" is the default.
func WithEngine(name string) Option {
	return Option{"WithEngine", func(s *settings) { s.engine = name }}
}

// WithDevice is auto, cpu or gpu:0,1,….
func WithDevice(name string) Option {
	return Option{"WithDevice", func(s *settings) { s.device = name }}
}

// WithEngineOption sets a switch of planning, as "plan.tail", or of one engine, as
// "host.steal": see EngineOptions. A call that knows no such option, or whose
// engine cannot be the option's, fails with ErrUsage.
func WithEngineOption(name, value string) Option {
	return Option{"WithEngineOption", func(s *settings) { s.opts[name] = value }}
}

// WithLimit stops after n matches, of the kind that WithList says; 0 is no limit.
func WithLimit(n int64) Option { return Option{"WithLimit", func(s *settings) { s.limit = n }} }

// WithTimeout ends each of the counts of CountEach, or of Motifs where it counts them
// one by one, when it has taken so long, with context.DeadlineExceeded and what was
// found until then; 0 is no limit. Other calls end with their context.
func WithTimeout(d time.Duration) Option {
	return Option{"WithTimeout", func(s *settings) { s.timeout = d }}
}

// WithOrder sets how the matching order is made: auto, ri, gsi, geneva, cost, tests, or
// the pattern's names in the order wanted, with commas.
func WithOrder(order string) Option {
	return Option{"WithOrder", func(s *settings) { s.order = order }}
}

// WithParam gives $name a value: a boolean, number, string, nil, or a slice of
// these.
func WithParam(name string, value any) Option {
	return Option{"WithParam", func(s *settings) { s.params[name] = value }}
}

// WithSemantics is iso, trail or hom for a pattern that does not say: a text
// that names its mode keeps it. Queries with another name fail with ErrUsage.
func WithSemantics(name string) Option {
	return Option{"WithSemantics", func(s *settings) {
		m, err := pattern.ParseMode(name)
		s.mode, s.noMode = &m, err
	}}
}

// WithInduced asks for no edges between matched vertices beyond the pattern's,
// as the word INDUCED in a text always does.
func WithInduced(induced bool) Option {
	return Option{"WithInduced", func(s *settings) { s.induced = &induced }}
}

// WithSeed seeds what is random: estimates and samples.
func WithSeed(seed uint64) Option { return Option{"WithSeed", func(s *settings) { s.seed = seed }} }

// WithProduct permits patterns that are not connected.
func WithProduct() Option { return Option{"WithProduct", func(s *settings) { s.product = true }} }

// WithList says what Match lists, and what of a count's two numbers WithLimit is
// about; the default is Subgraphs under iso and Embeddings otherwise.
func WithList(w What) Option { return Option{"WithList", func(s *settings) { s.what = w + 1 }} }

// WithDirections(false) makes Motifs count the motifs of a directed graph as if its edges
// had no directions.
func WithDirections(on bool) Option {
	return Option{"WithDirections", func(s *settings) { s.noDirections = !on }}
}

// WithQueryColumn makes List, and Write of a Participation, write the query's name in a
// first column.
func WithQueryColumn() Option {
	return Option{"WithQueryColumn", func(s *settings) { s.queryCol = true }}
}

// WithListing says whether Explain is about a listing of matches or about their
// count, for a query without RETURN, or one that returns items.
func WithListing(list bool) Option {
	return Option{"WithListing", func(s *settings) { s.listing = &list }}
}

// WithLevels asks Explain for the actual matches and times of each level.
func WithLevels() Option { return Option{"WithLevels", func(s *settings) { s.levels = true }} }

// WithProgress is told now and then how far a call is.
func WithProgress(f func(Progress)) Option {
	return Option{"WithProgress", func(s *settings) { s.progress = f }}
}

// workers is the number of threads that an engine will use.
func (s *settings) workers() int {
	if s.threads > 0 {
		return s.threads
	}
	return runtime.GOMAXPROCS(0)
}

// engineOptions are s for an engine that searches in g.
func (g *Graph) engineOptions(s *settings) engine.Options {
	return engine.Options{Threads: s.workers(), Crew: g.rt.r.Crew, Memory: s.memory, Levels: s.levels, Opt: maps.Clone(s.opts)}
}

// searching is told how far a search is; nil where nobody wants to know.
func (s *settings) searching() func(done, total uint64) {
	f := s.progress
	if f == nil {
		return nil
	}
	return func(done, total uint64) { f(Progress{"search", done, total}) }
}

// planOptions are s for a plan of p.
func (s *settings) planOptions(p *pattern.Pattern) (plan.Options, error) {
	o := plan.Options{Order: s.order, Root: plan.NoRoot, Params: s.params, AllowProduct: s.product, Seed: s.seed, Threads: s.workers()}
	if s.order != "" && !slices.Contains(plan.OrderRules, s.order) {
		given, err := plan.GivenOrder(s.order, p, s.opts["plan.method"] == "local")
		if err != nil {
			return o, withKind(ErrUsage, err)
		}
		o.Order, o.Given = "given", given
	}
	for k, v := range s.opts {
		err := allOptions.Check(k, v)
		if err == nil {
			err = s.checkEffect(k)
		}
		if err != nil {
			return o, withKind(ErrUsage, fmt.Errorf("engine option %s: %w", k, err))
		}
	}
	v, err := planSwitches.Read(s.opts)
	if err != nil {
		return o, withKind(ErrUsage, err)
	}
	o.Method, o.NoTail, o.NoMotion, o.NoRestrictions = v.Text("plan.method"), !v.On("plan.tail"), !v.On("plan.motion"), !v.On("plan.restrictions")
	return o, nil
}
