package pattern

// SetMode gives p a mode, and the sub-patterns of its EXISTS that name none. The
// sub-patterns of p are replaced by copies.
func (p *Pattern) SetMode(m Mode) {
	p.Mode = m
	for i, w := range p.Where {
		p.Where[i] = rewrite(w, func(x Expr) Expr {
			sub, ok := x.(Exists)
			if !ok || sub.OwnMode {
				return x
			}
			sub.Sub = sub.Sub.Clone()
			sub.Sub.SetMode(m)
			return sub
		})
	}
}
