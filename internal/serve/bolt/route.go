package bolt

// routes answers ROUTE: the server is the only one, for readers and writers. A session that says nothing is a writer.
func (c *conn) routes(f []any) error {
	address := c.s.o.Advertise
	if address == "" {
		address = c.route
	}
	if context, ok := f[0].(map[string]any); ok && address == "" {
		address = text(context, "address")
	}
	if address == "" {
		address = c.net.LocalAddr().String()
	}
	m, _ := f[2].(map[string]any)
	graph, err := c.graph(text(m, "db"))
	if err != nil {
		return c.fail(err)
	}
	role := func(name string) map[string]any {
		return map[string]any{"role": name, "addresses": []string{address}}
	}
	return c.success(entry{"rt", map[string]any{"ttl": int64(300), "db": graph, "servers": []any{role("ROUTE"), role("READ"), role("WRITE")}}})
}
