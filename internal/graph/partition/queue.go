package partition

// queue has vertices by gain, the greatest first; of equal gains the smaller vertex.
type queue struct {
	heap []uint32
	at   []int32 // the place in heap of each vertex, or -1
	gain []int64
}

func newQueue(n int) queue {
	q := queue{at: make([]int32, n), gain: make([]int64, n)}
	for v := range q.at {
		q.at[v] = -1
	}
	return q
}

func (q *queue) has(v uint32) bool { return q.at[v] >= 0 }

// before reports whether a comes before b.
func (q *queue) before(a, b uint32) bool {
	return q.gain[a] > q.gain[b] || q.gain[a] == q.gain[b] && a < b
}

// put adds a vertex, or changes its gain.
func (q *queue) put(v uint32, gain int64) {
	if q.at[v] < 0 {
		q.at[v] = int32(len(q.heap))
		q.heap = append(q.heap, v)
		q.gain[v] = gain
		q.up(len(q.heap) - 1)
		return
	}
	old := q.gain[v]
	if q.gain[v] = gain; gain > old {
		q.up(int(q.at[v]))
	} else if gain < old {
		q.down(int(q.at[v]))
	}
}

// pop removes the first vertex.
func (q *queue) pop() uint32 {
	v := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.at[q.heap[0]] = 0
	q.heap = q.heap[:last]
	if q.at[v] = -1; last > 0 {
		q.down(0)
	}
	return v
}

// clear removes all vertices.
func (q *queue) clear() {
	for _, v := range q.heap {
		q.at[v] = -1
	}
	q.heap = q.heap[:0]
}

func (q *queue) up(i int) {
	v := q.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !q.before(v, q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		q.at[q.heap[i]] = int32(i)
		i = parent
	}
	q.heap[i], q.at[v] = v, int32(i)
}

func (q *queue) down(i int) {
	v := q.heap[i]
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			break
		}
		if child+1 < len(q.heap) && q.before(q.heap[child+1], q.heap[child]) {
			child++
		}
		if !q.before(q.heap[child], v) {
			break
		}
		q.heap[i] = q.heap[child]
		q.at[q.heap[i]] = int32(i)
		i = child
	}
	q.heap[i], q.at[v] = v, int32(i)
}
