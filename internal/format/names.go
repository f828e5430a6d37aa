package format

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/regex"
)

// endWords are pairs of words that name the source and the target of an edge with a
// direction, as from_account and to_account.
var endWords = [][2]string{
	{"from", "to"}, {"source", "target"}, {"source", "destination"}, {"source", "dest"}, {"source", "dst"}, {"source", "sink"},
	{"src", "dst"}, {"src", "dest"}, {"src", "target"}, {"src", "tgt"}, {"src", "trg"}, {"source", "tgt"}, {"from", "dest"}, {"from", "destination"},
	{"sender", "receiver"}, {"sender", "recipient"}, {"sender", "beneficiary"}, {"payer", "payee"}, {"payer", "receiver"}, {"payer", "beneficiary"},
	{"orig", "dest"}, {"org", "dest"}, {"orig", "resp"}, {"origin", "destination"}, {"origin", "dest"}, {"originator", "beneficiary"}, {"originator", "receiver"},
	{"head", "tail"}, {"subject", "object"}, {"subj", "obj"}, {"citing", "cited"}, {"start", "end"},
	{"follower", "followee"}, {"follower", "followed"}, {"follower", "following"}, {"caller", "callee"}, {"caller", "receiver"},
	{"giver", "receiver"}, {"giver", "taker"}, {"donor", "recipient"}, {"buyer", "seller"}, {"lender", "borrower"}, {"debtor", "creditor"},
	{"truster", "trustee"}, {"trustor", "trustee"}, {"rater", "ratee"}, {"exporter", "importer"}, {"supplier", "customer"}, {"customer", "merchant"}, {"pre", "post"}, {"presynaptic", "postsynaptic"},
	{"parent", "child"}, {"predecessor", "successor"}, {"regulator", "target"}, {"tf", "target"}, {"tf", "gene"}, {"kinase", "substrate"}, {"ligand", "receptor"},
}

// endNames are pairs of whole names of that kind.
var endNames = [][2]string{{"paper", "cites"}, {"paper", "cited"}, {"paper", "citedpaper"}, {"paperid", "citedpaperid"}, {"user", "follows"}}

// sideWords are pairs of words that tell two ends apart and say nothing about a
// direction. Digits may stand anywhere in a name, letters only as its last word.
var sideWords = [][2]string{{"1", "2"}, {"a", "b"}, {"u", "v"}, {"i", "j"}, {"x", "y"}, {"left", "right"}, {"first", "second"}, {"", "1"}, {"", "2"}}

// Words of --columns, and of headers that have no pair of the above.
var (
	srcNames   = []string{"src", "source", "from", "fromnodeid", "fromid", "sourceid", "srcid", "head", "start", "startid", "u", "node1", "id1"}
	dstNames   = []string{"dst", "target", "to", "tonodeid", "toid", "targetid", "dest", "dstid", "destination", "tail", "end", "endid", "v", "node2", "id2"}
	labelNames = []string{"label", "type", "relation", "rel", "predicate", "edgelabel", "edgetype", "relationship", "relationtype", "reltype"}
	// moreTimes are names of times besides graph.TimeNames. A column is the time by
	// such a name only where its values are times.
	moreTimes = []string{"date", "unixtime", "unixtimestamp", "epoch", "createdat", "eventtime", "timestampms", "transactiondate", "t"}
	idNames   = []string{"id", "vertex", "node", "nodeid", "vertexid", "idid", "v"}
)

// aboutVertex are the words that make the name of a vertex together with a pair of endWords or
// sideWords. notVertex are words in names of columns that describe an end but are not its id.
var (
	vertexWord  = regex.Once(`^(` + vertexWords + `)(ids?)?$`)
	aboutVertex = regex.Once(`^(` + vertexWords + `)*$`)
	notVertex   = regex.Once(`balance|amount|currency|organism|taxon|timestamp|weight|score|degree|^(time|date|datetime|lat|latitude|lon|lng|long|longitude|label|type|count|bytes|pkts|packets|port|l4port|tax|age|value|status|flag|strand|pos|position|chr|chrom|year|month|week|day|hour|step|tick|round|period|epoch|seq|sequence)$`)
)

