//go:build !linux

package disk

// NoExec reports whether no code can be run from a folder, because of how it is mounted. Here it is not known.
func NoExec(string) bool { return false }
