package serve

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/weftgraph/weft"
)

// Kind is what a request asks for.
type Kind string

// Kinds of requests.
const (
	Count         Kind = "count"
	Match         Kind = "match"
	Exists        Kind = "exists"
	Explain       Kind = "explain"
	Motifs        Kind = "motifs"
	Orbits        Kind = "orbits"
	Participation Kind = "participation"
	Info          Kind = "info"
	Matcha        Kind = "matcha"
)

// Statement is the kind of what Server.Statement lists. No request asks for it.
const Statement Kind = "statement"

// Kinds are those of requests.
var Kinds = []Kind{Count, Match, Exists, Explain, Motifs, Orbits, Participation, Info, Matcha}

// Request is a question about a graph.
type Request struct {
	Kind     Kind
	Graph    string
	Query    string         // a text in the pattern language; not of motifs, orbits and info
	Pattern  string         // or a name of the catalogue, as clique(5)
	Params   map[string]any // values of $name: bool, int64, float64, string, nil, or a slice of these
	Program  Program        // of matcha, in place of a query
	Vertex   string         // of participation; "" means the one of RETURN participation(v)
	K        int            // of motifs and orbits: the number of vertices, from 3 to 5
	Protocol string         // that the client speaks, for lists and logs
	Tag      string         // of the client's choice, for lists: at most 64 characters that can be shown
	Kept     bool           // the protocol keeps the answer and tells how the run ended, so that Server.Ended does not
	Choices
}

// Choices change how a request is answered. The zero value leaves all to the library and the server's limits.
type Choices struct {
	Limit        int64         // matches
	Time         time.Duration // as Limits.Time
	Semantics    string        // iso, trail or hom
	Induced      *bool
	List         string // subgraphs or embeddings
	AllowProduct bool
	Directions   *bool // of motifs and orbits
	Profile      bool  // of explain: also run the query
	Listing      *bool // of explain: plan a listing, or a count
	Engine       string
	Device       string
	Order        string
	Threads      int
	Seed         uint64
	Switches     map[string]string // engine options
}

// mostTag is the number of characters of a tag.
const mostTag = 64

