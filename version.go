package weft

import "runtime/debug"

// version is set by release builds with -ldflags.
var version = ""

// Version is the version of this module in the running program.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	const path = "github.com/weftgraph/weft"
	if info.Main.Path == path && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "(devel)"
}
