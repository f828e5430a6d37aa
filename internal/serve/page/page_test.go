package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(f *File, method string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, f.Path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Result()
}

func read(t *testing.T, r io.Reader) []byte {
	t.Helper()
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestFiles: every file of dist is answered, with its type, as it is and in gzip, and only once to a client that keeps it.
func TestFiles(t *testing.T) {
	files := map[string]*File{}
	for _, f := range Files() {
		files[f.Path] = f
	}
	if files["/"] == nil || len(files) < 2 {
		t.Fatalf("no index.html, or nothing else: %v", files)
	}
	n := 0
	err := fs.WalkDir(dist, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		path := strings.TrimPrefix(name, "dist")
		if path == "/index.html" {
			path = "/"
		}
		f := files[path]
		if f == nil {
			t.Errorf("%s is not answered", name)
			return nil
		}
		want, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		plain := get(f, "GET")
		if body := read(t, plain.Body); plain.StatusCode != 200 || !bytes.Equal(body, want) || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d, %d bytes of %d", path, plain.StatusCode, len(body), len(want))
		}
		small := get(f, "GET", "Accept-Encoding", "br, gzip;q=0.9")
		body := read(t, small.Body)
		if small.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return err
			}
			if len(body) >= len(want) || !bytes.Equal(read(t, unpacked), want) {
				t.Errorf("%s: other content in gzip, or not less", path)
			}
		} else if !bytes.Equal(body, want) || len(want) > 1000 {
			t.Errorf("%s: not in gzip", path)
		}
		for _, r := range []*http.Response{plain, small} {
			cache := "no-cache"
			if strings.HasPrefix(path, "/assets/") {
				cache = "public, max-age=31536000, immutable"
				if !regexp.MustCompile(`-[\w-]{8}\.\w+$`).MatchString(path) {
					t.Errorf("%s is kept for ever, and its name has no hash", path)
				}
			}
			if r.Header.Get("Cache-Control") != cache || r.Header.Get("Content-Type") == "" || r.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: %v", path, r.Header)
			}
			encoding := []string{"Accept-Encoding", r.Header.Get("Content-Encoding")}
			again := get(f, "GET", append(encoding, "If-None-Match", r.Header.Get("ETag"))...)
			if again.StatusCode != http.StatusNotModified || len(read(t, again.Body)) > 0 {
				t.Errorf("%s: %d for the same content", path, again.StatusCode)
			}
			if again = get(f, "GET", append(encoding, "If-None-Match", `"other"`)...); again.StatusCode != 200 {
				t.Errorf("%s: %d for other content", path, again.StatusCode)
			}
			if head := get(f, "HEAD", encoding...); head.StatusCode != 200 || len(read(t, head.Body)) > 0 || head.Header.Get("ETag") != r.Header.Get("ETag") {
				t.Errorf("%s: HEAD: %d %v", path, head.StatusCode, head.Header)
			}
		}
		if small.Header.Get("Content-Encoding") != "" && plain.Header.Get("ETag") == small.Header.Get("ETag") {
			t.Errorf("%s: the same tag for both forms", path)
		}
		return nil
	})
	if err != nil || n != len(files) {
		t.Errorf("%d files in dist, and %d are answered: %v", n, len(files), err)
	}
}

// TestReferences: the files that index.html names are there.
func TestReferences(t *testing.T) {
	files := map[string]bool{}
	var index string
	for _, f := range Files() {
		files[f.Path] = true
		if f.Path == "/" {
			index = string(f.body)
		}
	}
	names := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(index, -1)
	if len(names) == 0 {
		t.Error("index.html names no file")
	}
	for _, m := range names {
		if !files[strings.TrimPrefix(m[1], ".")] {
			t.Errorf("index.html names %s, which is not there", m[1])
		}
	}
}

func TestTakesGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "deflate, gzip;q=1.0, *;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false, "gzip;q=0.01": true, "br": false, "xgzip": false,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", header)
		if got := takesGzip(r); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}

// TestKinds: a file of a kind that is not known would be sent without its type.
func TestKinds(t *testing.T) {
	if _, err := newFile("/assets/x.exe", nil); err == nil {
		t.Error("any extension is taken")
	}
	if f, err := newFile("/a.js", bytes.Repeat([]byte("x"), 100)); err != nil || f.kind != "text/javascript; charset=utf-8" {
		t.Errorf("%+v, %v", f, err)
	}
}
