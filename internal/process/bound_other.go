//go:build !linux

package process

// bounded does nothing here.
func bounded(_ uint64, name string, args []string) (string, []string) { return name, args }
