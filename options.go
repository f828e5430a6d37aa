package weft

import (
	"fmt"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/setting"
)

// Option changes how a graph is read or a query is answered. Each call takes the options
// that concern it: another one is an error of kind ErrUsage. See Concerning for a list of
// options that several calls share. The zero Option changes nothing.
type Option struct {
	name string // of the function that made it
	set  func(*setting.Settings)
}

// collect makes settings of the options of a call.
func collect(of setting.Call, options []Option) (*setting.Settings, error) {
	s := setting.New()
	for _, o := range options {
		if o.set == nil {
			continue
		}
		if concerned := setting.Concerns[o.name]; concerned&of == 0 {
			return nil, kind.With(kind.Usage, fmt.Errorf("%s does not concern %s: it concerns %s", o.name, of, concerned))
		}
		o.set(s)
	}
	return s, nil
}

// Concerning returns those of the options that concern a call, for callers with one list of
// options for several calls. The call is named as in "Open" or "Graph.Count". A name that
// is not a call's concerns no option.
func Concerning(of string, options ...Option) (out []Option) {
	for i, name := range setting.Calls {
		if name != of {
			continue
		}
		for _, o := range options {
			if setting.Concerns[o.name]&(1<<i) != 0 {
				out = append(out, o)
			}
		}
	}
	return out
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
	return Option{"WithFormat", func(s *setting.Settings) { s.Read.Format = name }}
}

// WithDirected says whether edges have a direction. Without it the file does, by its
// header or by the names of its columns; edges of a file that says nothing have none.
func WithDirected(directed bool) Option {
	return Option{"WithDirected", func(s *setting.Settings) {
		s.Read.Direction = format.Undirected
		if directed {
			s.Read.Direction = format.Directed
		}
	}}
}

// WithColumns names the columns of text and tables: src, dst, label, time,
// weight, a property, or _ for one that is not read.
func WithColumns(names ...string) Option {
	return Option{"WithColumns", func(s *setting.Settings) { s.Read.Columns = names }}
}

// WithNull names words that stand for a missing value in text, besides the usual
// ones such as NA and NULL. Unlike those, they do so in columns of texts too.
func WithNull(words ...string) Option {
	return Option{"WithNull", func(s *setting.Settings) { s.Read.Null = words }}
}

// WithSkip drops the first lines of a text.
func WithSkip(lines int) Option {
	return Option{"WithSkip", func(s *setting.Settings) { s.Read.Skip = lines }}
}

// WithHeader says whether the first line of a text is left out: it names the columns,
// or holds the sizes of the graph. Without it, the values below the line decide, and a
// line that cannot be told from an edge is reported, or is an error of kind ErrInput.
func WithHeader(header bool) Option {
	return Option{"WithHeader", func(s *setting.Settings) {
		s.Read.Header = format.NoHeader
		if header {
			s.Read.Header = format.WithHeader
		}
	}}
}

// WithDuplicates keeps edges that are equal in all columns, each as one edge. Without it
// they are merged, and ReadReport counts them. On an undirected graph an edge that is
// given from both ends stays one edge.
func WithDuplicates() Option {
	return Option{"WithDuplicates", func(s *setting.Settings) { s.Read.KeepDuplicates = true }}
}

// WithLabels reads vertex labels from a file of lines "id label".
func WithLabels(path string) Option {
	return Option{"WithLabels", func(s *setting.Settings) { s.Read.Labels = path }}
}

// WithVertices reads ids, labels and properties of vertices from a table.
func WithVertices(path string) Option {
	return Option{"WithVertices", func(s *setting.Settings) { s.Read.Vertices = path }}
}

// WithThreads sets the number of threads; 0 is one a core, and more than 4096 are
// 4096.
func WithThreads(n int) Option {
	n = min(n, native.MostWorkers)
	return Option{"WithThreads", func(s *setting.Settings) { s.Threads, s.Read.Threads = n, n }}
}

// WithMemory bounds the memory of the process in bytes: a call that would need
// more fails with ErrMemory instead. The limits of the system (of control groups on
// Linux, and what the machine has) hold as well, and with 0 alone.
func WithMemory(bytes int64) Option {
	return Option{"WithMemory", func(s *setting.Settings) { s.Memory, s.Read.Memory = bytes, bytes }}
}

// WithGPUMemory bounds what may be used of each GPU's memory in bytes: a call
// that would need more fails with ErrMemory. 0, the default, is what is free.
func WithGPUMemory(bytes int64) Option {
	return Option{"WithGPUMemory", func(s *setting.Settings) { s.GPUMemory = bytes }}
}

// WithEngine names the engine; "auto" is the default.
func WithEngine(name string) Option {
	return Option{"WithEngine", func(s *setting.Settings) { s.Engine = name }}
}

// WithDevice is auto, cpu or gpu:0,1,….
func WithDevice(name string) Option {
	return Option{"WithDevice", func(s *setting.Settings) { s.Device = name }}
}

// WithEngineOption sets a switch of planning, as "plan.tail", or of one engine, as
// "host.steal": see EngineOptions. A call that knows no such option, or whose
// engine cannot be the option's, fails with ErrUsage.
func WithEngineOption(name, value string) Option {
	return Option{"WithEngineOption", func(s *setting.Settings) { s.Switches[name] = value }}
}

// WithLimit stops after n matches, of the kind that WithList says; 0 is no limit.
func WithLimit(n int64) Option { return Option{"WithLimit", func(s *setting.Settings) { s.Limit = n }} }

