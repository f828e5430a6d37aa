package partition

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"github.com/weftgraph/weft/internal/dynlib"
	"github.com/weftgraph/weft/internal/process"
)

// METIS runs in a process of its own: this program, started anew under the name workerName. Why:
// METIS cannot be stopped before it ends; it takes signals for itself and gives them back in a way that
// Go's runtime does not survive; it ends the process after some errors; and it may leak memory. A process can be
// killed, and takes all of that with it. The graph goes to the process's standard input.
const workerName = "weft-metis"

// ErrNoMETIS is wrapped by errors that say why METIS cannot be used.
var ErrNoMETIS = errors.New("METIS cannot be used")

const hintMETIS = "install METIS 5 (Debian and Ubuntu: libmetis5), or let the built-in method make the parts"

// init makes the process the worker if it was started as one. It ends the process then.
func init() {
	if len(os.Args) != 1 || os.Args[0] != workerName {
		return
	}
	out := bufio.NewWriter(os.Stdout)
	if err := work(bufio.NewReaderSize(os.Stdin, 1<<20), out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if out.Flush() != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// library is METIS, opened.
type library struct {
	wide        bool // its integers have 64 bits
	partGraph   uintptr
	setDefaults uintptr
}

// metisOptions is METIS_NOPTIONS, the length of METIS's array of options.
const metisOptions = 40

// FindMETIS says whether METIS can be used: its file's name and the width of its integers. The
// error wraps ErrNoMETIS.
func FindMETIS() (found string, err error) {
	l, name, err := load()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, integers of %d bits", name, l.bits()), nil
}

func (l *library) bits() int {
	if l.wide {
		return 64
	}
	return 32
}

// libraryNames are METIS's names for the loader.
var libraryNames = []string{"libmetis.so.5", "libmetis.so"}

// load opens METIS.
func load() (*library, string, error) {
	if runtime.GOOS != "linux" || !dynlib.Available {
		return nil, "", fmt.Errorf("%w: it is used on Linux only, by a weft that was built without the tag nogpu", ErrNoMETIS)
	}
	name := libraryNames[0]
	opened, err := dynlib.Open(name)
	for _, other := range libraryNames[1:] {
		if err == nil {
			break
		}
		if o, failed := dynlib.Open(other); failed == nil {
			opened, name, err = o, other, nil
		}
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w; %s", ErrNoMETIS, err, hintMETIS)
	}
	l := &library{}
	for symbol, to := range map[string]*uintptr{"METIS_PartGraphKway": &l.partGraph, "METIS_SetDefaultOptions": &l.setDefaults} {
		if *to, err = opened.Symbol(symbol); err != nil {
			return nil, "", fmt.Errorf("%w: %s: %w", ErrNoMETIS, name, err)
		}
	}
	// Nothing says how wide METIS's integers are, but it sets all options to -1.
	const untouched = 0x55
	b := bytes.Repeat([]byte{untouched}, 2*8*metisOptions)
	dynlib.Call(l.setDefaults, uintptr(unsafe.Pointer(&b[0])))
	switch len(b) - len(bytes.TrimRight(b, string(rune(untouched)))) {
	case len(b) - 4*metisOptions:
	case len(b) - 8*metisOptions:
		l.wide = true
	default:
		return nil, "", fmt.Errorf("%w: %s is not METIS 5", ErrNoMETIS, name)
	}
	return l, name, nil
}

// request is the head of what the worker reads. Offsets, vertex weights and neighbours follow.
type request struct {
	Vertices, Entries, Parts uint64
	Slack                    float64
}

// runMETIS has METIS cut g into k parts.
func runMETIS(ctx context.Context, g *weighted, k int, slack float64) ([]uint32, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%w: the program's own file: %w", ErrNoMETIS, err)
	}
	within, stop := context.WithCancel(ctx)
	c := process.Command(within, program)
	c.Args = []string{workerName}
	var said, answer bytes.Buffer
	c.Stdout, c.Stderr = &answer, &said
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("%w: %w", ErrNoMETIS, err)
	}
	running := true
	defer func() {
		if stop(); running { // after a panic over the graph's file, which a goroutine would not catch
			_ = c.Wait()
		}
	}()
	sent := send(in, g, request{uint64(g.n()), uint64(len(g.adj)), uint64(k), slack})
	_ = in.Close()
	err, running = c.Wait(), false
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		return nil, fmt.Errorf("%w: %s", ErrNoMETIS, text)
	}
	if err = errors.Join(err, sent); err != nil {
		return nil, fmt.Errorf("%w: its process: %w", ErrNoMETIS, err)
	}
	of := make([]uint32, g.n())
	if answer.Len() != 4*len(of) {
		return nil, fmt.Errorf("%w: its process gave %d bytes of %d", ErrNoMETIS, answer.Len(), 4*len(of))
	}
	for v := range of {
		of[v] = binary.LittleEndian.Uint32(answer.Next(4))
		if of[v] >= uint32(k) {
			return nil, fmt.Errorf("%w: it gave a part %d of %d", ErrNoMETIS, of[v], k)
		}
	}
	return of, nil
}

