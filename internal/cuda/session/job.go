package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// Job is one search, or anything else that takes numbered tasks and counts.
type Job struct {
	Name string // in messages: "stack"

	// Source is the kernels' text; device code of package kernels is found
	// without being named in Includes.
	Source cuda.Source
	// Parts are texts of further kernels, by the kernels' names, each to stand behind
	// Source's. GPUs have a program of each, and all of them are compiled at once; kernels
	// with the same text are one program.
	Parts map[string]string
	// Needs are the kernels of Parts that the job launches; nil: all. GPUs compile no others.
	Needs []string

	// Program has the globals that the kernels read, for a graph of Vertices vertices. Arrays
	// with an identity stay on the devices, and are found again by it. They stay until memory
	// is short, a later version is there, or ForgetOwner is told that Owner is gone. All others
	// are freed at the end of the run.
	Program  *kir.Program
	Vertices uint32
	Owner    any
	// Arrays gives the content of a part of a global, in place of the global's own array;
	// nil, or a nil Source, is the global's. A global with an identity has the same content
	// each time.
	Arrays func(g *kir.GlobalDef, part emit.Part) Source

	// Place says where the arrays are to lie.
	Place Place
	// Reads, if not nil, says which lists a cache is to have where lists lie in host memory. The session calls it in
	// each run that makes a cache. Kernels then read lists by the functions of base/graph.cuh alone. A cache of an earlier run
	// is used again if that had the same ReadsKey, which is not "".
	Reads    func() *Reads
	ReadsKey string
	// OneSweep: the search does not go in sweeps (Exec.Sweeps).
	OneSweep bool
	// HostMemory is how much memory the process may use; 0: what the system allows.
	HostMemory int64

	// Tasks are numbered 0 … Tasks-1, and handed out to all devices in about
	// this order, Chunk (at least 1) at a time to a warp.
	Tasks uint64
	Chunk uint32

	// PerRoot asks for a 128-bit count a vertex (add_root).
	PerRoot bool

	// Rows, if not nil, receives matches while the search runs. A row is Width ids; id i is the
	// one that the kernel wrote as its level Columns[i]. Several workers (numbers below
	// Session.Workers) call it concurrently, each at most once at a time. The slice rows is
	// reused after the call. An error ends the run, which returns it with the matches found so
	// far.
	Rows    func(worker int, rows []uint32) error
	Width   int
	Columns []int
	// Limit ends the run after that many rows; 0: no limit.
	Limit uint64

	// Progress is told how many tasks were handed out, a few times a second.
	Progress func(done, total uint64)

	// Details, if not nil, is told in place of Progress, before the search too, and also how many bytes of arrays were
	// copied to the devices and to host memory that they read.
	Details func(done, total uint64, copied int64)

	// Start makes one device ready: kernels, scratch memory, preparation. The
	// function that it returns launches the search with Launch on x.Stream, and
	// does not need to wait for it. Both run inside Do of the device; several
	// devices at the same time, each with its own Exec.
	Start func(x *Exec) (search func() error, err error)

	sources *sources // of the session
	cached  bool     // kernels are compiled for a cache
	least   bool     // the run takes as little device memory as it can
	measure bool     // nothing is searched: see Session.measure

	// FaultText words a fault that a kernel reported by fail(run, code, about);
	// nil, or an empty text: the numbers.
	FaultText func(code uint32, about uint64) string
}

// Count is an exact total.
type Count struct{ Hi, Lo uint64 }

// Result is the result of a run. All counts are sums over all devices.
type Result struct {
	// Matches is the number that the kernels added up, or of rows where Rows
	// took them. A lower bound when not Complete.
	Matches  Count
	Complete bool
	PerRoot  []Count // with Job.PerRoot, a vertex

	Visits              []uint64 // partial matches that reached a level, as the kernels counted them
	LanesBusy, LanesAll uint64   // lane-steps with work, and all; 0: not counted
	StealsBlock         uint64
	StealsGrid          uint64
	User                [8]uint64

	// Search is the longest device's time from its first launch to the end of its last, by
	// device events. Upload, Prepare and Compile are the longest device's wall times before the
	// search. Compile is the time that the device waited for its kernels; compilations before
	// the run (Compile) are not in it.
	Search, Upload, Prepare, Compile time.Duration
	Devices                          []DeviceResult
}

// DeviceResult is one device's part.
type DeviceResult struct {
	Info     cuda.Info
	Tasks    uint64 // handed out there
	Grants   int
	Search   time.Duration
	Upload   time.Duration
	Prepare  time.Duration
	Compile  time.Duration
	Uploaded int64 // bytes that were not resident yet
	Resident int64 // bytes that the job's globals take on the device
	Host     int64 // bytes of globals that were read in page-locked host memory
	Scratch  int64 // bytes on the device besides those of the globals and of the cache
	Cache    CacheResult
}

// Fault is an error that a kernel found while it ran. The run has no result.
type Fault struct {
	Job    string
	Device cuda.Info
	Code   uint32
	About  uint64
	Text   string
}

func (f *Fault) Error() string {
	text := f.Text
	if text == "" {
		text = fmt.Sprintf("fault %d, about %d", f.Code, f.About)
	}
	return fmt.Sprintf("%s on %v: %s", f.Job, f.Device, text)
}

// Is makes a fault an ErrLaunch: a kernel that failed.
func (f *Fault) Is(target error) bool { return target == cuda.ErrLaunch }

// ErrOverflow is returned when a total passes 128 bits.
var ErrOverflow = errors.New("the number of matches passes 2^128-1, the largest that totals hold")
