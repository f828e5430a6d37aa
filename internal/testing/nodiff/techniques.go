package nodiff

import (
	"regexp"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Techniques of plans, for any engine.
var (
	// Local keeps the neighbourhood of a vertex, and LocalOutside has one vertex that
	// is not in it.
	Local = Technique{
		Name: "local", Patterns: Hubs, Columns: Simple, Force: counting("local"),
		Plan: func(pl *plan.Plan) bool { return pl.Method == plan.Local },
	}
	LocalOutside = Technique{
		Name: "local, with a vertex outside", Patterns: Hubs, Columns: Simple, Force: counting("local"),
		Plan: func(pl *plan.Plan) bool {
			return pl.Method == plan.Local && !slices.ContainsFunc(pl.Levels[1].Back, func(b plan.Back) bool { return b.Level == 0 && !b.Neg })
		},
	}
	// Large filters candidates for labelled patterns.
	Large = Technique{
		Name: "large", Patterns: Labelled, Columns: labelled, Force: counting("large"),
		Plan: func(pl *plan.Plan) bool { return pl.Method == plan.Large },
	}
	LargeListing = Technique{
		Name: "large, listing", Patterns: Labelled, Columns: labelled, Force: listing("large"),
		Plan: func(pl *plan.Plan) bool { return pl.Method == plan.Large },
	}
	// Windows extends edges in time.
	Windows = Technique{
		Name: "temporal", Patterns: Temporal, Columns: Timed, Force: counting("temporal"),
		Plan: func(pl *plan.Plan) bool { return pl.Method == plan.Temporal },
	}
	// Cut counts a pattern as parts at a cut vertex, and Merged takes off matches in
	// which vertices with different labels coincide.
	Cut = Technique{
		Name: "formula at a cut vertex", Patterns: Loose, Columns: Simple, Force: counting("formula"),
		Plan: func(pl *plan.Plan) bool { return hasDot(pl.Formula) },
	}
	Merged = Technique{
		Name: "formula with merged labels", Patterns: Loose, Columns: SimpleLabelled, Force: counting("formula"),
		Plan: func(pl *plan.Plan) bool { return hasDot(pl.Formula) && mergesLabels(pl) },
	}
	// InducedSum counts induced matches by inclusion–exclusion over absent edges.
	InducedSum = Technique{
		Name: "formula of an induced count", Patterns: InducedLoose, Columns: Simple, Force: counting("formula"),
		Plan: func(pl *plan.Plan) bool { return pl.Formula != nil && pl.Induced && len(pl.Formula.Terms) > 1 },
	}
	// Cycle counts a cycle of five by closed walks.
	Cycle = Technique{
		Name: "formula of closed walks", Patterns: FiveCycle, MaxPattern: 5, Columns: Simple, Force: counting("formula"),
		Plan: func(pl *plan.Plan) bool {
			return pl.Formula != nil && slices.ContainsFunc(pl.Formula.Terms, func(x plan.FormulaTerm) bool {
				return x.Plan != nil && x.Plan.Method == plan.Walks
			})
		},
	}
	// LastSize counts the last level by the size of its set, and LastRanges by those of
	// its parts in several label classes.
	LastSize = Technique{
		Name: "tail of one level", Force: counting("nest"),
		Plan: func(pl *plan.Plan) bool { return pl.Method == plan.Nest && pl.Tail.K == 1 },
	}
	LastRanges = Technique{
		Name: "tail of one level in several label ranges", Patterns: Alternatives, Columns: classes, Force: counting("nest"),
		Plan: func(pl *plan.Plan) bool { return pl.Tail.K == 1 && len(last(pl).Ranges) > 1 && last(pl).Bits == nil },
	}
	LastRangesBits = Technique{
		Name: "tail of one level in several label ranges with a predicate", Patterns: Alternatives, Columns: classes, Force: counting("nest"),
		Plan: func(pl *plan.Plan) bool { return pl.Tail.K == 1 && len(last(pl).Ranges) > 1 && last(pl).Bits != nil },
	}
	// Terms counts several last levels by inclusion–exclusion, and TermsRanges with
	// several label ranges.
	Terms = Technique{
		Name: "tail by inclusion–exclusion", Patterns: Loose, Force: counting("nest"),
		Plan: func(pl *plan.Plan) bool { return pl.Tail.K > 1 && len(pl.Tail.Terms) > 1 },
	}
	TermsRanges = Technique{
		Name: "tail by inclusion–exclusion in several label ranges", Patterns: SparseAlternatives, Columns: classes, Force: counting("nest"),
		Plan: func(pl *plan.Plan) bool { return pl.Tail.K > 1 && len(last(pl).Ranges) > 1 },
	}
	// Groups counts more last levels than inclusion–exclusion is written out for.
	Groups = Technique{
		Name: "tail of many levels", Patterns: Stars, MaxPattern: 7, Columns: Simple, Force: counting("nest"),
		Plan: func(pl *plan.Plan) bool { return pl.Tail.K > 5 },
	}
	// Listing and Rooted are purposes of a plan.
	Listing = Technique{Name: "listing", Force: listing("")}
	Rooted  = Technique{
		Name:  "counts by vertex",
		Force: func(o *plan.Options, _ map[string]string) { o.Listing, o.Root, o.Order, o.Given = false, 0, "", nil },
		Plan:  func(pl *plan.Plan) bool { return pl.Rooted },
	}
)

// Nests are the techniques of loop nests.
var Nests = []Technique{LastSize, LastRanges, LastRangesBits, Terms, TermsRanges, Listing, Rooted}

// counting forces a plan that counts.
func counting(method string) func(o *plan.Options, _ map[string]string) {
	return func(o *plan.Options, _ map[string]string) {
		o.Method, o.Listing, o.NoTail, o.Root = method, false, false, plan.NoRoot
	}
}

// listing forces a plan that lists.
func listing(method string) func(o *plan.Options, _ map[string]string) {
	return func(o *plan.Options, _ map[string]string) { o.Method, o.Listing, o.Root = method, true, plan.NoRoot }
}

// With is tech with engine options, and called so.
func (tech Technique) With(name string, opt ...string) Technique {
	force := tech.Force
	tech.Name = name
	tech.Force = func(o *plan.Options, all map[string]string) {
		if force != nil {
			force(o, all)
		}
		for i := 0; i+1 < len(opt); i += 2 {
			all[opt[i]] = opt[i+1]
		}
	}
	return tech
}

// Walked is tech with every level walked: none is counted by arithmetic.
func (tech Technique) Walked() Technique {
	force := tech.Force
	tech.Force = func(o *plan.Options, all map[string]string) {
		force(o, all)
		o.NoTail = true
	}
	return tech
}

// Said is tech, for a count that says of itself what the pattern matches.
func (tech Technique) Said(pattern string) Technique {
	said := regexp.MustCompile(pattern)
	tech.Ran = func(r engine.Result) bool { return said.MatchString(strings.Join(r.Stats, "\n")) }
	return tech
}

// Nest is a count by loops, and LabelledNest one of a labelled pattern.
var (
	Nest         = Technique{Name: "nest", Patterns: Loose, Force: counting("nest")}
	LabelledNest = Technique{Name: "nest with labels", Patterns: Labelled, Columns: labelled, Force: counting("nest")}
)

func last(pl *plan.Plan) *plan.Level { return &pl.Levels[len(pl.Levels)-1] }

func hasDot(f *plan.Formula) bool {
	return f != nil && slices.ContainsFunc(f.Terms, func(x plan.FormulaTerm) bool { return len(x.Dot) > 0 })
}

// mergesLabels reports whether a term is of a smaller pattern, one of whose vertices
// has the labels of two.
func mergesLabels(pl *plan.Plan) bool {
	own := map[string]bool{}
	for _, v := range pl.Pattern.Vertices {
		if v.Label != nil {
			own[v.Label.String()] = true
		}
	}
	for _, x := range pl.Formula.Terms {
		if x.Plan == nil || len(x.Plan.Pattern.Vertices) >= len(pl.Pattern.Vertices) {
			continue
		}
		for _, v := range x.Plan.Pattern.Vertices {
			if v.Label != nil && !own[v.Label.String()] {
				return true
			}
		}
	}
	return false
}

func labelled(w *Columns) { w.Labels = true }

// classes graphs have vertices of several labels, in several classes, with values.
func classes(w *Columns) { w.Labels, w.Properties, w.More = true, true, 6 }

// plainPattern draws a pattern of undirected edges under iso or hom, to which add adds
// the edges.
func plainPattern(s *Spec, least, max int, hom bool, add func(d drawer, p *pattern.Pattern)) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		d := drawer{t, s}
		p := &pattern.Pattern{}
		for i := range rapid.IntRange(least, max).Draw(t, "pattern vertices") {
			v := pattern.Vertex{Name: string(rune('a' + i))}
			if s.Labels != nil && rapid.Bool().Draw(t, "vertex label") {
				v.Label = d.label(vertexLabels, 0)
			}
			p.Vertices = append(p.Vertices, v)
		}
		if hom && d.seldom("hom") {
			p.Mode = pattern.Hom
		}
		add(d, p)
		return p
	}).Filter(func(p *pattern.Pattern) bool { return p.Validate() == nil })
}

