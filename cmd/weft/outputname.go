package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/weftgraph/weft/internal/format"
)

// formatsByName are the output formats that a file's extension asks for.
var formatsByName = map[string]string{
	".csv": "csv", ".json": "json", ".ndjson": "ndjson", ".jsonl": "ndjson", ".arrow": "arrow", ".arrows": "arrow", ".parquet": "parquet", ".txt": "table",
}

// foreignNames are extensions of formats that weft writes no results in: --to does not
// make such a name right, as it does any other.
var foreignNames = []string{".tsv", ".feather", ".xlsx", ".xls", ".svg", ".png", ".jpg", ".pdf", ".html", ".htm", ".xml", ".yaml", ".yml", ".md", ".dot", ".graphml", ".gexf", ".weft"}

// byName says which names of files ask for which format.
const byName = "the names are .txt (a table), .csv, .json, .ndjson or .jsonl, .arrow and .parquet"

// unpacked is a file's name without the extension of a compressor, which is zip.
func unpacked(name string) (rest, zip string) {
	switch zip = strings.ToLower(filepath.Ext(name)); zip {
	case ".gz", ".zst", ".zstd":
		return name[:len(name)-len(zip)], zip
	}
	return name, ""
}

// nameFormat takes the output format from the name of -o where --to does not say
// it. It refuses a name that contradicts --to, and one that says nothing.
func (f *commonFlags) nameFormat() error {
	name, _ := unpacked(f.out)
	ext := strings.ToLower(filepath.Ext(name))
	if f.out == "" || ext == "" || ext == strings.ToLower(filepath.Base(name)) { // .name has none
		return nil
	}
	says, known := formatsByName[ext]
	switch {
	case f.program:
		if known && ext != ".txt" || slices.Contains(foreignNames, ext) {
			return usagef("-o %s: a program is text: the names are .matcha and .txt", f.out)
		}
	case slices.Contains(foreignNames, ext):
		return usagef("-o %s: results are not written as %s; %s", f.out, ext, byName)
	case !known && f.to == "":
		return usagef("-o %s: no format is called %s; %s, and --to says the format of any other name", f.out, ext, byName)
	case !known, ext == ".txt" && f.to != "": // --to says it
	case f.to == "":
		f.to = says
	case f.to == "ndjson" && says == "json": // lines of JSON often go by that name
	case f.to != says:
		return usagef("--to %s: the name %s says %s", f.to, f.out, says)
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

// extensionMeant is didYouMean for the extension of a graph's file.
func extensionMeant(name string) string {
	name, _ = unpacked(name)
	ext := strings.TrimPrefix(filepath.Ext(name), ".")
	if slices.Contains(format.Formats(), ext) {
		return ""
	}
	return didYouMean(ext, format.Formats())
}
