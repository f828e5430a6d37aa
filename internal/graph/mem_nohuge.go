//go:build unix && !linux

package graph

func hugePages([]byte) {}
