import { read, write } from './storage'

/** The credentials of this tab. They end with it, and are in no other storage. */
export interface Session {
	/** The value of the header Authorization. */
	header: string
}

const key = 'weft-session'

export const nobody: Session = { header: '' }

export function loadSession(): Session {
	try {
		return { ...nobody, ...(JSON.parse(read(key, 'session') ?? '{}') as Partial<Session>) }
	} catch {
		return nobody
	}
}

export function keepSession(s: Session) {
	write(key, s.header ? JSON.stringify(s) : null, 'session')
}

/** A session of a user with a password, whose characters go as UTF-8. */
export function withPassword(user: string, password: string): Session {
	const bytes = new TextEncoder().encode(`${user}:${password}`)
	return { header: `Basic ${btoa(String.fromCharCode(...bytes))}` }
}

export function withToken(token: string): Session {
	return { header: `Bearer ${token.trim()}` }
}
