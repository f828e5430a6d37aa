package serve

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/memory"
)

// accounts are the memory of the searches and programs of users, by their names.
type accounts struct {
	mu sync.Mutex
	of map[string]*memory.Account
}

// ofUser is how errors name a user's limit.
const ofUser = "this user may have"

// share opens a run's share of its user's memory. It is nil for a user without a limit.
func (a *accounts) share(who Identity) *memory.Share {
	if who.Memory <= 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.of[who.Name]
	if x == nil {
		if a.of == nil {
			a.of = map[string]*memory.Account{}
		}
		x = memory.NewAccount(ofUser)
		a.of[who.Name] = x
	}
	return x.Share(who.Memory)
}

// uncounted are engines whose searches do not count their memory: the oracle keeps what it has found of the graph.
var uncounted = []string{"oracle"}

// limitMemory gives a run the share in which its searches count their memory.
func (r *Run) limitMemory() {
	r.share = r.s.accounts.share(r.Who)
	r.ctx = memory.WithShare(r.ctx, r.share)
}

// countsMemory returns an error for an engine that would pass over the limit of the user's memory.
func (r *Run) countsMemory() error {
	if e := r.Request.Engine; r.Who.Memory > 0 && slices.Contains(uncounted, e) {
		return errorf(NotAllowed, "the engine %s does not count its memory, which is limited for this user", e)
	}
	return nil
}

// shortOfUser is the error of a run that needs more memory than its user has left, as clients get it: a refusal for good if the user's other
// runs have nothing to do with it. Other errors stay as they are.
func shortOfUser(err error) error {
	var room *memory.Error
	if !errors.As(err, &room) || room.Limit.Text != ofUser {
		return err
	}
	if room.Need+room.Own > room.Limit.Bytes {
		return &Error{Code: TooLarge, Message: room.Error(), err: err}
	}
	return &Error{Code: OutOfMemory, Message: room.Error() + ", and other queries of this user have the rest: try again later", Retry: 5 * time.Second, err: err}
}
