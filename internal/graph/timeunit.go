package graph

// TimeUnit returns the length of one unit of the edges' times, num/den
// nanoseconds. Times of an input that does not say their unit are taken as
// seconds, as in Unix times; then said is false.
func (g *Graph) TimeUnit() (num, den int64, said bool) {
	num, den, said = g.Read.TimeUnit, 1, g.Read.TimeUnit > 0
	if !said {
		num = 1e9
	}
	for range min(g.Read.TimeDigits, 18) {
		den *= 10
	}
	return num, den, said
}
