package bolt

import "time"

// hello reads what the client says of itself and, in Bolt 5.0, its credentials.
func (c *conn) hello(x any) error {
	m, ok := x.(map[string]any)
	if !ok {
		return c.broken("HELLO has no map")
	}
	if agent := text(m, "user_agent"); agent != "" {
		c.log = c.log.With("agent", cut(agent, 100))
	}
	if routing, ok := m["routing"].(map[string]any); ok {
		c.route = text(routing, "address")
	}
	c.quiet = wantsQuiet(m, false)
	c.state = stateLogon
	if c.minor == 0 {
		if err := c.login(m); err != nil {
			return c.fail(err)
		}
	}
	// There is no hint of connection.recv_timeout_seconds: drivers would start a timer for each row, and read a fifth of the rows in a second.
	return c.success(entry{"server", c.s.o.Agent}, entry{"connection_id", c.id}, entry{"hints", map[string]any{"telemetry.enabled": false}})
}

func (c *conn) logon(x any) error {
	m, ok := x.(map[string]any)
	if !ok {
		return c.broken("LOGON has no map")
	}
	if err := c.login(m); err != nil {
		return c.fail(err)
	}
	return c.success()
}

func (c *conn) login(m map[string]any) error {
	scheme := text(m, "scheme")
	if scheme == "" {
		scheme = "none"
	}
	u, err := c.s.backend.Login(c.context(), Credentials{scheme, text(m, "principal"), text(m, "credentials"), c.net.RemoteAddr()})
	if err != nil {
		c.log.Warn("login refused", "user", cut(text(m, "principal"), 100), "error", err)
		return err
	}
	c.user, c.state = u, stateReady
	c.authed.Store(true)
	c.readBy(func() { c.authBy = time.Time{} })
	return nil
}
