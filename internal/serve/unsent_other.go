//go:build !linux && !darwin

package serve

import "errors"

// unsent is an error: this system does not say how many bytes the client's system has not taken.
func unsent(int) (int, error) { return 0, errors.ErrUnsupported }
