package native

import (
	"context"
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
var opened libraries

type libraries struct {
	sync.Mutex
	libraries map[[sha256.Size]byte]*Library
}

// find returns the library with that digest, or nil.
func (o *libraries) find(key [sha256.Size]byte) *Library {
	o.Lock()
	defer o.Unlock()
	return o.libraries[key]
}

// Compile compiles a program's text, name being what messages call it, and
// loads it. It is kept on disk where the images of kernels are, by text, compiler,
// flags and processor, and in the process. The error wraps ErrNoCompiler where
// there is no compiler. When ctx ends first, the compiler is killed and the error is the
// cause. Safe for concurrent use: calls with the same text compile it once.
func Compile(ctx context.Context, name, text string) (*Library, error) {
	key := sha256.Sum256([]byte(text))
	if l := opened.find(key); l != nil {
		return l, nil
	}
	cc, err := theC.get(ctx)
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
	image, err := cuda.Kept(ctx, parts, func(ctx context.Context) ([]byte, error) {
		return cc.Build(ctx, name, files, "code.so", append(slices.Clone(flags), main)...)
	})
	if err != nil {
		return nil, err
	}
	opened.Lock()
	defer opened.Unlock()
	if l := opened.libraries[key]; l != nil {
		return l, nil // another caller was first
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
