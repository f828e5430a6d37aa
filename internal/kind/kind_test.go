package kind

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/memory"
)

// TestKind: the first mark of an error stays, also below other errors, and the end of memory has a kind by itself.
func TestKind(t *testing.T) {
	cause := errors.New("a cause")
	query := With(Query, cause)
	for _, c := range []struct {
		err  error
		want Kind
	}{
		{nil, None},
		{cause, None},
		{query, Query},
		{With(Input, query), Query},
		{With(Input, fmt.Errorf("reading: %w", query)), Query},
		{fmt.Errorf("counting: %w", &memory.Overrun{Err: cause}), Memory},
		{With(Input, &memory.Overrun{Err: cause}), Memory},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%v is of kind %d, want %d", c.err, got, c.want)
		}
	}
	if With(Usage, nil) != nil {
		t.Error("no error has a kind")
	}
	if !errors.Is(query, cause) || query.Error() != cause.Error() {
		t.Errorf("a marked error is %v", query)
	}
}
