package stack_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestConditions binds edges to data edges and compares several of them, and
// vertices, with each other, or asks for an order and windows of their times.
func TestConditions(t *testing.T) {
	onDevice(t, func(t *testing.T, e tiny) {
		nodiff.Check(t, nodiff.Config{
			Engine: e, Compile: nestPlan, Patterns: nodiff.Choices, Columns: nodiff.Timed, MaxPattern: 4,
			Opt: map[string]string{"stack.slot": "2", "stack.unroll": "1", "stack.roots": "edge", "stack.flat": "off"},
		})
	})
}
