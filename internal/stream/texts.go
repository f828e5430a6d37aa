package stream

import "hash/maphash"

// texts gives texts that come again and again without making them anew. It keeps a bounded number of them.
type texts struct {
	seed maphash.Seed
	kept []string
}

// keptTexts is the number of texts that are kept. A longer text than mostKept is made anew each time.
const keptTexts, mostKept = 1 << 16, 128

// of returns b as a string.
func (t *texts) of(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > mostKept {
		return string(b)
	}
	if t.kept == nil {
		t.seed, t.kept = maphash.MakeSeed(), make([]string, keptTexts)
	}
	s := &t.kept[maphash.Bytes(t.seed, b)%keptTexts]
	if *s != string(b) {
		*s = string(b)
	}
	return *s
}
