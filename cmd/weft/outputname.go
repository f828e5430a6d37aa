package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/weftgraph/weft/internal/sink"
)

// formatsByName are the output formats that a file's extension asks for; "" is
// one that weft does not write tables in. Of other names anything is believed.
var formatsByName = map[string]string{
	"csv": "csv", "json": "json", "ndjson": "ndjson", "jsonl": "ndjson", "arrow": "arrow", "arrows": "arrow", "parquet": "parquet",
	"tsv": "", "feather": "", "xlsx": "",
}

// unpacked is a file's name without the extension of a compressor, which is zip.
func unpacked(name string) (rest, zip string) {
	switch zip = strings.ToLower(filepath.Ext(name)); zip {
	case ".gz", ".zst", ".zstd":
		return name[:len(name)-len(zip)], zip
	}
	return name, ""
}

// nameFormat takes the output format from the name of -o where --to does not say
// it, and refuses a name that contradicts --to.
func (f *commonFlags) nameFormat() error {
	name, _ := unpacked(f.out)
	ext := filepath.Ext(name)
	byName, known := formatsByName[strings.ToLower(strings.TrimPrefix(ext, "."))]
	switch {
	case !known:
	case byName == "":
		return usagef("-o %s: results are not written as %s; the formats are %s", f.out, ext, strings.Join(sink.Formats, ", "))
	case f.to == "":
		f.to = byName
	case f.to == "ndjson" && byName == "json": // lines of JSON often go by that name
	case f.to != byName:
		return usagef("--to %s: the name %s says %s", f.to, f.out, byName)
	}
	return nil
}

// packer returns a writer to w that compresses as the file's name says; nil where
// it says nothing.
func packer(name string, w io.Writer) (io.WriteCloser, error) {
	switch _, zip := unpacked(name); zip {
	case "":
		return nil, nil
	case ".gz":
		return gzip.NewWriter(w), nil
	}
	return zstd.NewWriter(w)
}
