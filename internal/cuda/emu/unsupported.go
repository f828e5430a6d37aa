//go:build !linux || !(amd64 || arm64)

package emu

import "github.com/weftgraph/weft/internal/cuda"

// Backend says that there is none.
func Backend(o Options) (cuda.Backend, error) {
	if _, err := o.withDefaults(); err != nil {
		return nil, err
	}
	return nil, &cuda.Error{Op: "emulated device", Text: "it runs on Linux, on x86-64 and arm64", Kind: cuda.ErrNoDevice}
}
