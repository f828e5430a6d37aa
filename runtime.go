package weft

import (
	"context"
	"io"
	"iter"
	"sync"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/runtime/code"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
)

// RuntimeOptions say how a Runtime works. The runtime of Open and the other functions of the
// package has the zero value.
type RuntimeOptions struct {
	// Device is the device of calls without WithDevice. "" means auto.
	Device string
	// GPUMemory is the number of bytes that calls without WithGPUMemory may use on each GPU. 0
	// means all free memory.
	GPUMemory int64
	// Threads is the number of threads of calls without WithThreads. 0 means one for each core.
	Threads int
	// Memory bounds the memory of the process, in bytes, for calls without WithMemory. 0 means
	// the system's limits.
	Memory int64
	// CacheDir is the folder for compiled code, and for the records of verified files. "" means
	// the folder that WEFT_CACHE names, or weft in the user's cache folder. "off" means no
	// folder: compiled code is then kept in memory only.
	CacheDir string
	// Alone says that the runtime is the only user of CUDA in this process, and runs one search
	// at a time, as in a command. The GPU driver then starts only for the GPUs that are asked
	// for, which takes less time, and threads stand by between searches. The driver's choice
	// holds for the life of the process.
	Alone bool
}

// Runtime owns the resources that searches share: open GPUs with the graphs copied to them,
// compiled code, and threads. Two runtimes share nothing. A graph belongs to the runtime that
// made it, and searches in the graph use that runtime. Safe for concurrent use.
type Runtime struct {
	r     *runtime.Runtime
	o     RuntimeOptions
	cache string // as format.ReadOptions.Cache
}

// NewRuntime makes a runtime. It opens no GPU: GPUs are opened when they are first needed, and
// the call that needs an absent device gets the error.
func NewRuntime(o RuntimeOptions) *Runtime {
	return &Runtime{
		r: runtime.New(runtime.Options{Folder: code.Folder(o.CacheDir), Alone: o.Alone}),
		o: o, cache: disk.CacheDir(o.CacheDir),
	}
}

// defaultRuntime is the runtime of Open and the other functions of the package: the only value
// that all users of the package in a process share. A program that needs its own makes one.
var defaultRuntime = sync.OnceValue(func() *Runtime { return NewRuntime(RuntimeOptions{}) })

// Close closes the GPUs and ends the threads of the runtime. Calls that begin later, on its
// graphs too, return ErrClosed. Close does not wait for calls in progress: they end as usual,
// and the last one closes the GPUs. Graphs keep their memory until they are closed. Closing
// twice does nothing.
func (rt *Runtime) Close() error { return rt.r.Close() }

// Check returns an error if the engine or the device that the options name is absent. It may have
// to start the GPU driver. The error is of kind ErrUsage for a name that does not exist, and
// ErrDevice for a device that is absent.
func (rt *Runtime) Check(ctx context.Context, options ...Option) (err error) {
	defer ends(ctx, &err)
	s, err := rt.collect(setting.RuntimeCheck, options)
	if err != nil {
		return err
	}
	return search.Classify(route.CheckNames(ctx, rt.r, s.Engine, s.Device))
}

// CacheError returns the reason why the folder of compiled code was not used: another user may
// have written to it. It returns nil if the folder was used, or was not needed yet.
func (rt *Runtime) CacheError() error { return rt.r.Objects.Images.Refused() }

// collect is the function collect, with the runtime's defaults.
func (rt *Runtime) collect(of setting.Call, options []Option) (*setting.Settings, error) {
	s, err := collect(of, options)
	if err != nil {
		return nil, err
	}
	s.Read.Cache = rt.cache
	if s.Device == "" {
		s.Device = rt.o.Device
	}
	if s.GPUMemory == 0 && s.Device != "cpu" {
		s.GPUMemory = rt.o.GPUMemory
	}
	if s.Threads == 0 {
		s.Threads, s.Read.Threads = rt.o.Threads, rt.o.Threads
	}
	if s.Memory == 0 {
		s.Memory, s.Read.Memory = rt.o.Memory, rt.o.Memory
	}
	return s, nil
}

// Open reads a graph file of any known format; "-" is the standard input. An error of
// kind ErrInput is, or holds, an *InputError; of a file that does not exist it is also
// fs.ErrNotExist.
func Open(ctx context.Context, path string, options ...Option) (*Graph, error) {
	return defaultRuntime().Open(ctx, path, options...)
}

// Read reads a graph of any known format from a stream, to its end. It needs no seeking: a
// compressed stream is unpacked, and a file in weft's own format goes through a temporary file.
// If in has a method Name, as an *os.File has, messages use that name, and its extension helps
// to guess the format. When ctx ends, Read returns, and a blocked read from in continues in the
// background until it returns.
func Read(ctx context.Context, in io.Reader, options ...Option) (*Graph, error) {
	return defaultRuntime().Read(ctx, in, options...)
}

// FromRecords makes a graph of records, one row for each edge. Columns are found by their
// names, as in Arrow files (docs/formats.md), or by WithColumns. The records are copied, and
// not released. An InputError has "records" as its path.
func FromRecords(ctx context.Context, edges RecordReader, options ...Option) (*Graph, error) {
	return defaultRuntime().FromRecords(ctx, edges, options...)
}

// FromEdges makes a graph of edges; see Edges for a list of them. Ids are all integers or all
// strings, of any types of Go, and not negative. Either all edges have a time, or none has. A
// time.Time becomes nanoseconds since 1970. A property has values of one type, except that
// integers become float64 if others are. An InputError has "edges" as its path and the number
// of the edge, from 1, as its line. An error in the sequence ends the call with that error.
func FromEdges(ctx context.Context, edges iter.Seq2[Edge, error], options ...Option) (*Graph, error) {
	return defaultRuntime().FromEdges(ctx, edges, options...)
}

// Generate makes a random or regular graph. The same Spec gives the same graph on every
// machine.
func Generate(ctx context.Context, spec Spec, options ...Option) (*Graph, error) {
	return defaultRuntime().Generate(ctx, spec, options...)
}

// Convert reads a graph and writes it in another format. WithMemory bounds both,
// unless o has a bound for writing.
func Convert(ctx context.Context, from, to string, o WriteOptions, options ...Option) (ReadReport, error) {
	return defaultRuntime().Convert(ctx, from, to, o, options...)
}
