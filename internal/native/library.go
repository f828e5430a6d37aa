package native

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir/emit/c"
)

// Library is a shared object in this process.
type Library struct{ handle uintptr }

// flags of generated C. Whole numbers wrap, and fractions are rounded at every
// step, so that answers do not depend on the compiler.
var flags = []string{
	"-std=gnu11", "-O3", "-march=native", "-fno-strict-aliasing", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off", "-fwrapv", "-w", "-x", "c",
}

// opened are the libraries of this process by the digest of their text.
var opened struct {
	sync.Mutex
	libraries map[[sha256.Size]byte]*Library
}

// Compile compiles a program's text, name being what messages call it, and
// loads it. It is kept on disk where the images of kernels are, by text, compiler,
// flags and processor, and in the process. The error wraps ErrNoCompiler where
// there is no compiler.
func Compile(name, text string) (*Library, error) {
	key := sha256.Sum256([]byte(text))
	opened.Lock()
	defer opened.Unlock()
	if l := opened.libraries[key]; l != nil {
		return l, nil
	}
	cc, err := C()
	if err != nil {
		return nil, err
	}
	files := c.Runtime()
	parts := append([]string{"generated C", cc.Version, Processor(), text}, flags...)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, file, files[file])
	}
	const main = "program.c"
	files[main] = text
	image, err := cuda.Kept(parts, func() ([]byte, error) {
		return cc.Build(name, files, "code.so", append(slices.Clone(flags), main)...)
	})
	if err != nil {
		return nil, err
	}
	l, err := Open(image)
	if err != nil {
		return nil, err
	}
	if opened.libraries == nil {
		opened.libraries = map[[sha256.Size]byte]*Library{}
	}
	opened.libraries[key] = l
	return l, nil
}
