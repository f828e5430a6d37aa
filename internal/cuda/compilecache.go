package cuda

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
)

// Kept returns what compile makes, and keeps it where the images of kernels are kept: the next call with the same
// parts, which must be all that the result depends on, gets it without compiling, also in another process. When ctx
// ends first, its cause is the error. The context of compile ends when no call waits for the result any more; Kept
// returns after compile then.
func Kept(ctx context.Context, parts []string, compile func(context.Context) ([]byte, error)) ([]byte, error) {
	h := sha256.New()
	h.Write([]byte("not a kernel"))
	for _, p := range parts {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	image, _, err := imagesAt(cacheDir()).getWithin(ctx, imageKey(h.Sum(nil)), compile)
	return image, err
}