func join(p *pattern.Pattern, u, v int) {
	if u != v && !adjacent(p, u, v) {
		p.Edges = append(p.Edges, pattern.Edge{From: u, To: v, Min: 1, Max: 1})
	}
}

// Loose draws trees with at most one edge more, which have cut vertices.
func Loose(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return plainPattern(s, 4, max, true, func(d drawer, p *pattern.Pattern) { d.tree(p, 1) })
}

// InducedLoose draws trees with a few edges more, induced.
func InducedLoose(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return plainPattern(s, 3, min(max, 4), false, func(d drawer, p *pattern.Pattern) {
		d.tree(p, 2)
		p.Induced = true
	})
}

// Dense draws patterns of at least four vertices of which most pairs are adjacent.
func Dense(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return plainPattern(s, 4, max, false, func(d drawer, p *pattern.Pattern) {
		for v := range p.Vertices {
			p.Vertices[v].Label = nil
		}
		d.tree(p, 8)
	})
}

// FiveCycle draws the cycle of five vertices without labels.
func FiveCycle(s *Spec, _ int) *rapid.Generator[*pattern.Pattern] {
	return plainPattern(s, 5, 5, false, func(_ drawer, p *pattern.Pattern) {
		for v := range 5 {
			p.Vertices[v].Label = nil
			join(p, v, (v+1)%5)
		}
	})
}

