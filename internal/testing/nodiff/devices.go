package nodiff

import (
	"fmt"
	"os"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// asked are how many plans on how many graphs WEFT_NODIFF asks for, if it does.
func asked(t *testing.T, plans, graphs int) (int, int) {
	t.Helper()
	if size := os.Getenv("WEFT_NODIFF"); size != "" {
		if _, err := fmt.Sscanf(size, "%dx%d", &plans, &graphs); err != nil {
			t.Fatalf("WEFT_NODIFF=%s: %v", size, err)
		}
	}
	return plans, graphs
}

// OnDevices compares an engine of GPUs with the oracle: on a GPU that is required
// 200 plans on 50 graphs each, and elsewhere a few. WEFT_NODIFF=20x5 makes it 20
// plans on 5 graphs.
func OnDevices(t *testing.T, c Config, over func(s *session.Session) engine.Engine) {
	suite := Suite{Plans: 3, Graphs: 6}
	switch {
	case device.Required():
		suite = Suite{Plans: 200, Graphs: 50}
	case !long.Asked():
		suite = Suite{Plans: 1, Graphs: 3}
	}
	suite.Plans, suite.Graphs = asked(t, suite.Plans, suite.Graphs)
	device.Several(t, func(t *testing.T, devices []*cuda.Device) {
		var engines []engine.Engine
		for _, d := range devices {
			s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 1 << 30, Ring: 1 << 16})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			engines = append(engines, over(s))
		}
		suite.Run(t, c, engines)
	})
}
