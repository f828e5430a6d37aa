package plan

func (b *binding) orderGeneva(o Options) choice { c := b.orderRI(o); c.name = "geneva"; return c }
