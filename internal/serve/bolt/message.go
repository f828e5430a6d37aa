package bolt

// Tags of messages.
const (
	msgHello     = 0x01
	msgGoodbye   = 0x02
	msgReset     = 0x0F
	msgRun       = 0x10
	msgBegin     = 0x11
	msgCommit    = 0x12
	msgRollback  = 0x13
	msgDiscard   = 0x2F
	msgPull      = 0x3F
	msgTelemetry = 0x54
	msgRoute     = 0x66
	msgLogon     = 0x6A
	msgLogoff    = 0x6B
	msgSuccess   = 0x70
	msgRecord    = 0x71
	msgIgnored   = 0x7E
	msgFailure   = 0x7F
)

// tagOf is the tag of a message, or 0.
func tagOf(m []byte) byte {
	if len(m) >= 2 && m[0]>>4 == 0xB {
		return m[1]
	}
	return 0
}

// text is a text in a map, or "".
func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// cut is s with at most n bytes.
func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