// send writes what the worker reads.
func send(w io.Writer, g *weighted, r request) error {
	out := bufio.NewWriterSize(w, 1<<20)
	if err := binary.Write(out, binary.LittleEndian, r); err != nil {
		return err
	}
	var b [8]byte
	for _, x := range g.off {
		binary.LittleEndian.PutUint64(b[:], x)
		if _, err := out.Write(b[:]); err != nil {
			return err
		}
	}
	for _, x := range g.vertex {
		binary.LittleEndian.PutUint64(b[:], uint64(x))
		if _, err := out.Write(b[:]); err != nil {
			return err
		}
	}
	for _, x := range g.adj {
		binary.LittleEndian.PutUint32(b[:4], x)
		if _, err := out.Write(b[:4]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// work is what the worker does.
func work(in io.Reader, out io.Writer) error {
	l, _, err := load()
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), ErrNoMETIS.Error()+": "))
	}
	var r request
	if err := binary.Read(in, binary.LittleEndian, &r); err != nil {
		return err
	}
	if l.wide {
		return partGraph[int64](l, &r, in, out)
	}
	return partGraph[int32](l, &r, in, out)
}

// partGraph runs METIS_PartGraphKway on integers of METIS's width.
func partGraph[T int32 | int64](l *library, r *request, in io.Reader, out io.Writer) error {
	largest := uint64(1)<<(l.bits()-1) - 1
	// read returns n numbers of a width in bytes. Those must fit, and their sum where METIS computes it.
	read := func(n uint64, width int, sums bool) ([]T, error) {
		x := make([]T, n, n+1) // with an address if it is empty
		var b [8]byte
		sum := uint64(0)
		for i := range x {
			if _, err := io.ReadFull(in, b[:width]); err != nil {
				return nil, err
			}
			v := binary.LittleEndian.Uint64(b[:])
			if sum += v; v > largest || sums && sum > largest {
				return nil, fmt.Errorf("the graph is too large for a METIS with integers of %d bits: it has %d entries in neighbour lists", l.bits(), r.Entries)
			}
			x[i] = T(v)
		}
		return x, nil
	}
	off, err := read(r.Vertices+1, 8, false)
	if err != nil {
		return err
	}
	weights, err := read(r.Vertices, 8, true)
	if err != nil {
		return err
	}
	adj, err := read(r.Entries, 4, false)
	if err != nil {
		return err
	}
	n, constraints, parts, cut := T(r.Vertices), T(1), T(r.Parts), T(0)
	of := make([]T, n)
	slack := bothReals(1 + r.Slack)
	status := int32(dynlib.Call(l.partGraph, uintptr(unsafe.Pointer(&n)), uintptr(unsafe.Pointer(&constraints)),
		uintptr(unsafe.Pointer(unsafe.SliceData(off))), uintptr(unsafe.Pointer(unsafe.SliceData(adj))), uintptr(unsafe.Pointer(unsafe.SliceData(weights))),
		0, 0, uintptr(unsafe.Pointer(&parts)), 0, uintptr(unsafe.Pointer(&slack)), 0,
		uintptr(unsafe.Pointer(&cut)), uintptr(unsafe.Pointer(unsafe.SliceData(of)))))
	if status != 1 {
		what := map[int32]string{-2: "its input is wrong", -3: "there is not enough memory"}[status]
		return fmt.Errorf("METIS_PartGraphKway ended with %d: %s", status, what)
	}
	var b [4]byte
	for _, p := range of {
		binary.LittleEndian.PutUint32(b[:], uint32(p))
		if _, err := out.Write(b[:]); err != nil {
			return err
		}
	}
	return nil
}

// bothReals returns 8 bytes that are nearly x as a little-endian number of 64 bits, and whose first 4
// bytes are x as one of 32 bits. Nothing says which of both METIS reads.
func bothReals(x float64) uint64 {
	return math.Float64bits(x)&^math.MaxUint32 | uint64(math.Float32bits(float32(x)))
}
