package gql

import "github.com/weftgraph/weft/internal/pattern"

// The syntax tree keeps names as written, with their places: names may be used
// before the path that declares them, so they are resolved after parsing.

type name struct {
	text string // "" when absent
	pos  int
}

type querySyntax struct {
	pos              int
	matchAt          int
	watch            *Watch
	explain, profile bool
	explainAt        int
	defines          []*defineSyntax
	body             *bodySyntax
	order            *orderSyntax
	ret              *returnSyntax
}

type defineSyntax struct {
	name   name
	params []name
	body   *bodySyntax
}

// bodySyntax is the text after MATCH, in a DEFINE and in EXISTS.
type bodySyntax struct {
	pos      int
	whereAt  Span
	mode     *pattern.Mode // nil where none is named
	induced  bool
	patterns []patternSyntax
	where    *exprSyntax
}

// patternSyntax is a path, or a call where call is not nil.
type patternSyntax struct {
	pos   int
	end   int
	not   bool
	nodes []nodeSyntax
	edges []edgeSyntax // edges[i] is between nodes[i] and nodes[i+1]
	call  *callSyntax
}

type nodeSyntax struct {
	pos   int
	at    inside
	name  name
	label *pattern.Label
	props []propSyntax
	where *exprSyntax
}

// plain reports whether n is only a name.
func (n *nodeSyntax) plain() bool { return n.label == nil && n.props == nil && n.where == nil }

type edgeSyntax struct {
	pos      int
	at       inside
	left     bool // <-
	right    bool // ->
	name     name
	label    *pattern.Label
	min, max int
	props    []propSyntax
	where    *exprSyntax
}

// inside has the places of a node or an edge, and of what it has in its brackets. Those of what is absent are empty.
type inside struct{ whole, label, length, props, where Span }

type propSyntax struct {
	key   name
	value *exprSyntax
}

type callSyntax struct {
	name name
	args []argSyntax
}

// argSyntax is a number or a name.
type argSyntax struct {
	name   name
	number int
}

type exprKind uint8

const (
	exprLit exprKind = iota
	exprParam
	exprName
	exprProp   // args[0].text
	exprUnary  // op args[0]
	exprBinary // args[0] op args[1]
	exprList
	exprCall // text(args), lower case
	exprExists
)

type exprSyntax struct {
	kind  exprKind
	pos   int
	end   int
	op    pattern.Op
	text  string
	value any
	args  []*exprSyntax
	sub   *bodySyntax
}

type orderSyntax struct {
	pos      int
	edges    []name
	on       string
	within   int64
	duration bool
}

type returnSyntax struct {
	pos     int
	items   []itemSyntax
	groupBy []itemSyntax
	Return  // the modifiers
}

type itemSyntax struct {
	expr  *exprSyntax
	alias string
	text  string
}
