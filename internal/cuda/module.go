package cuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/weftgraph/weft/internal/runtime/code"
)

// idleModules is how many modules that nobody uses stay loaded on a device.
const idleModules = 256

// earlyImages is the largest number of images that wait on a device. Some are never asked for, because the
// graph turns out to have no work for their kernels.
const earlyImages = 64

// modules are the loaded images of one device.
type modules struct {
	images *code.Cache
	byKey  map[code.Key]*Module
	early  map[code.Key]*early
	idle   []*Module // without users, the longest idle first
}

// early is an image that was asked for before it is needed.
type early struct {
	done  chan struct{}
	image []byte
	kept  bool
	err   error
}

func (e *early) finished() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// given reports whether e was given up: its context ended before a compiler was free.
func (e *early) given() bool { return e.finished() && errors.Is(e.err, code.ErrGivenUp) }

// Module is a compiled program, loaded on a device.
type Module struct {
	d       *Device
	key     code.Key
	name    string
	handle  Handle
	users   int
	kernels map[string]*Kernel
}

// Module is ModuleWithin without an end.
func (c *Context) Module(src Source) (*Module, error) {
	return c.ModuleWithin(context.Background(), src)
}

// ModuleWithin compiles src for the device. If the module is loaded already, or its image is in memory or on disk,
// it uses that. It blocks while it compiles, which may take seconds; if ctx ends first, the error is its cause.
// The error of a program that does not compile is ErrCompile and has the compiler's log. The caller closes the
// module when it no longer launches its kernels.
func (c *Context) ModuleWithin(ctx context.Context, src Source) (*Module, error) {
	if err := c.d.ready(); err != nil {
		return nil, err
	}
	ms := &c.d.modules
	src = src.forChecker()
	key := src.key(c.d.info)
	if m := ms.byKey[key]; m != nil {
		if m.users == 0 {
			ms.idle = slices.DeleteFunc(ms.idle, func(o *Module) bool { return o == m })
		}
		m.users++
		return m, nil
	}
	h, err := c.load(ctx, src, key)
	if err != nil {
		return nil, err
	}
	m := &Module{d: c.d, key: key, name: src.Name, handle: h, users: 1, kernels: map[string]*Kernel{}}
	if ms.byKey == nil {
		ms.byKey = map[code.Key]*Module{}
	}
	ms.byKey[key] = m
	return m, nil
}

// Expect begins to compile src in the background, if it is not compiled, and returns at once. The next
// ModuleWithin of the same source gets the image or the error. It compiles the source itself if the compilation
// had not begun when ctx ended.
func (c *Context) Expect(ctx context.Context, src Source) error {
	if err := c.d.ready(); err != nil {
		return err
	}
	ms := &c.d.modules
	src = src.forChecker()
	key := src.key(c.d.info)
	if ms.byKey[key] != nil || c.d.info.Compiler == "" {
		return nil
	}
	if e := ms.early[key]; e != nil && !e.given() {
		return nil
	}
	e := &early{done: make(chan struct{})}
	if ms.early == nil {
		ms.early = map[code.Key]*early{}
	}
	if len(ms.early) >= earlyImages { // images has them too, as long as there is room
		maps.DeleteFunc(ms.early, func(_ code.Key, e *early) bool { return e.finished() })
	}
	ms.early[key] = e
	images, backend := ms.images, c.d.backend
	go func() {
		defer close(e.done)
		e.image, e.kept, e.err = images.Get(context.WithoutCancel(ctx), key, func() ([]byte, error) {
			end, err := images.Compiler(ctx)
			if err != nil {
				return nil, err
			}
			defer end()
			return backend.Compile(src)
		})
	}()
	return nil
}

// Compiled reports whether the image of src is in memory or on disk, so that Module does not compile it. It may be called
// outside Do.
func (d *Device) Compiled(ctx context.Context, src Source) bool {
	return d.modules.images.Has(ctx, src.forChecker().key(d.info))
}

