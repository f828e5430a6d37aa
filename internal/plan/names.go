package plan

import "fmt"

// LevelNames are the user's names in the plan's order; vertices without a name
// are v0, v1, … by their place in the pattern.
func LevelNames(p *Plan) []string {
	out := make([]string, len(p.Order))
	taken := map[string]bool{}
	for _, v := range p.Pattern.Vertices {
		taken[v.Name] = true
	}
	for l, v := range p.Order {
		out[l] = p.Pattern.Vertices[v].Name
		for n := v; out[l] == ""; n += len(p.Order) {
			if s := fmt.Sprintf("v%d", n); !taken[s] {
				out[l] = s
			}
		}
	}
	return out
}