// WithTimeout ends each of the counts of CountEach, or of Motifs where it counts them
// one by one, when it has taken so long, with context.DeadlineExceeded and what was
// found until then; 0 is no limit. Other calls end with their context.
func WithTimeout(d time.Duration) Option {
	return Option{"WithTimeout", func(s *setting.Settings) { s.Timeout = d }}
}

// WithOrder sets how the matching order is made: auto, ri, gsi, geneva, cost, tests, or
// the pattern's names in the order wanted, with commas.
func WithOrder(order string) Option {
	return Option{"WithOrder", func(s *setting.Settings) { s.Order = order }}
}

// WithParam gives $name a value: a boolean, number, string, nil, or a slice of
// these.
func WithParam(name string, value any) Option {
	return Option{"WithParam", func(s *setting.Settings) { s.Params[name] = value }}
}

// WithSemantics is iso, trail or hom for a pattern that does not say: a text
// that names its mode keeps it. Queries with another name fail with ErrUsage.
func WithSemantics(name string) Option {
	return Option{"WithSemantics", func(s *setting.Settings) {
		m, err := pattern.ParseMode(name)
		s.Mode, s.NoMode = &m, err
	}}
}

// WithInduced asks for no edges between matched vertices beyond the pattern's,
// as the word INDUCED in a text always does.
func WithInduced(induced bool) Option {
	return Option{"WithInduced", func(s *setting.Settings) { s.Induced = &induced }}
}

// WithSeed seeds what is random: estimates and samples.
func WithSeed(seed uint64) Option {
	return Option{"WithSeed", func(s *setting.Settings) { s.Seed = seed }}
}

// WithProduct permits patterns that are not connected.
func WithProduct() Option {
	return Option{"WithProduct", func(s *setting.Settings) { s.Product = true }}
}

// WithList says what Match lists, and what of a count's two numbers WithLimit is
// about; the default is Subgraphs under iso and Embeddings otherwise.
func WithList(w What) Option {
	return Option{"WithList", func(s *setting.Settings) { what := setting.What(w); s.Lists = &what }}
}

// WithDirections(false) makes Motifs count the motifs of a directed graph as if its edges
// had no directions.
func WithDirections(on bool) Option {
	return Option{"WithDirections", func(s *setting.Settings) { s.Undirected = !on }}
}

// WithQueryColumn makes List, and Write of a Participation, write the query's name in a
// first column.
func WithQueryColumn() Option {
	return Option{"WithQueryColumn", func(s *setting.Settings) { s.QueryColumn = true }}
}

// WithListing says whether Explain is about a listing of matches or about their
// count, for a query without RETURN, or one that returns items.
func WithListing(list bool) Option {
	return Option{"WithListing", func(s *setting.Settings) { s.Listing = &list }}
}

// WithLevels asks Explain for the actual matches and times of each level.
func WithLevels() Option { return Option{"WithLevels", func(s *setting.Settings) { s.Levels = true }} }

// WithProgress is told now and then how far a call is.
func WithProgress(f func(Progress)) Option {
	return Option{"WithProgress", func(s *setting.Settings) {
		if s.Progress = nil; f != nil {
			s.Progress = func(phase string, done, total uint64) { f(Progress{phase, done, total}) }
		}
	}}
}

// WithPasses chooses the passes that rewrite a Matcha program: all, none, names
// with commas between them, or names with a minus, which are left out.
func WithPasses(choice string) Option {
	return Option{"WithPasses", func(s *setting.Settings) { s.Passes = choice }}
}

// WithTarget chooses what runs a Matcha program: interp, the interpreter, on one
// core; c, C that the machine's compiler compiles, on all cores; or cuda, a GPU, which
// WithDevice names and WithGPUMemory limits. Answers are the same,
// and whole numbers that pass 64 bits are an error everywhere. Rows that a program
// emits come in any order from c and cuda.
func WithTarget(name string) Option {
	return Option{"WithTarget", func(s *setting.Settings) { s.Target = name }}
}

// WithSchedule says how the target of a Matcha program spreads its work, as in
// "threads=4,loop=static": knobs with commas between them.
func WithSchedule(text string) Option {
	return Option{"WithSchedule", func(s *setting.Settings) { s.Schedule = text }}
}

// WithDebug makes a debug build of a Matcha program: every access to memory is
// asserted, and sums are checked even where they are known to fit 64 bits. The
// interpreter has no other build.
func WithDebug() Option { return Option{"WithDebug", func(s *setting.Settings) { s.Debug = true }} }

// WithStats asks a Matcha run for notes about what it did. With lanes, a GPU also
// counts which of its lanes have work, which takes time itself.
func WithStats(lanes bool) Option {
	return Option{"WithStats", func(s *setting.Settings) { s.Stats, s.Lanes = true, lanes }}
}

// EngineOption is a switch that WithEngineOption sets: of planning, or of one
// engine. They are for experiments; answers do not depend on them.
type EngineOption struct {
	Name    string   // as "host.steal": the engine, or plan, and what is switched
	Values  []string // N stands for a number
	Default string   // the value where the option is not set; "": it is chosen for each query
	Meaning string
}

// EngineOptions lists what WithEngineOption sets.
func EngineOptions() (out []EngineOption) {
	for _, o := range setting.Switches {
		values := slices.Clone(o.Values)
		if values == nil {
			values = []string{"N"}
		}
		out = append(out, EngineOption{o.Name, values, o.Default, o.Meaning})
	}
	return out
}
