package nest

import "time"

// Usage is how busy a device is, and how much of its memory neighbour lists take.
type Usage struct {
	Busy              float64 // the share of the time since the first updates in which its warps searched
	Lists, Most, Room int64   // bytes: in use now, the most so far, and those that there are for lists
	Over              []Sample
}

// Sample is the usage of some time.
type Sample struct {
	Until time.Duration // the end of this time, since the first updates. It begins with the end of the sample before
	Busy  float64       // as in Usage, of this time
	Lists int64         // bytes at its end
}
