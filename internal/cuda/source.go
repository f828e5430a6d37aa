package cuda

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"os"
	"slices"
)

// Source is a program of kernels before it is compiled.
type Source struct {
	Name     string            // in messages: "stack.cu"
	Text     string            // C++17
	Includes map[string]string // files for #include "…": name → text; no other place is searched
	Options  []string          // for the compiler: -DNAME=VALUE, --maxrregcount=N
	Debug    bool              // line numbers in the image, and WEFT_DEBUG defined (W_ASSERT)
}

// racecheckVariable, if set in the environment, says that kernels will run under compute-sanitizer's racecheck.
// Kernels are then compiled with line numbers, and with declarations for it of the memory that lanes share by locks
// and flags (base/device.cuh).
const racecheckVariable = "WEFT_RACECHECK"

// forChecker is the source as it is compiled in this environment.
func (s Source) forChecker() Source {
	if os.Getenv(racecheckVariable) != "" {
		s.Options = append(slices.Clone(s.Options), "-DWEFT_RACECHECK", "-lineinfo")
	}
	return s
}

// imageFormat changes when images that are kept become useless for another reason than those in the key.
const imageFormat = "weft kernel 1"

// key tells an image from all others: it covers all that the image depends on. Each part goes in with its
// length, so that no two lists of parts look alike.
func (s Source) key(info Info) [sha256.Size]byte {
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
