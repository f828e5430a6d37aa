package weft

import (
	"bytes"
	"os"
	"strconv"
)

// memoryInUse is the anonymous memory of this process in bytes.
func memoryInUse() int64 { return statusField("RssAnon:") }

// peakMemory is the largest resident set that this process had, in bytes.
func peakMemory() int64 { return statusField("VmHWM:") }

// statusField reads a field of /proc/self/status, which counts in KiB.
func statusField(name string) int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(data, []byte("\n"+name))
	if !ok {
		return 0
	}
	fields := bytes.Fields(rest[:min(len(rest), 64)])
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return n << 10
}
