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

// Option changes how a graph is read or a query is answered. A call accepts only options that
// concern it; another option is an error of kind ErrUsage. Concerning splits a list of options
// that several calls share. The zero Option changes nothing.
type Option struct {
	name string // name of the function that made it
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

// Concerning returns the options that concern a call, for callers with one list of options for
// several calls. The call is named as in "Open" or "Graph.Count". No option concerns a name
// that is not a call's.
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

// Progress is the progress of a call. Total is 0 if it is not known.
type Progress struct {
	Phase       string // "load" (bytes) or "search" (the first vertices of matches)
	Done, Total uint64
	// Detail says more in words, where the phase has more to say: of a search on GPUs the bytes copied to them, and of a join
	// out of core its segments and rows too.
	Detail string
}

// What chooses one of the two counts.
type What uint8

const (
	// Subgraphs lists each subgraph once: one of the embeddings that the pattern's symmetries
	// map to each other.
	Subgraphs What = iota
	// Embeddings lists every way to map the pattern's names.
	Embeddings
)

// WithFormat names the file's format; the default guesses it.
func WithFormat(name string) Option {
	return Option{"WithFormat", func(s *setting.Settings) { s.Read.Format = name }}
}

// WithDirected says whether edges have a direction. Without it the file's header or the names
// of its columns say so; if they say nothing, edges have no direction.
func WithDirected(directed bool) Option {
	return Option{"WithDirected", func(s *setting.Settings) {
		s.Read.Direction = format.Undirected
		if directed {
			s.Read.Direction = format.Directed
		}
	}}
}

// WithColumns names the columns of text and tables: src, dst, label, time, weight, a property,
// or _ for a column that is not read.
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

// WithHeader says whether the first line of a text is a header, with the names of the columns
// or the sizes of the graph. Without it, the values below the line decide. If the line could
// also be an edge, the report says so, or it is an error of kind ErrInput.
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

// WithThreads sets the number of threads. 0 means one for each core. More than 4096 are 4096.
func WithThreads(n int) Option {
	n = min(n, native.MostWorkers)
	return Option{"WithThreads", func(s *setting.Settings) { s.Threads, s.Read.Threads = n, n }}
}

// WithMemory bounds the memory of the process in bytes. A call that would need more fails with
// ErrMemory. The limits of the system (of control groups on Linux, and of the machine) hold as
// well. 0 means only the limits of the system.
func WithMemory(bytes int64) Option {
	return Option{"WithMemory", func(s *setting.Settings) { s.Memory, s.Read.Memory = bytes, bytes }}
}

// WithSpill names the folder for files of partial matches that exceed the memory, of joins on GPUs that are out of
// core. The files are temporary, and nobody but this user may read them. A join out of core fails before it starts if no file
// can be made in the folder. Without it they are in the system's folder for temporary files.
func WithSpill(folder string) Option {
	return Option{"WithSpill", func(s *setting.Settings) { s.Spill = folder }}
}

// WithGPUMemory bounds the memory, in bytes, that a call may use on each GPU. A call that would
// need more joins out of core, reads the graph's arrays in host memory, or fails with ErrMemory. 0, the default, means all free memory.
func WithGPUMemory(bytes int64) Option {
	return Option{"WithGPUMemory", func(s *setting.Settings) { s.GPUMemory = bytes }}
}

// WithEngine names the engine; "auto" is the default.
func WithEngine(name string) Option {
	return Option{"WithEngine", func(s *setting.Settings) { s.Engine = name }}
}

// WithDevice sets the device: auto, cpu or gpu:0,1,….
func WithDevice(name string) Option {
	return Option{"WithDevice", func(s *setting.Settings) { s.Device = name }}
}

// WithEngineOption sets a switch of planning, such as "plan.tail", or of one engine, such as
// "host.steal"; see EngineOptions. It is an error of kind ErrUsage if there is no such option,
// or if it does not belong to the call's engine.
func WithEngineOption(name, value string) Option {
	return Option{"WithEngineOption", func(s *setting.Settings) { s.Switches[name] = value }}
}

// WithLimit stops after n matches, of the kind that WithList chooses. 0 means no limit.
func WithLimit(n int64) Option { return Option{"WithLimit", func(s *setting.Settings) { s.Limit = n }} }

// WithPlanning limits the time of planning a query. A query whose planning takes longer is an error of kind ErrQuery.
// 0 means no limit. A query that was planned before is not planned again.
func WithPlanning(d time.Duration) Option {
	return Option{"WithPlanning", func(s *setting.Settings) { s.Planning = d }}
}

// WithTimeout limits the time of each count of CountEach, and of Motifs if it counts motifs one
// by one. A count that takes longer ends with context.DeadlineExceeded and the matches found so
// far. 0 means no limit. Other calls end with their context.
func WithTimeout(d time.Duration) Option {
	return Option{"WithTimeout", func(s *setting.Settings) { s.Timeout = d }}
}

// WithOrder sets the rule for the matching order: auto, ri, gsi, geneva, cost, join, tests, or the
// pattern's names in the wanted order, with commas.
func WithOrder(order string) Option {
	return Option{"WithOrder", func(s *setting.Settings) { s.Order = order }}
}

// WithParam gives the parameter $name a value: a boolean, number, string, nil, or a slice of
// these.
func WithParam(name string, value any) Option {
	return Option{"WithParam", func(s *setting.Settings) { s.Params[name] = value }}
}

// WithSemantics sets iso, trail or hom for a pattern whose text does not name its mode. A call
// on a query with another name fails with ErrUsage.
func WithSemantics(name string) Option {
	return Option{"WithSemantics", func(s *setting.Settings) {
		m, err := pattern.ParseMode(name)
		s.Mode, s.NoMode = &m, err
	}}
}

// WithInduced forbids edges between matched vertices besides the pattern's, as the word INDUCED
// in a text always does.
func WithInduced(induced bool) Option {
	return Option{"WithInduced", func(s *setting.Settings) { s.Induced = &induced }}
}

// WithSeed seeds random choices: estimates, samples and partitions.
func WithSeed(seed uint64) Option {
	return Option{"WithSeed", func(s *setting.Settings) { s.Seed = seed }}
}

// WithPartitioner chooses the method of Partition: "builtin", "metis", which needs the library METIS 5 on Linux,
// or "auto", which is builtin. METIS does not use WithSeed.
func WithPartitioner(method string) Option {
	return Option{"WithPartitioner", func(s *setting.Settings) { s.Partitioner = method }}
}

// WithImbalance is the share by which a part of a Partition may have more bytes than the mean of all
// parts. 0.03, which is 3 %, is the default.
func WithImbalance(share float64) Option {
	return Option{"WithImbalance", func(s *setting.Settings) { s.Imbalance = &share }}
}

// WithProduct permits patterns that are not connected.
func WithProduct() Option {
	return Option{"WithProduct", func(s *setting.Settings) { s.Product = true }}
}

// WithList says which of the two counts Match lists and WithLimit counts. The default is
// Subgraphs under iso, and Embeddings otherwise.
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

// WithListing says whether Explain plans a listing of matches or a count, for a query that has
// no RETURN or that returns items.
func WithListing(list bool) Option {
	return Option{"WithListing", func(s *setting.Settings) { s.Listing = &list }}
}

// WithLevels asks Explain for the actual matches and times of each level.
func WithLevels() Option { return Option{"WithLevels", func(s *setting.Settings) { s.Levels = true }} }

// WithProgress calls f now and then with the progress of the call.
func WithProgress(f func(Progress)) Option {
	return Option{"WithProgress", func(s *setting.Settings) {
		if s.Progress, s.Details = nil, nil; f != nil {
			s.Progress = func(phase string, done, total uint64) { f(Progress{phase, done, total, ""}) }
			s.Details = func(done, total uint64, detail string) { f(Progress{"search", done, total, detail}) }
		}
	}}
}

// WithPasses chooses the passes that rewrite a Matcha program: all, none, names separated by
// commas, or names with a minus, which are left out.
func WithPasses(choice string) Option {
	return Option{"WithPasses", func(s *setting.Settings) { s.Passes = choice }}
}

// WithTarget chooses the target of a Matcha program. The targets are:
//
//   - interp is the interpreter, on one core;
//   - c is C that the machine's compiler compiles, on all cores;
//   - cuda is a GPU, which WithDevice names and WithGPUMemory limits.
//
// Answers are the same on all targets, and whole numbers that pass 64 bits are an error on all.
// Rows that a program emits come in any order from c and cuda.
func WithTarget(name string) Option {
	return Option{"WithTarget", func(s *setting.Settings) { s.Target = name }}
}

// WithProgramMemory bounds the memory, in bytes, of the lists, graphs, Counters and selections that a
// Matcha program makes. A program that needs more fails with ErrMemory. WithMemory bounds the
// process; this option does not count the graphs that the program reads. 0, the default, means as
// much as WithMemory allows, or 8 GiB.
func WithProgramMemory(bytes int64) Option {
	return Option{"WithProgramMemory", func(s *setting.Settings) { s.ProgramMemory = bytes }}
}

// WithCompilerMemory bounds the memory, in bytes, of each process of the machine's C compiler, which
// the target c of programs and the engine codegen start. What the process maps counts too, such as
// its libraries. If it needs more, the error is of kind ErrMemory. 0, the default, means as much as
// WithMemory allows, or unlimited without that. Only Linux bounds it.
func WithCompilerMemory(bytes int64) Option {
	return Option{"WithCompilerMemory", func(s *setting.Settings) { s.CompilerMemory = bytes }}
}

// WithSchedule says how the target of a Matcha program spreads its work: knobs separated by
// commas, as in "threads=4,loop=static".
func WithSchedule(text string) Option {
	return Option{"WithSchedule", func(s *setting.Settings) { s.Schedule = text }}
}

// WithDebug makes a debug build of a Matcha program. It asserts every access to memory, and
// checks sums even if they are known to fit 64 bits. The interpreter always checks both.
func WithDebug() Option { return Option{"WithDebug", func(s *setting.Settings) { s.Debug = true }} }

// WithStats asks a Matcha run for notes about its work. With lanes, a GPU also counts the lanes
// that have work, which takes time itself.
func WithStats(lanes bool) Option {
	return Option{"WithStats", func(s *setting.Settings) { s.Stats, s.Lanes = true, lanes }}
}

// EngineOption is a switch of planning, of one engine, or of all engines of GPUs, for
// WithEngineOption. Switches are for experiments; answers do not depend on them.
type EngineOption struct {
	Name    string   // the engine, plan or gpu, and the switch, as "host.steal"
	Values  []string // N means a number
	Default string   // the value if the option is not set; "": it is chosen for each query
	Meaning string
}

// EngineOptions lists the switches of WithEngineOption.
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
