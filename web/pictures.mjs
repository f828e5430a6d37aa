// The pictures of the page in README.md and docs/serve.md: `make page-pictures`. It starts WEFT_BINARY with graphs of testdata, and Chromium.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const here = path => fileURLToPath(new URL(path, import.meta.url))
const graphs = { facebook: 'ego-facebook.txt.gz', payments: 'transfers.csv', knowledge: 'fb15k-237-cut.txt' }
const server = spawn(process.env.WEFT_BINARY, ['serve', '--listen', 'localhost:0', ...Object.entries(graphs).flatMap(([name, file]) => ['-g', `${name}=${here(`../testdata/graphs/${file}`)}`])], {
	stdio: ['ignore', 'ignore', 'pipe'],
})
const port = await new Promise((resolve, reject) => {
	server.on('exit', code => reject(new Error(`weft serve ended with ${code}`)))
	createInterface({ input: server.stderr }).on('line', line => {
		const found = /answering at https?:\/\/\S+:(\d+)/.exec(line)
		if (found) resolve(found[1])
	})
})
const browser = await chromium.launch({
	executablePath: '/usr/bin/chromium',
	args: '--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync --disable-quic --enable-unsafe-swiftshader'.split(' '),
})

/** Asks a question, and takes a picture of the page when its answer is there. */
async function shot(name, colorScheme, hash, wait) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme, reducedMotion: 'reduce' })
	await page.goto(`http://localhost:${port}/#${new URLSearchParams(hash)}`)
	await page.locator('.page').waitFor()
	await page.getByRole('button', { name: /^Run/ }).click()
	await wait(page)
	await page.waitForTimeout(1500) // until the layout is at rest
	await page.screenshot({ path: here(`../docs/img/page-${name}.png`) })
	await page.close()
}

await shot('picture', 'light', { graph: 'facebook', kind: 'match', query: 'MATCH (a)--(b)--(c)--(d)--(a), (a)--(e)--(b),\n  NOT (a)--(c), NOT (b)--(d)\nWHERE deg(a) < 12 AND deg(c) < 12', limit: '200' }, async page => {
	await page.getByRole('tab', { name: 'Picture' }).click()
	await page.locator('.picture').first().waitFor()
})
await shot('table', 'dark', { graph: 'payments', kind: 'match', query: 'MATCH (a)-[x]->(b)-[y]->(c)-[z]->(a)\nORDERED x < y < z WITHIN 30d' }, page => page.getByRole('grid').waitFor())
await shot('plan', 'light', { graph: 'facebook', kind: 'explain', query: 'MATCH clique(5)' }, page => page.getByRole('region', { name: 'Plan' }).waitFor())
await shot('census', 'light', { graph: 'knowledge', kind: 'motifs', k: '4' }, page => page.locator('.census').first().waitFor())
await browser.close()
server.removeAllListeners('exit')
server.kill()
