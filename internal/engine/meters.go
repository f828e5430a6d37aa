package engine

// Meters are what a search on GPUs counted about its work, for comparisons of techniques.
type Meters struct {
	// LanesBusy of LanesAll lane-steps had work. Both are 0 if the search did not count them.
	LanesBusy, LanesAll uint64
	// Steals inside a block, and from one block to another.
	StealsBlock, StealsGrid uint64
	// Scratch is the bytes that the search took on the device, besides the graph: stacks, pools and tables. Of several devices it is the most.
	Scratch int64
}

// Idle is the share of lane-steps without work, as gMatch's idle rate; ok says whether they were counted.
func (m *Meters) Idle() (share float64, ok bool) {
	if m == nil || m.LanesAll == 0 {
		return 0, false
	}
	return 1 - float64(m.LanesBusy)/float64(m.LanesAll), true
}
