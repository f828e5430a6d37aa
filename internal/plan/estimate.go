package plan

func (pl *Plan) estimate(seed uint64) {}
