package pattern

import "strings"

// Suggest returns the candidate nearest to word, in any case of letters, or "" if none is near
// enough. The distance (insertions, deletions, substitutions and exchanges of neighbours) may
// be a third of the length.
func Suggest(word string, candidates []string) string {
	limit := len(word) / 3
	if len(word) > 2 {
		limit++
	}
	return Nearest(word, candidates, limit)
}

// Nearest returns the first of the candidates nearest to word, in any case of letters,
// or "" where each is farther than limit.
func Nearest(word string, candidates []string, limit int) string {
	best := ""
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < limit || d == limit && best == "" {
			best, limit = c, d
		}
	}
	return best
}

// distance is the optimal string alignment distance of a and b.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