// Stars draws a vertex with at least six neighbours, some of which may be joined to
// another vertex.
func Stars(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return plainPattern(s, 7, max, false, func(d drawer, p *pattern.Pattern) {
		for v := 1; v < len(p.Vertices); v++ {
			p.Vertices[v].Label = nil
			join(p, 0, v)
		}
	})
}

// tree adds the edges of a tree, and up to more others.
func (d drawer) tree(p *pattern.Pattern, more int) {
	n := len(p.Vertices)
	for v := 1; v < n; v++ {
		join(p, d.pick("parent", v), v)
	}
	for range rapid.IntRange(0, more).Draw(d.t, "more edges") {
		join(p, d.pick("from", n), d.pick("to", n))
	}
}

// Alternatives draws patterns whose vertices may have one of two labels, perhaps with a
// predicate on each, and of which most pairs are adjacent; SparseAlternatives draws
// trees of them.
func Alternatives(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return alternatives(s, min(max, 4), 6)
}

// SparseAlternatives: see Alternatives.
func SparseAlternatives(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return alternatives(s, max, 0)
}

func alternatives(s *Spec, max, more int) *rapid.Generator[*pattern.Pattern] {
	return plainPattern(s, 2, max, true, func(d drawer, p *pattern.Pattern) {
		d.tree(p, more)
		predicates := s.X != nil && rapid.Bool().Draw(d.t, "predicates")
		for v := range p.Vertices {
			two := rapid.Permutation(vertexLabels).Draw(d.t, "labels")[:2]
			name := func(i int) *pattern.Label { return &pattern.Label{Op: pattern.LabelName, Name: two[i]} }
			p.Vertices[v].Label = &pattern.Label{Op: pattern.LabelOr, X: name(0), Y: name(1)}
			if predicates {
				p.Where = append(p.Where, d.compare(pattern.Prop{Of: vertexRef(v), Key: "x"}, d.number()))
			}
		}
	})
}

// Labelled draws connected patterns of edges of any direction and label, some of them
// negated, under iso, with labels on most vertices and predicates on single ones.
func Labelled(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		d := drawer{t, s}
		p := d.shape(rapid.IntRange(2, max).Draw(t, "pattern vertices"))
		for i := range p.Edges {
			p.Edges[i].Name = ""
		}
		for v := range p.Vertices {
			if s.Labels != nil && !d.seldom("no label") {
				p.Vertices[v].Label = d.label(vertexLabels, 1)
			}
			if s.X != nil && d.seldom("predicate") {
				p.Where = append(p.Where, d.compare(pattern.Prop{Of: vertexRef(v), Key: "x"}, d.number()))
			}
		}
		p.Induced = d.seldom("induced")
		return p
	}).Filter(func(p *pattern.Pattern) bool { return p.Validate() == nil && p.Connected() })
}
