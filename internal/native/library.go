package native

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"sync"

	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/runtime/code"
	"github.com/weftgraph/weft/internal/vfs"
)

// flags of generated C. Whole numbers wrap, and fractions are rounded at every
// step, so that answers do not depend on the compiler.
var flags = []string{
	"-std=gnu11", "-O3", "-march=native", "-fno-strict-aliasing", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off", "-fwrapv", "-w", "-x", "c",
}

// Cache keeps the shared objects of a runtime: their images, and the loaded ones. A loaded object stays loaded for
// the life of the process, because threads may be in it. Safe for concurrent use. A nil Cache keeps nothing.
type Cache struct {
	Images *code.Cache

	mu     sync.Mutex
	loaded map[code.Key]*Library // by the digest of the text, or of the parts
}

// NewCache makes a cache that keeps compiled code in images.
func NewCache(images *code.Cache) *Cache {
	return &Cache{Images: images, loaded: map[code.Key]*Library{}}
}

// find returns the library with that key, or nil.
func (l *Cache) find(key code.Key) *Library {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loaded[key]
}

// Load loads the shared object that build makes. It is built once for the same parts, which are all that it depends
// on. When ctx ends first, the context of build ends with the last caller that waits, and the error is the cause.
func (l *Cache) Load(ctx context.Context, parts []string, build func(context.Context) ([]byte, error)) (*Library, error) {
	if l == nil {
		image, err := build(ctx)
		if err != nil {
			return nil, err
		}
		return open(vfs.From(ctx), image)
	}
	key := code.KeyOf(parts)
	if lib := l.find(key); lib != nil {
		return lib, nil
	}
	image, _, err := l.Images.GetWithin(ctx, key, build)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if lib := l.loaded[key]; lib != nil {
		return lib, nil // another caller was first
	}
	lib, err := open(vfs.From(ctx), image)
	if err == nil {
		l.loaded[key] = lib
	}
	return lib, err
}

// Compile compiles a program's text and loads it. name is the program's name in messages. The
// cache's key is the text, the compiler, its flags and the processor. The error wraps
// ErrNoCompiler if there is no compiler. If ctx ends first, the compiler is killed and the
// error is the cause. Calls with the same text compile it once. The compiler may have memory
// bytes, of the first of these calls; 0 means unlimited. The error is a *MemoryError if it needs
// more.
func (l *Cache) Compile(ctx context.Context, name, text string, memory int64) (*Library, error) {
	key := sha256.Sum256([]byte(text))
	if lib := l.find(key); lib != nil {
		return lib, nil
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
	lib, err := l.Load(ctx, parts, func(ctx context.Context) ([]byte, error) {
		return cc.Within(memory).Build(ctx, name, files, "code.so", append(slices.Clone(flags), main)...)
	})
	if err == nil && l != nil {
		l.mu.Lock()
		l.loaded[key] = lib
		l.mu.Unlock()
	}
	return lib, err
}
