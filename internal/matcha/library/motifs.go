package library

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/syntax"
)

// StarMaps is the number of homomorphisms from the star of k vertices. No tree of k vertices
// has more (Sidorenko, A partially ordered set of functionals corresponding to graphs, 1994),
// and so no connected pattern. It bounds the numbers that counting a pattern needs, before
// symmetries are divided out.
func StarMaps(g *graph.Graph, k int) (n float64) {
	adj := g.Flat(g.Any())
	for v := range g.NumVertices() {
		n += math.Pow(float64(adj.Off[v+1]-adj.Off[v]), float64(k-1))
	}
	return n
}

// MotifsByParts is the text of the library's program that counts the motifs of k vertices, four or five,
// induced, by arithmetic over numbers of smaller parts. Programs see an input graph with its
// directions, which motifs ignore; directed says whether it has any.
func MotifsByParts(k int, directed bool) (string, error) {
	f, err := Parse(fmt.Sprintf("motifs%d_parts", k))
	if err != nil {
		return "", err
	}
	const input = "input G: Graph\n"
	text := syntax.Format(f)
	if directed {
		text = strings.Replace(text, input, "input H: Graph\nlet G = subgraph(H, '(a)--(b)')\n", 1)
	}
	return text, nil
}

// copies4 has, for each induced motif (line) and each motif (column), the number of subgraphs
// like the column's motif on the vertices of the line's. The motifs have four vertices and the
// order of motifs(4): path, star, cycle, triangle with a tail, diamond, clique.
var copies4 = [6][6]int64{
	{1, 0, 0, 0, 0, 0},
	{0, 1, 0, 0, 0, 0},
	{4, 0, 1, 0, 0, 0},
	{2, 1, 0, 1, 0, 0},
	{6, 2, 1, 4, 1, 0},
	{12, 4, 3, 12, 6, 1},
}

// AllSubgraphs returns the numbers of all subgraphs like motifs of four vertices, given those
// of the induced ones.
func AllSubgraphs(induced []*big.Int) (out []*big.Int) {
	for q := range copies4 {
		sum := new(big.Int)
		for p, n := range induced {
			sum.Add(sum, new(big.Int).Mul(n, big.NewInt(copies4[p][q])))
		}
		out = append(out, sum)
	}
	return out
}
