/**
 * What the browser keeps of this page. A browser may refuse to keep anything, or have no room left, so no function here throws: the page
 * then forgets things, and works.
 */

/** The text of a key; null if there is none, undefined if the browser refuses to read. */
export function read(key: string, of: 'local' | 'session' = 'local'): string | null | undefined {
	try {
		return storage(of).getItem(key)
	} catch {
		return undefined
	}
}

/** Keeps a text, or removes the key if it is null. It reports whether the browser did so. */
export function write(key: string, text: string | null, of: 'local' | 'session' = 'local'): boolean {
	try {
		if (text === null) storage(of).removeItem(key)
		else storage(of).setItem(key, text)
		return true
	} catch {
		return false
	}
}

/** Looking at the storage already throws where it is blocked. */
function storage(of: 'local' | 'session') {
	return of === 'local' ? localStorage : sessionStorage
}

/** The key of something that is kept for each user apart. A user without a name is one of a server without users. */
export function keyOf(name: string, user: string): string {
	return user ? `weft-${name}:${user}` : `weft-${name}`
}
