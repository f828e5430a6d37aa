package kir

// FetchAdd returns a function that adds n to element i of an array of U32, and returns the element's value from
// before. It is indivisible: workers may run it for one element concurrently, and each gets another value. A
// group adds once. Its body says what it does; emitters have instructions of the machine in its place.
func FetchAdd(name string) *Func {
	a, i, n := &Var{Name: "a", T: ArrayOf(U32, 0).Writable()}, &Var{Name: "i", T: T(U32)}, &Var{Name: "n", T: T(U32)}
	old := &Var{Name: "old", T: T(U32)}
	at := Elem{X: R(a), I: R(i)}
	return &Func{
		Name: name, Doc: "Adds to an element that other workers may add to at the same time. Returns its value from before.",
		Scope: Group, Indivisible: true, Params: []*Var{a, i, n}, Result: T(U32),
		Body: []Stmt{
			&Let{Var: old, Init: at},
			&Assign{To: at, X: Op2(Add, R(old), R(n))},
			&Return{X: R(old)},
		},
	}
}
