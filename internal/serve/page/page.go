// Package page has the files of the server's page, which Vite builds from web/ into dist.
//
// It knows files and HTTP. It must not know what the page shows, nor the requests that it makes.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed all:dist
var dist embed.FS

// File is a file of the page. It answers GET and HEAD.
type File struct {
	Path string // in a URL: that of index.html is "/"
	body []byte
	kind string // of its content
	tag  string // of its content, without quotes
	gzip func() []byte
}

// kinds are the types of files by their extensions. Those of the system differ from machine to machine.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".json": "application/json", ".txt": "text/plain; charset=utf-8", ".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2", ".wasm": "application/wasm",
}

// Files returns the files of the page, in the order of their names. Each compresses its content once, when it is first asked for.
func Files() (out []*File) {
	err := fs.WalkDir(dist, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := newFile(strings.TrimPrefix(name, "dist"), body)
		out = append(out, f)
		return err
	})
	if err != nil {
		panic(err) // a test reads them
	}
	return out
}

func newFile(name string, body []byte) (*File, error) {
	kind, ok := kinds[path.Ext(name)]
	if !ok {
		return nil, fmt.Errorf("%s: files of the page have no such extension", name)
	}
	sum := sha256.Sum256(body)
	if name == "/index.html" {
		name = "/"
	}
	return &File{name, body, kind, base64.RawURLEncoding.EncodeToString(sum[:15]), sync.OnceValue(func() []byte { return compressed(body) })}, nil
}

// compressed is a content in gzip, or nil if that is not smaller.
func compressed(body []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil || b.Len() >= len(body) {
		return nil
	}
	return b.Bytes()
}

// hashed reports whether the name of a file changes with its content, as those of Vite in assets do.
func (f *File) hashed() bool { return strings.HasPrefix(f.Path, "/assets/") }

// ServeHTTP answers with the file. Browsers keep a file with a hashed name, and ask whether others are still the same.
func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Cache-Control", "no-cache")
	if f.hashed() {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	header.Add("Vary", "Accept-Encoding")
	body, tag := f.body, f.tag
	if takesGzip(r) {
		if small := f.gzip(); small != nil {
			body, tag = small, tag+"-gzip"
			header.Set("Content-Encoding", "gzip")
		}
	}
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip reports whether a client takes answers in gzip.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, quality, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, given := strings.CutPrefix(strings.ReplaceAll(quality, " ", ""), "q=")
			return !given || strings.Trim(q, "0.") != ""
		}
	}
	return false
}
