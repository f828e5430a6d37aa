package plan

type costStats struct{}

func (b *binding) orderCost(o Options) choice { return b.orderRI(o) }
