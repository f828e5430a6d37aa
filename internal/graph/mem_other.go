//go:build !unix

package graph

func mapAnon(uint64) []byte { return nil }
func unmapAnon([]byte)      {}
func dropPages([]byte)      {}
func isMapped([]byte) bool  { return false }
