package plan

func (b *binding) orderLocal(o Options) (choice, error)   { return b.orderRI(o), nil }
func (b *binding) chooseMethod(pl *Plan, o Options) error { return nil }