// checkTag refuses a tag that could not be shown in a line.
func checkTag(tag string) error {
	switch {
	case utf8.RuneCountInString(tag) > mostTag:
		return errorf(BadRequest, "the tag has more than %d characters", mostTag).at("tag")
	case strings.ContainsFunc(tag, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return errorf(BadRequest, "the tag has a control character, or another that cannot be shown").at("tag")
	}
	return nil
}

// negative returns an error if one of the limits of a request is negative.
func (q *Request) negative() error {
	switch {
	case q.Limit < 0:
		return errorf(BadRequest, "the limit cannot be negative").at("limit")
	case q.Time < 0:
		return errorf(BadRequest, "the time cannot be negative").at("seconds")
	case q.Threads < 0:
		return errorf(BadRequest, "the number of threads cannot be negative").at("threads")
	}
	return nil
}

// read parses the query and makes the options.
func (r *Run) read() (err error) {
	q := &r.Request
	if err := q.negative(); err != nil {
		return err
	}
	switch asks := q.Kind != Motifs && q.Kind != Orbits && q.Kind != Info; {
	case !asks && q.Query != "":
		return errorf(BadRequest, "%s takes no query", q.Kind).at("query")
	case !asks && q.Pattern != "":
		return errorf(BadRequest, "%s takes no query", q.Kind).at("pattern")
	case !asks:
	case q.Query != "" && q.Pattern != "":
		return errorf(BadRequest, "give a query or the name of a pattern, and not both").at("pattern")
	case q.Pattern != "":
		if len(q.Pattern) > 200 {
			return errorf(TooLarge, "the name of the pattern has %d bytes, and at most 200 are taken", len(q.Pattern)).at("pattern")
		}
		r.query, err = weft.PatternByName(q.Pattern)
	default:
		if err := r.s.fits(q.Query); err != nil {
			return err
		}
		r.query, err = r.s.texts.parse(q.Query)
	}
	if err != nil {
		return err
	}
	if r.query != nil {
		if err := r.s.small(r.query); err != nil {
			if q.Pattern != "" {
				return err.at("pattern")
			}
			return err.at("query")
		}
		for _, name := range slices.Sorted(maps.Keys(q.Params)) {
			if !slices.Contains(r.query.Params(), name) {
				return errorf(BadRequest, "the query has no parameter $%s", name).at("params", name)
			}
		}
		if err := r.suits(); err != nil {
			return err
		}
	} else if len(q.Params) > 0 {
		return errorf(BadRequest, "%s takes no parameters", q.Kind).at("params")
	}
	if (q.Kind == Motifs || q.Kind == Orbits) && (q.K < 3 || q.K > 5) {
		return errorf(BadRequest, "motifs have 3, 4 or 5 vertices, and not %d", q.K).at("k")
	}
	return r.setOptions()
}

// suits returns an error if the query's RETURN asks for another kind of answer.
func (r *Run) suits() error {
	q, kind := r.query, r.Request.Kind
	explain, profile := q.AsksExplain()
	_, total := q.AsksCount()
	vertex, participates := q.AsksParticipation()
	asks := Kind("")
	switch {
	case explain || profile:
		asks = Explain
	case q.AsksExists():
		asks = Exists
	case participates:
		asks = Participation
	case total:
		asks = Count
	}
	switch {
	case kind == Explain:
		r.Request.Profile = r.Request.Profile || profile
		return nil
	case asks == "" && kind == Participation && r.Request.Vertex == "":
		return errorf(BadRequest, "participation is of a vertex: name it, or say RETURN participation(v)").at("vertex")
	case kind == Participation && participates && r.Request.Vertex == "":
		r.Request.Vertex = vertex
		return nil
	case asks == "" || asks == kind, kind == Exists && asks == Count:
		return nil
	}
	return errorf(BadRequest, "the query asks for %s, and the request for %s", asks, kind).at("query")
}

func (r *Run) setOptions() error {
	q := &r.Request
	var o []weft.Option
	add := func(given bool, option func() weft.Option) {
		if given {
			o = append(o, option())
		}
	}
	o = append(o, weft.WithCompilerMemory(least(r.s.Limits.CompilerMemory, r.Who.Memory)))
	add(r.s.Limits.Planning > 0, func() weft.Option { return weft.WithPlanning(r.s.Limits.Planning) })
	for _, name := range slices.Sorted(maps.Keys(q.Params)) {
		o = append(o, weft.WithParam(name, q.Params[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(q.Switches)) {
		o = append(o, weft.WithEngineOption(name, q.Switches[name]))
	}
	if limit := least(q.Limit, r.rows); limit > 0 && (q.Kind == Match || q.Limit > 0) {
		o = append(o, weft.WithLimit(limit))
	}
	switch q.List {
	case "":
	case "subgraphs":
		o = append(o, weft.WithList(weft.Subgraphs))
	case "embeddings":
		o = append(o, weft.WithList(weft.Embeddings))
	default:
		return errorf(BadRequest, "list %q: want subgraphs or embeddings", q.List).at("list")
	}
	add(q.Semantics != "", func() weft.Option { return weft.WithSemantics(q.Semantics) })
	add(q.Induced != nil, func() weft.Option { return weft.WithInduced(*q.Induced) })
	add(q.AllowProduct, weft.WithProduct)
	add(q.Directions != nil, func() weft.Option { return weft.WithDirections(*q.Directions) })
	add(q.Profile, weft.WithLevels)
	add(q.Listing != nil, func() weft.Option { return weft.WithListing(*q.Listing) })
	if err := r.countsMemory(); err != nil {
		return err
	}
	add(q.Engine != "" && q.Engine != "auto", func() weft.Option { return weft.WithEngine(q.Engine) })
	add(q.Device != "" && q.Device != "auto", func() weft.Option { return weft.WithDevice(q.Device) })
	add(q.Order != "" && q.Order != "auto", func() weft.Option { return weft.WithOrder(q.Order) })
	q.Threads = min(q.Threads, r.s.Limits.Threads)
	add(q.Threads > 0, func() weft.Option { return weft.WithThreads(q.Threads) })
	add(q.Seed != 0, func() weft.Option { return weft.WithSeed(q.Seed) })
	o = append(o, weft.WithProgress(func(p weft.Progress) {
		r.phase.Store(&p.Phase)
		r.done.Store(p.Done)
		r.total.Store(p.Total)
	}))
	r.options = o
	return nil
}
