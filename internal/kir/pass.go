package kir

// Pass rewrites a program into one that means the same.
type Pass struct {
	Name string
	Doc  string
	Run  func(*Program)
}

// Passes are all passes in the order in which Optimize runs them.
var Passes = []Pass{
	{"fold", "evaluates constants, and takes the known side of a condition", Fold},
	{"hoist", "moves values that do not change out of loops and predicates", Hoist},
	{"share", "computes an expression once where it is needed several times", Share},
	{"dead", "drops variables that nothing reads", Dead},
}

// Optimize runs the passes, except those named in off.
func Optimize(p *Program, off ...string) {
next:
	for _, pass := range Passes {
		for _, name := range off {
			if pass.Name == name {
				continue next
			}
		}
		pass.Run(p)
	}
}
