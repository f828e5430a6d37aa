/** The credentials of this tab. They end with it, and are in no other storage. */
export interface Session {
	/** Who signed in, for the page to show. */
	user: string
	/** The value of the header Authorization. */
	header: string
}

const key = 'weft-session'

export const nobody: Session = { user: '', header: '' }

export function loadSession(): Session {
	try {
		return { ...nobody, ...(JSON.parse(sessionStorage.getItem(key) ?? '{}') as Partial<Session>) }
	} catch {
		return nobody
	}
}

export function keepSession(s: Session) {
	if (s.header) sessionStorage.setItem(key, JSON.stringify(s))
	else sessionStorage.removeItem(key)
}

/** A session of a user with a password, whose characters go as UTF-8. */
export function withPassword(user: string, password: string): Session {
	const bytes = new TextEncoder().encode(`${user}:${password}`)
	return { user, header: `Basic ${btoa(String.fromCharCode(...bytes))}` }
}

export function withToken(token: string): Session {
	return { user: 'token', header: `Bearer ${token.trim()}` }
}
