package disk

// ForeignError says that another user could have written a file that is about to be loaded.
type ForeignError struct {
	Path string
	Err  error // goes on after the path: "belongs to user 1000"
}

func (e *ForeignError) Error() string { return e.Path + " " + e.Err.Error() }
func (e *ForeignError) Unwrap() error { return e.Err }
