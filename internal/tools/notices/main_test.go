package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotices: licences of linked packages and of the folders above them, each
// once; none of packages that are not linked.
func TestNotices(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go/LICENSE": "go's", "m/LICENSE": "m's\r\nand more", "m/NOTICE.txt": "noted", "m/license.go": "package m", "m/a/b/COPYING": "b's",
		"m/unused/LICENSE": "not linked", "n/README": "no licence", "o/LICENCE.md": "o's",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := func(path string) string { return filepath.Join(dir, path) }
	m, n, o := &module{"x/m", "v1.0.0", at("m"), false}, &module{"x/n", "v2.0.0", at("n"), false}, &module{"x/o", "v3.0.0", at("o"), false}
	list := []pkg{
		{"fmt", at("none"), true, nil}, {"weft", at("none"), false, &module{"weft", "", at("none"), true}},
		{"x/o", at("o"), false, o}, {"x/m/a/b", at("m/a/b"), false, m}, {"x/m", at("m"), false, m},
	}
	page := []byte(`[{"name":"@c/view","version":"6.0.0","identifier":"MIT","text":"view's\r\nlicence"},{"name":"sig","version":"3.0.3","text":"sig's"}]`)
	text, err := notices(list, at("go"), page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	last := 0
	for _, want := range []string{"Go, https://go.dev\n\ngo's\n", "x/m v1.0.0, LICENSE\n\nm's\nand more\n", "x/m v1.0.0, NOTICE.txt\n\nnoted\n", "x/m v1.0.0, a/b/COPYING\n\nb's\n", "x/o v3.0.0, LICENCE.md\n\no's\n",
		"@c/view 6.0.0, an npm package\n\nview's\nlicence\n", "sig 3.0.3, an npm package\n\nsig's\n",
	} {
		i := strings.Index(got, want)
		if i < last || strings.Count(got, want) != 1 {
			t.Errorf("%q is not there once, or out of order: %s", want, got)
		}
		last = i
	}
	if strings.Contains(got, "not linked") || strings.Contains(got, "package m") {
		t.Error(got)
	}
	if _, err := notices(append(list, pkg{"x/n", at("n"), false, n}), at("go"), page); err == nil || !strings.Contains(err.Error(), "x/n v2.0.0 has no licence") {
		t.Errorf("a module without a licence: %v", err)
	}
	for _, wrong := range []string{`[{"name":"sig","version":"3.0.3"}]`, `{`} {
		if _, err := notices(list, at("go"), []byte(wrong)); err == nil {
			t.Errorf("the npm packages %s are taken", wrong)
		}
	}
}
