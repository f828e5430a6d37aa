import { defineConfig } from 'vitest/config'

// The server that requests of `npm run dev` go to. It takes those of pages of its own host alone, so the proxy leaves Host as the browser sends it.
const weft = { target: process.env.WEFT_URL ?? 'http://localhost:8642', changeOrigin: false }

// The built page is embedded in the Go program, so it has no source maps, and no request leaves the server.
export default defineConfig({
	base: './',
	build: {
		outDir: '../internal/serve/page/dist',
		emptyOutDir: true,
		target: 'es2022',
		modulePreload: { polyfill: false },
		assetsInlineLimit: 0,
		// THIRD_PARTY_NOTICES has them too, by internal/tools/notices.
		license: { fileName: 'licences.json' },
	},
	server: { proxy: { '/v1': weft, '/openapi.json': weft } },
	// Tests in Chromium measure times, so no file runs beside another.
	test: { fileParallelism: false, reporters: ['verbose', './sum.ts'] },
})
