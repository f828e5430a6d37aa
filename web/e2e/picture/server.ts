import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type Server, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const policy =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
const types: Record<string, string> = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' }

/** served builds the page of the test, and serves it under the policy of the product. Paths of the API go to weft. */
export async function served(weft?: string): Promise<{ url: string; close(): Promise<void> }> {
	const out = await mkdtemp(join(tmpdir(), 'weft-picture-'))
	await build({
		root: fileURLToPath(new URL('.', import.meta.url)),
		configFile: false,
		logLevel: 'error',
		base: './',
		mode: 'production',
		oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
		build: { outDir: out, emptyOutDir: true, target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
	})
	const server: Server = createServer((req, res) => {
		const path = normalize(new URL(req.url!, 'http://x').pathname)
		if (path.startsWith('/v1/') && weft) {
			const to = request(weft + path, { method: req.method!, headers: { 'content-type': 'application/json' } }, answer => {
				res.writeHead(answer.statusCode!, { 'content-type': answer.headers['content-type'] })
				answer.pipe(res)
			})
			to.on('error', () => res.destroy())
			req.pipe(to)
			return
		}
		const file = path === '/' ? '/index.html' : path
		readFile(join(out, file)).then(
			body => res.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream', 'content-security-policy': policy }).end(body),
			() => res.writeHead(404).end(),
		)
	})
	await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
		async close() {
			server.closeAllConnections()
			await new Promise(done => server.close(done))
			await rm(out, { recursive: true })
		},
	}
}
