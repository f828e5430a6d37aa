import { defineConfig } from 'vite'

// The built page is embedded in the Go program, so it has no source maps, and no request leaves the server.
export default defineConfig({
	base: './',
	build: {
		outDir: '../internal/serve/page/dist',
		emptyOutDir: true,
		target: 'es2022',
		modulePreload: { polyfill: false },
		assetsInlineLimit: 0,
	},
	server: { proxy: { '/v1': 'http://localhost:8642' } },
})
