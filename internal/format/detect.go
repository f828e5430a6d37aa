package format

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
)

const utf16Reason = "this is UTF-16 text; convert it to UTF-8"

// isUTF16 reports whether a text begins with a mark of byte order of UTF-16.
func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff})
}

// Detect guesses the format of a file from its name and its first
// (decompressed) bytes. The content decides where it can. An empty Format means
// that nothing fits, and reason says why.
func Detect(name string, head []byte) (f Format, variant, reason string) {
	ext := extension(name)
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		return Parquet, "", "begins with PAR1"
	case bytes.HasPrefix(head, []byte("ARROW1")):
		return Arrow, "file", "begins with ARROW1"
	case isArrowStream(head):
		return Arrow, "stream", "begins with an Arrow schema message"
	case isOwn(head):
		return Weft, "", "begins with weft's mark"
	case len(head) >= 14 && strings.EqualFold(string(head[:14]), "%%MatrixMarket"):
		return MTX, "", "begins with %%MatrixMarket"
	}
	if isUTF16(head) {
		return "", "", utf16Reason
	}
	if bytes.IndexByte(head, 0) >= 0 {
		switch {
		case ext == "sg":
			return SG, "", "extension .sg"
		case ext == "wsg":
			return WSG, "", "extension .wsg"
		case looksGMatch(head):
			return GMatch, "", "binary, with the offsets of gMatch's layout"
		case looksSG(head):
			return SG, "", "binary, with the header of GAPBS's layout"
		}
		if !mostlyText(head) {
			return "", "", "binary data that no reader knows"
		}
	}
	if isXML, element := isGraphML(head); isXML {
		switch {
		case element == "graphml", element == "" && ext == "graphml":
			return GraphML, "", "XML of GraphML"
		case element == "gexf":
			return "", "", "this is GEXF, which is not read; convert it to GraphML"
		}
		return "", "", "this is XML, and not GraphML"
	}
	if isGML(head) {
		return GML, "", "begins as GML"
	}
	switch ext {
	case "gml":
		return GML, "", "extension .gml"
	case "graphml":
		return GraphML, "", "extension .graphml"
	case "el":
		return EL, "", "extension .el"
	case "wel":
		return WEL, "", "extension .wel"
	case "mtx":
		return MTX, "", "extension .mtx"
	case "parquet":
		return Parquet, "", "extension .parquet"
	case "arrow", "arrows", "feather", "ipc":
		return Arrow, "", "extension ." + ext
	case "sg":
		return SG, "", "extension .sg"
	case "wsg":
		return WSG, "", "extension .wsg"
	}
	if v := tveDialect(head); v != "" {
		return TVE, v, "lines begin with t, v or e"
	}
	if isNetworkX(head) {
		return NetworkX, "", "lines end in a dict of Python"
	}
	if isAdjacencyList(head) {
		return "", "", "this is an adjacency list of NetworkX, which is not read; write it with networkx.write_edgelist"
	}
	return EdgeList, textVariant(head), "text"
}

// extension returns the last extension in lower case, before that of a compressor.
func extension(name string) string {
	name = strings.ToLower(filepath.Base(name))
	for _, z := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, z)
	}
	return strings.TrimPrefix(filepath.Ext(name), ".")
}

func isArrowStream(h []byte) bool {
	return len(h) >= 8 && binary.LittleEndian.Uint32(h) == 0xffffffff &&
		binary.LittleEndian.Uint32(h[4:]) > 0 && binary.LittleEndian.Uint32(h[4:]) < 1<<26
}

// mostlyText is for a text with a damaged place: it is read as text, so that
// the error names the place.
func mostlyText(h []byte) bool {
	bad, first := 0, len(h)
	for i, c := range h {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			bad++
			first = min(first, i)
		}
	}
	return bad*20 < len(h) || bytes.IndexByte(h[:first], '\n') > 0
}

var bom = []byte("\xef\xbb\xbf")

func textVariant(head []byte) string {
	t := bytes.TrimPrefix(head, bom)
	switch {
	case konectHeader(t) != nil:
		return "KONECT"
	case bytes.HasPrefix(t, []byte("#")):
		return "SNAP"
	}
	return ""
}
