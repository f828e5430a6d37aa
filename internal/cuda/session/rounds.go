package session

// Join waits until all that the search has launched has ended, in branches too;
// they begin again at the next Fork. For a search that goes in rounds.
func (x *Exec) Join() error {
	if err := x.join(); err != nil {
		return err
	}
	for _, b := range x.branches {
		b.used = false
	}
	return x.stream.Synchronize()
}

// Stopped reports whether the run is to end before all is searched: a search in
// rounds begins no other.
func (x *Exec) Stopped() bool {
	r := x.running
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped || r.err != nil
}
