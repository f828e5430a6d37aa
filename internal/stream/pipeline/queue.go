package pipeline

// numbered is a queue whose elements keep their numbers. The zero value is empty and begins at 0.
type numbered[T any] struct {
	all   []T
	gone  int    // elements of all that were dropped
	first uint64 // the number of the first element that was not
}

// end returns the number of the next element.
func (q *numbered[T]) end() uint64 { return q.first + uint64(len(q.all)-q.gone) }

func (q *numbered[T]) add(x ...T) { q.all = append(q.all, x...) }

// at returns an element by its number. It is valid until the next call of another method.
func (q *numbered[T]) at(i uint64) *T { return &q.all[q.gone+int(i-q.first)] }

// part returns the elements from one number up to another. They are valid until the next call of another method.
func (q *numbered[T]) part(from, to uint64) []T {
	return q.all[q.gone+int(from-q.first) : q.gone+int(to-q.first)]
}

// drop removes the elements before a number. Each element is moved about once at most.
func (q *numbered[T]) drop(to uint64) {
	if to <= q.first {
		return
	}
	clear(q.part(q.first, to))
	q.gone += int(to - q.first)
	q.first = to
	if 2*q.gone >= len(q.all) {
		n := copy(q.all, q.all[q.gone:])
		clear(q.all[n:])
		q.all, q.gone = q.all[:n], 0
	}
}

// reset removes all elements. The next one gets a number.
func (q *numbered[T]) reset(first uint64) {
	clear(q.all)
	q.all, q.gone, q.first = q.all[:0], 0, first
}
