import { hashOf, restored, type Request } from './request'
import { keyOf, read, write } from './storage'

/** A user's question that was not asked yet. It outlives its tab, and a page that opens without a link begins with it. */
export class Draft {
	private readonly key: string
	/** What this page kept last. A draft of another tab is not this page's to remove. */
	private mine: string | null = null

	constructor(user: string) {
		this.key = keyOf('draft', user)
	}

	/** The draft that is kept; null if there is none. A page that was loaded anew has the address of the draft. */
	load(address: string): Request | null {
		const text = read(this.key) ?? null
		try {
			const { request, from } = JSON.parse(text ?? '{}') as { request?: unknown; from?: unknown }
			const r = restored(request)
			if (!r || (address && address !== from)) return null
			this.mine = text
			return r
		} catch {
			return null
		}
	}

	/** Keeps a question that is begun at an address, unless it is the one of the address or has no text. */
	keep(r: Request, address: string) {
		const asked = hashOf(r) === address && r.kind !== 'motifs'
		if (asked || !r.query.trim()) return this.drop()
		const text = JSON.stringify({ request: r, from: address })
		if (text !== this.mine && write(this.key, text)) this.mine = text
	}

	/** Forgets the draft of this page. */
	drop() {
		if (this.mine !== null && read(this.key) === this.mine) write(this.key, null)
		this.mine = null
	}
}
