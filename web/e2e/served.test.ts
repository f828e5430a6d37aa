import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page, type Request } from 'playwright-core'
import { createServer } from 'vite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const binary = process.env.WEFT_BINARY ?? ''
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

describe.skipIf(!binary)('the page that weft serve has', () => {
	let server: ChildProcess
	let url: string
	let browser: Browser

	beforeAll(async () => {
		server = spawn(binary, ['serve', '-g', `karate=${at('../../testdata/graphs/karate.txt')}`, '--listen', 'localhost:0'], { stdio: ['ignore', 'ignore', 'pipe'] })
		url = await new Promise<string>((resolve, reject) => {
			server.on('exit', code => reject(new Error(`weft serve ended with ${code}`)))
			createInterface({ input: server.stderr! }).on('line', line => {
				const found = /https?:\/\/\S+:\d+/.exec(line)
				if (found) resolve(found[0].replace('127.0.0.1', 'localhost') + '/')
			})
		})
		browser = await chromium.launch({
			executablePath: '/usr/bin/chromium',
			args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'],
		})
	})

	afterAll(async () => {
		await browser?.close()
		server?.kill()
	})

	/** A new page, with what it complains of. */
	async function open(address: string): Promise<{ page: Page; complaints: string[]; bytes: () => Promise<number>; hosts: Set<string> }> {
		const page = await (await browser.newContext()).newPage()
		const complaints: string[] = []
		const hosts = new Set<string>()
		const finished: Request[] = []
		page.on('console', m => ['error', 'warning'].includes(m.type()) && complaints.push(m.text()))
		page.on('pageerror', e => complaints.push(String(e)))
		page.on('request', r => hosts.add(new URL(r.url()).host))
		page.on('requestfinished', r => finished.push(r))
		await page.goto(address, { waitUntil: 'networkidle' })
		const bytes = async () => {
			let sum = 0
			for (const r of finished) sum += await r.sizes().then(s => s.responseBodySize + s.responseHeadersSize)
			return sum
		}
		return { page, complaints, hosts, bytes }
	}

	test('loads the files of the server alone, without a complaint, in less than 300 kB', async () => {
		const { page, complaints, hosts, bytes } = await open(url)
		expect(await page.locator('#page > *').count()).toBeGreaterThan(0)
		expect(complaints).toEqual([])
		expect([...hosts]).toEqual([new URL(url).host])
		expect(await bytes()).toBeLessThan(300_000)
		await page.context().close()
	})

	test('cannot run texts as scripts, nor reach other servers', async () => {
		const { page } = await open(url)
		expect(
			await page.evaluate(() => {
				const refused = (f: () => void) => {
					try {
						f()
						return false
					} catch (e) {
						return e instanceof TypeError
					}
				}
				const script = document.createElement('script')
				return [refused(() => (document.body.innerHTML = '<b>x</b>')), refused(() => (script.text = 'window.ran = true')), refused(() => setTimeout('window.ran = true'))]
			}),
		).toEqual([true, true, true])
		expect(
			await page.evaluate(async () => {
				const broken = new Promise<string>(resolve => addEventListener('securitypolicyviolation', e => resolve(e.effectiveDirective)))
				const failed = await fetch('http://localhost:1/').then(
					() => false,
					() => true,
				)
				return [failed, await broken]
			}),
		).toEqual([true, 'connect-src'])
		await page.context().close()
	})

	test('asks the server, and opens from a link of another site', async () => {
		const { page } = await open(url)
		const parse = () =>
			fetch('/v1/parse', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"query":"MATCH (a)--(b)"}' }).then(async r => [r.status, ((await r.json()) as { vertices: unknown[] }).vertices.length])
		expect(await page.evaluate(parse)).toEqual([200, 2])
		await page.route('http://other.example/', r => r.fulfill({ contentType: 'text/html', body: `<a href="${url}">weft</a>` }))
		await page.goto('http://other.example/')
		const answered = page.waitForResponse(url)
		await page.click('a')
		expect((await answered).status()).toBe(200)
		expect(await page.evaluate(parse)).toEqual([200, 2])
		await page.context().close()
	})

	test('is the same under npm run dev, whose requests the server takes', async () => {
		process.env.WEFT_URL = url
		const dev = await createServer({ root: at('..'), configFile: at('../vite.config.ts'), server: { port: 0, host: 'localhost' }, logLevel: 'silent' })
		try {
			await dev.listen()
			const { page, complaints } = await open(dev.resolvedUrls!.local[0]!)
			expect(await page.locator('#page > *').count()).toBeGreaterThan(0)
			const ask = () => fetch('/v1/count', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"graph":"karate","pattern":"triangle"}' }).then(async r => [r.status, ((await r.json()) as { result?: { subgraphs: number } }).result?.subgraphs])
			expect(await page.evaluate(ask)).toEqual([200, 45])
			expect(complaints).toEqual([])
			await page.context().close()
		} finally {
			await dev.close()
			delete process.env.WEFT_URL
		}
	})
})