const vertexWords = `ids?|nodes?|vertex|account|acct|acc|user|address|addr|ipv4|ipv6|ip|entity|person|customer|client|key|wallet|number|num|no|code|host|paper|page|protein|gene|author|actor|agent|member|player|station|stop|airport|tx|city|country|string|nr`

// rowName matches names of columns that number the rows.
var rowName = regex.Once(`^(row|trans|transaction|trx|tx|record|edge|event|order|invoice|line|message|call|rowid)?(id|index|idx|no|nr|num|number)$`)

// squash makes names comparable: lower case, only letters and digits, without text in brackets.
func squash(name string) string {
	name, _, _ = strings.Cut(name, "(")
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, name)
}

// lastWord returns the last word of a name, in lower case: a or b of "Interactor A".
func lastWord(name string) string {
	w := strings.FieldsFunc(name, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	if len(w) == 0 {
		return ""
	}
	last := w[len(w)-1]
	if n := len(last); n > 1 && unicode.IsUpper(rune(last[n-1])) && unicode.IsLower(rune(last[n-2])) {
		last = last[n-1:] // idA
	}
	return strings.ToLower(last)
}

// ends are two columns whose names say that they are the ends of an edge.
type ends struct {
	src, dst int
	directed bool
	far      int // how far the names are from the usual ones; 0 is best
}

// bareLetters reports whether the names are two letters, which vertices may have, too.
func (e *ends) bareLetters(names []string) bool {
	return len(squash(names[e.src])) <= 1 && len(squash(names[e.dst])) <= 1
}

// How far some names are from the usual ones: start and end, which may be an interval
// of time, and names whose common part is not known.
const (
	interval = 4
	strange  = 5
)

// pairedEnds returns all pairs of columns that may be the ends, the best first. may says
// which columns can hold ids.
func pairedEnds(names []string, may func(i int) bool) []ends {
	at := map[string]int{} // columns by their squashed names
	for i, n := range names {
		if s := squash(n); may(i) && s != "" {
			if _, again := at[s]; !again {
				at[s] = i
			}
		}
	}
	best := map[[2]int]ends{}
	for a, i := range at {
		add := func(b, stem string, directed bool, far int) {
			j, ok := at[b]
			if !ok || i == j || notVertex().MatchString(stem) {
				return
			}
			switch {
			case stem == "":
			case vertexWord().MatchString(stem):
				far++
			case aboutVertex().MatchString(stem):
				far += 2
			case stem == "name":
				far += 3
			default:
				far += strange
			}
			key := [2]int{min(i, j), max(i, j)}
			e := ends{i, j, directed, far}
			if old, ok := best[key]; !ok || e.before(&old) {
				best[key] = e
			}
		}
		for _, w := range endNames {
			if a == w[0] {
				add(w[1], "", true, 0)
			}
		}
		for _, w := range endWords {
			replaced(a, w, func(b, stem string) {
				far := 0
				if w[0] == "start" && stem == "" {
					far = interval
				}
				add(b, stem, true, far)
			})
		}
		for _, w := range sideWords {
			switch {
			case w[0] == "1":
				replaced(a, w, func(b, stem string) { add(b, stem, false, 0) })
			case w[0] == "": // a name, and the same with a number
				if j, ok := at[a+w[1]]; ok && i < j {
					add(a+w[1], a, false, 1)
				}
			case lastWord(names[i]) == w[0]:
				stem := strings.TrimSuffix(a, w[0])
				if j, ok := at[stem+w[1]]; ok && lastWord(names[j]) == w[1] {
					far := 0
					if w[0] == "x" {
						far = 4 // they may be coordinates
					}
					add(stem+w[1], stem, false, far)
				}
			}
		}
	}
	out := slices.Collect(maps.Values(best))
	slices.SortFunc(out, func(x, y ends) int {
		if x.before(&y) {
			return -1
		}
		return 1
	})
	return out
}

// before reports whether e is the better pair. Of two that are as good it is the one whose
// columns come first.
func (e *ends) before(o *ends) bool {
	return cmp.Or(cmp.Compare(e.far, o.far), cmp.Compare(min(e.src, e.dst), min(o.src, o.dst)), cmp.Compare(max(e.src, e.dst), max(o.src, o.dst)), cmp.Compare(e.src, o.src)) < 0
}

// replaced calls f with each name that has w's second word in place of its first, and with the
// common part of the two names.
func replaced(a string, w [2]string, f func(b, stem string)) {
	for at := 0; ; at++ {
		k := strings.Index(a[at:], w[0])
		if k < 0 {
			return
		}
		at += k
		head, tail := a[:at], a[at+len(w[0]):]
		f(head+w[1]+tail, head+tail)
	}
}

// endsAt returns the ends that the names of two columns state, or nil if they are not a pair.
func endsAt(names []string, src, dst int) *ends {
	if min(src, dst) < 0 || max(src, dst) >= len(names) {
		return nil
	}
	for _, e := range pairedEnds(names, func(i int) bool { return i == src || i == dst }) {
		if e.src == src && e.dst == dst {
			return &e
		}
	}
	if e, s, d := mixedEnds(names, func(i int) bool { return i == src || i == dst }); s == src && d == dst {
		return e
	}
	return nil
}

// tableKinds returns the kinds of columns by their names. e is the pair of ends, or nil if the
// names do not state it. Names that could mean several pairs are an error.
func tableKinds(names []string, r role, may func(i int) bool) (kinds []colKind, e *ends, err error) {
	kinds = make([]colKind, len(names))
	seen := map[colKind]bool{}
	take := func(i int, k colKind) {
		if kinds[i] == colProp && (!seen[k] || r == vertexRole && k == colLabel) {
			kinds[i], seen[k] = k, true
		}
	}
	for i, n := range names {
		kinds[i] = colProp
		if s := strings.TrimSpace(n); s == "_" || s == "" || strings.HasPrefix(s, "Unnamed:") {
			kinds[i] = colSkip
		}
	}
	if r == vertexRole {
		for i, n := range names {
			if slices.Contains(idNames, squash(n)) {
				take(i, colID)
			}
		}
		for i, n := range names {
			if s := squash(n); !seen[colID] && (strings.HasSuffix(s, "id") || s == "name") {
				take(i, colID)
			}
		}
		for i, n := range names {
			if s := squash(n); s == "labels" || s == "label" || s == "type" {
				take(i, colLabel)
			}
		}
		return kinds, nil, nil
	}
	pairs := pairedEnds(names, func(i int) bool { return kinds[i] == colProp && may(i) })
	switch {
	case len(pairs) == 0:
		var src, dst int
		if e, src, dst = mixedEnds(names, func(i int) bool { return kinds[i] == colProp && may(i) }); e == nil && src >= 0 {
			take(src, colSrc)
		} else if e == nil && dst >= 0 {
			take(dst, colDst)
		}
	case slices.ContainsFunc(pairs, leading):
		e = &pairs[slices.IndexFunc(pairs, leading)]
	case len(pairs) > 1 && unclear(pairs):
		return nil, nil, unclearEnds(names, pairs)
	default:
		e = &pairs[0]
	}
	if e != nil {
		take(e.src, colSrc)
		take(e.dst, colDst)
	}
	for i, n := range names {
		if slices.Contains(labelNames, squash(n)) {
			take(i, colLabel)
		}
	}
	for _, list := range [][]string{graph.TimeNames, moreTimes} {
		for i, n := range names {
			if slices.Contains(list, squash(n)) {
				take(i, colTime)
			}
		}
	}
	return kinds, e, nil
}

// mixedEnds returns the ends that two names of different pairs say, as source and to do: nil unless there are both. src
// and dst are the columns, or -1.
func mixedEnds(names []string, may func(i int) bool) (e *ends, src, dst int) {
	src, dst = -1, -1
	for i, n := range names {
		if !may(i) {
			continue
		}
		if src < 0 && slices.Contains(srcNames, squash(n)) {
			src = i
		} else if dst < 0 && slices.Contains(dstNames, squash(n)) {
			dst = i
		}
	}
	if src >= 0 && dst >= 0 {
		neutral := func(n string) bool { return len(n) == 1 || strings.ContainsAny(n, "12") }
		e = &ends{src: src, dst: dst, directed: !neutral(squash(names[src])) && !neutral(squash(names[dst]))}
	}
	return e, src, dst
}

// unfitEnd returns the column that is an end by its name, but cannot hold ids as may says. It returns -1 if kinds has
// both ends, or if no such column is missing. directed reports whether the names of the ends say a direction.
func unfitEnd(names []string, r role, kinds []colKind, may func(i int) bool) (i int, directed bool) {
	wanted, e, err := tableKinds(names, r, func(int) bool { return true })
	if r != edgeRole || err != nil || e == nil || e.far > 1 {
		return -1, false
	}
	for i, k := range wanted {
		if (k == colSrc || k == colDst) && !slices.Contains(kinds, k) && !may(i) {
			return i, e.directed
		}
	}
	return -1, false
}

// leading reports whether usual names of ends name the first two columns. These are then the
// ends, whatever other names follow.
func leading(e ends) bool { return e.src+e.dst == 1 && e.far <= 1 }

// unclear reports whether the best pair has a rival: one as good, or one that says a
// direction where it says none.
func unclear(pairs []ends) bool {
	return pairs[0].far == pairs[1].far || !pairs[0].directed && slices.ContainsFunc(pairs, func(e ends) bool { return e.directed && e.far != interval })
}

// unclearEnds says which pairs of columns could be meant, and how to say it.
func unclearEnds(names []string, pairs []ends) error {
	var could []string
	for _, p := range pairs {
		if len(could) < 3 {
			could = append(could, fmt.Sprintf("%s and %s", names[p.src], names[p.dst]))
		}
	}
	flags := columnsFor(names, pairs[0])
	if !pairs[0].directed && slices.ContainsFunc(pairs, func(e ends) bool { return e.directed }) {
		flags += " --directed"
	}
	return wrapf(ErrColumns, "the ends of an edge could be %s; name the columns in order, as --columns %s", strings.Join(could, ", or "), flags)
}

// columnsFor writes these ends as a value of --columns.
func columnsFor(names []string, e ends) string {
	out := make([]string, 0, len(names))
	for i, n := range names {
		k := kindOf(n, edgeRole)
		switch {
		case i == e.src:
			n = "src"
		case i == e.dst:
			n = "dst"
		case k == colTime && !slices.Contains(out, "time"):
			n = "time"
		case k == colLabel && !slices.Contains(out, "label"):
			n = "label"
		case k != colProp || strings.ContainsAny(n, ", ") || n == "":
			n = "_"
		}
		out = append(out, n)
	}
	for len(out) > 0 && out[len(out)-1] == "_" {
		out = out[:len(out)-1]
	}
	return strings.Join(out, ",")
}

// kindOf returns the kind of column that an item of --columns names.
func kindOf(name string, r role) colKind {
	s := squash(name)
	switch {
	case strings.TrimSpace(name) == "_":
		return colSkip
	case r == vertexRole && slices.Contains(idNames, s):
		return colID
	case r == vertexRole && (s == "label" || s == "labels" || s == "type"):
		return colLabel
	case r == vertexRole:
	case slices.Contains(srcNames, s):
		return colSrc
	case slices.Contains(dstNames, s):
		return colDst
	case slices.Contains(labelNames, s):
		return colLabel
	case slices.Contains(graph.TimeNames, s):
		return colTime
	}
	return colProp
}