// image returns the image that Expect began to make, or else images.get.
func (ms *modules) image(ctx context.Context, key code.Key, compile func() ([]byte, error)) (image []byte, kept bool, err error) {
	e := ms.early[key]
	if e == nil {
		return ms.images.Get(ctx, key, compile)
	}
	select {
	case <-e.done:
		delete(ms.early, key)
		if e.given() {
			return ms.images.Get(ctx, key, compile)
		}
		return e.image, e.kept, e.err
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
}

// load gets the image and loads it. If the driver refuses a kept image, load compiles it again, once.
func (c *Context) load(ctx context.Context, src Source, key code.Key) (Handle, error) {
	compile := func() ([]byte, error) { return c.d.backend.Compile(src) }
	if c.d.info.Compiler == "" { // it says itself what is missing
		_, err := compile()
		return 0, c.d.note(err)
	}
	images := c.d.modules.images
	image, kept, err := c.d.modules.image(ctx, key, compile)
	if err != nil {
		return 0, c.d.note(err)
	}
	h, err := c.d.backend.Load(image)
	if err != nil && kept && !errors.Is(err, ErrLost) && !errors.Is(err, ErrMemory) {
		images.Drop(ctx, key)
		if image, _, err = images.Get(ctx, key, compile); err != nil {
			return 0, c.d.note(err)
		}
		h, err = c.d.backend.Load(image)
	}
	return h, c.d.note(err)
}

// Close says that the caller is done with the module and its kernels. It stays loaded for a while, in case that
// the same program is asked for again.
func (m *Module) Close() error {
	if err := m.d.ready(); err != nil {
		return err
	}
	if m.users == 0 {
		return nil
	}
	if m.users--; m.users > 0 {
		return nil
	}
	ms := &m.d.modules
	ms.idle = append(ms.idle, m)
	if len(ms.idle) <= idleModules {
		return nil
	}
	old := ms.idle[0]
	ms.idle = slices.Delete(ms.idle, 0, 1)
	delete(ms.byKey, old.key)
	return m.d.note(m.d.backend.Unload(old.handle))
}

// Kernel is a function of a module that can be launched.
type Kernel struct {
	Function
	module *Module
	name   string
	handle Handle
	params reflect.Type // of the last launch: known to be right
}

// Kernel finds a kernel by its name.
func (m *Module) Kernel(name string) (*Kernel, error) {
	if err := m.d.ready(); err != nil {
		return nil, err
	}
	if k := m.kernels[name]; k != nil {
		return k, nil
	}
	h, f, err := m.d.backend.Function(m.handle, name)
	if err != nil {
		return nil, m.d.note(err)
	}
	k := &Kernel{Function: f, module: m, name: name, handle: h}
	m.kernels[name] = k
	return k, nil
}

// Occupancy returns the number of blocks, of that many threads and bytes of dynamic shared memory, that one
// multiprocessor holds at once. It returns 0 if not even one fits.
func (k *Kernel) Occupancy(threads, shared int) (int, error) {
	d := k.module.d
	if err := d.ready(); err != nil {
		return 0, err
	}
	if threads < 1 || threads > k.MaxThreads || shared < 0 || shared > d.info.SharedPerBlock-k.SharedStatic {
		return 0, nil
	}
	n, err := d.backend.Occupancy(k.handle, threads, shared)
	return n, d.note(err)
}

// Resident is how many such blocks the whole device holds at once: the grid of a kernel whose blocks stay until
// all work is done.
func (k *Kernel) Resident(threads, shared int) (int, error) {
	n, err := k.Occupancy(threads, shared)
	return n * k.module.d.info.SMs, err
}

// Launch is the size of a grid: blocks, threads a block, bytes of dynamic shared memory a block, and the stream
// it runs in (nil: the main stream).
type Launch struct {
	Blocks, Threads, Shared int
	Stream                  *Stream
}

// Launch starts the kernel and returns. params points to one struct of plain data, which the kernel gets by
// value; it may change once Launch has returned.
func (k *Kernel) Launch(l Launch, params any) error {
	d := k.module.d
	h, err := d.streamOf(l.Stream)
	if err != nil {
		return err
	}
	if k.module.users == 0 {
		return k.refuse("its module is closed")
	}
	v := reflect.ValueOf(params)
	if t := reflect.TypeOf(params); t == nil || t != k.params {
		if err := k.checkParams(t); err != nil {
			return err
		}
		k.params = t
	}
	if v.IsNil() {
		return k.refuse("its argument is a nil pointer")
	}
	if l.Blocks < 1 || l.Blocks > math.MaxInt32 || l.Threads < 1 || l.Threads > k.MaxThreads ||
		l.Shared < 0 || l.Shared > d.info.SharedPerBlock-k.SharedStatic {
		return k.refuse("%s", k.misfit(l))
	}
	return d.note(d.backend.Launch(k.handle, l.Blocks, l.Threads, l.Shared, h, v.UnsafePointer(), int(k.params.Elem().Size())))
}

func (k *Kernel) checkParams(t reflect.Type) error {
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || t.Elem().Size() == 0 {
		return k.refuse("its argument must be a pointer to a struct, not %v", t)
	}
	if err := plain(t.Elem()); err != nil {
		return k.refuse("%v", err)
	}
	if size := int(t.Elem().Size()); k.ParamBytes != 0 && size != k.ParamBytes {
		return k.refuse("%v has %d bytes, the kernel's argument %d", t.Elem(), size, k.ParamBytes)
	}
	return nil
}

// misfit says why a grid cannot be launched.
func (k *Kernel) misfit(l Launch) string {
	most := k.module.d.info.SharedPerBlock - k.SharedStatic
	switch {
	case l.Blocks < 1 || l.Blocks > math.MaxInt32:
		return fmt.Sprintf("%d blocks; a grid has 1 to %d", l.Blocks, math.MaxInt32)
	case l.Threads < 1 || l.Threads > k.MaxThreads:
		return fmt.Sprintf("%d threads a block; with %d registers a thread it can have 1 to %d", l.Threads, k.Registers, k.MaxThreads)
	default:
		return fmt.Sprintf("%d bytes of dynamic shared memory a block; there are %d", l.Shared, most)
	}
}

func (k *Kernel) refuse(format string, args ...any) error {
	return &Error{Op: "launch of " + k.name, Text: fmt.Sprintf(format, args...), Kind: ErrLaunch}
}
