package cuda

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/weftgraph/weft/internal/runtime/code"
)

// Source is a program of kernels before it is compiled.
type Source struct {
	Name     string            // in messages: "stack.cu"
	Text     string            // C++17
	Includes map[string]string // files for #include "…": name → text; no other place is searched
	Options  []string          // for the compiler: -DNAME=VALUE, --maxrregcount=N
	Debug    bool              // line numbers in the image, and WEFT_DEBUG defined (W_ASSERT)
	Keys     *Keys             // for a source that is asked for often, and does not change; nil: nothing is remembered
}

// Keys remembers what tells a source's images from all others. The zero value is ready. Safe for concurrent use. Why: to
// find it takes longer than to answer a small query.
type Keys struct {
	mu sync.Mutex
	of map[string]code.Key // by architecture and compiler
}

// get returns the key for a device, which find finds the first time.
func (k *Keys) get(info Info, find func() code.Key) code.Key {
	device := info.Arch() + " " + info.Compiler
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok := k.of[device]
	if !ok {
		key = find()
		if k.of == nil {
			k.of = map[string]code.Key{}
		}
		k.of[device] = key
	}
	return key
}

// racecheckVariable, if set in the environment, says that kernels will run under compute-sanitizer's racecheck.
// Kernels are then compiled with line numbers, and with declarations for it of the memory that lanes share by locks
// and flags (base/device.cuh).
const racecheckVariable = "WEFT_RACECHECK"

// forChecker is the source as it is compiled in this environment.
func (s Source) forChecker() Source {
	if os.Getenv(racecheckVariable) != "" {
		s.Options, s.Keys = append(slices.Clone(s.Options), "-DWEFT_RACECHECK", "-lineinfo"), nil
	}
	return s
}

// imageFormat changes when images that are kept become useless for another reason than those in the key.
const imageFormat = "weft kernel 1"

// key tells an image from all others: it covers all that the image depends on. Each part goes in with its
// length, so that no two lists of parts look alike.
func (s Source) key(info Info) code.Key {
	if s.Keys != nil {
		return s.Keys.get(info, func() code.Key { return s.hash(info) })
	}
	return s.hash(info)
}

func (s Source) hash(info Info) code.Key {
	h := sha256.New()
	part := func(text string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(text)))
		h.Write(n[:])
		h.Write([]byte(text))
	}
	list := func(texts []string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(texts)))
		h.Write(n[:])
		for _, t := range texts {
			part(t)
		}
	}
	debug := "release" // said here too: compilers other than NVRTC have options of their own for it
	if s.Debug {
		debug = "debug"
	}
	list([]string{imageFormat, info.Arch(), info.Compiler, s.Name, s.Text, debug})
	list(s.options(info.Arch()))
	names := slices.Sorted(maps.Keys(s.Includes))
	list(names)
	for _, name := range names {
		part(s.Includes[name])
	}
	return [sha256.Size]byte(h.Sum(nil))
}
