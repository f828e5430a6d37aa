import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

/** site serves the page of the test. Paths of the API go to weft. */
export async function site(weft: string | undefined): Promise<{ url: string; close(): Promise<void> }> {
	const server = await createServer({
		root: fileURLToPath(new URL('../..', import.meta.url)),
		configFile: false,
		logLevel: 'error',
		oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
		optimizeDeps: { noDiscovery: true },
		server: { port: 0, hmr: false, ...(weft && { proxy: { '/v1': { target: weft, changeOrigin: true, headers: { origin: weft } } } }) },
	})
	await server.listen()
	return { url: `${server.resolvedUrls!.local[0]}e2e/canvas/index.html`, close: () => server.close() }
}
