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
