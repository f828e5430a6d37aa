package host

import (
	"fmt"

	"github.com/weftgraph/weft/internal/engine/option"
)

// Switches are the engine's options.
var Switches = option.Table{
	option.Switch("host.late", true, "changes that no watch looks at are put off until something needs the lists they change, or until they are many, and then made by vertex"),
}

// Read returns the Options that switches ask for. The error is one of option values.
func Read(opt map[string]string) (o Options, err error) {
	v, err := Switches.Read(opt)
	if err != nil {
		return o, fmt.Errorf("host: %w", err)
	}
	o.AtOnce = !v.On("host.late")
	return o, nil
}
