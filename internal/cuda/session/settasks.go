package session

import "fmt"

// SetTasks says that the tasks of the run are 0 … n-1, whatever the job said, and that this
// device has all of them. It is for a search whose tasks are made on the device. Other devices
// of the run call OwnTasks(0). Call it before the kernel that takes tasks is launched.
func (x *Exec) SetTasks(n uint64) error {
	if n >= 1<<(cursorBits-1) {
		return fmt.Errorf("session: %d tasks; a run has less than 2^%d", n, cursorBits-1)
	}
	r := x.running
	r.mu.Lock()
	r.split.total = n
	r.mu.Unlock()
	x.run.Tasks = n
	return x.OwnTasks(n)
}
