package rest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/serve/rest/request"
)

// TestDocument: the document has the routes of the handler, and no others.
func TestDocument(t *testing.T) {
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			Security    *[]any
			RequestBody *struct {
				Content map[string]struct {
					Schema map[string]string
				}
			}
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("version %s", doc.OpenAPI)
	}
	known := map[string]bool{}
	for _, r := range routes() {
		known[strings.ToLower(r.method)+" "+r.path] = true
		o, ok := doc.Paths[r.path][strings.ToLower(r.method)]
		if !ok {
			t.Errorf("%s %s is not in the document", r.method, r.path)
		}
		if open := o.Security != nil && len(*o.Security) == 0; open != r.open {
			t.Errorf("%s %s: open without credentials: %v, in the document %v", r.method, r.path, r.open, open)
		}
	}
	for path, operations := range doc.Paths {
		for method := range operations {
			if !known[method+" "+path] {
				t.Errorf("the document has %s %s, and the server does not", method, path)
			}
		}
	}
	compile := schemas(t)
	for name := range doc.Components.Schemas {
		compile("/components/schemas/" + name)
	}
	// Each field of a body is in the document, and the other way round.
	var b map[string]any
	if err := json.Unmarshal(encode(request.Body{}), &b); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{"format": true}
	queries, parts := forms()
	for _, names := range append(slices.Collect(maps.Values(queries)), slices.Collect(maps.Values(parts))...) {
		if len(names) == 0 {
			t.Error("a kind without fields")
		}
		for _, name := range names {
			all[name] = true
			if _, ok := b[name]; !ok {
				t.Errorf("the document has the field %s, and the server does not", name)
			}
		}
	}
	for name := range b {
		if !all[name] {
			t.Errorf("the field %s is not in the document", name)
		}
	}
}
