import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect } from 'vitest'

export const binary = process.env.WEFT_BINARY ?? ''

/** The path of a graph of the tests. */
export const graph = (file: string) => fileURLToPath(new URL(`../../../testdata/graphs/${file}`, import.meta.url))

/** A server, a browser, and pages of it that must not complain. */
export class Site {
	private readonly folder = mkdtempSync(join(tmpdir(), 'weft-page-'))
	private server?: ChildProcess
	private browser?: Browser
	private pages: { page: Page; complaints: string[] }[] = []
	url = ''

	/** Starts weft serve with some arguments, and Chromium. */
	async start(...args: string[]) {
		this.server = spawn(binary, ['serve', '--listen', 'localhost:0', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
		this.url = await new Promise<string>((resolve, reject) => {
			this.server!.on('exit', code => reject(new Error(`weft serve ended with ${code}`)))
			createInterface({ input: this.server!.stderr! }).on('line', line => {
				const found = /answering at https?:\/\/\S+:(\d+)/.exec(line)
				if (found) resolve(`http://localhost:${found[1]}/`)
			})
		})
		this.browser = await chromium.launch({
			executablePath: '/usr/bin/chromium',
			args: [
				'--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync --disable-quic',
				'--enable-unsafe-swiftshader',
			].flatMap(list => list.split(' ')),
		})
	}

	async stop() {
		await this.browser?.close()
		this.server?.removeAllListeners('exit')
		this.server?.kill()
		rmSync(this.folder, { recursive: true })
	}

	/** A path in a folder of this site alone. */
	path(name: string) {
		return join(this.folder, name)
	}

	weft(args: string[], input = '') {
		return execFileSync(binary, args, { input, encoding: 'utf8' })
	}

	/**
	 * A page in a browser of its own. What it complains of, and each request to another server, fails the test. Chromium also writes a line
	 * about each answer with an error: those of the statuses that a test expects are left out.
	 */
	async open(hash = '', options: BrowserContextOptions = {}, expected: number[] = []): Promise<Page> {
		const context = await this.browser!.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options })
		return this.tab(context, hash, expected)
	}

	/** A page in another tab of a browser. */
	async tab(context: BrowserContext, hash = '', expected: number[] = []): Promise<Page> {
		const page = await context.newPage()
		page.setDefaultTimeout(30_000)
		const complaints: string[] = []
		this.pages.push({ page, complaints })
		page.on('console', m => {
			if (!['error', 'warning'].includes(m.type()) || m.text().includes('GL Driver Message')) return
			const status = /^Failed to load resource: .* status of (\d+)/.exec(m.text())
			if (!status || !expected.includes(Number(status[1]))) complaints.push(m.text())
		})
		page.on('pageerror', e => complaints.push(String(e)))
		page.on('request', r => {
			if (!r.url().startsWith(this.url) && !r.url().startsWith(`blob:${this.url}`)) complaints.push(`request to ${r.url()}`)
		})
		await page.goto(this.url + hash)
		await page.locator('.page, .sign-in').waitFor()
		return page
	}

	/** Closes the pages, and fails if one of them complained. */
	async settle() {
		const pages = this.pages
		this.pages = []
		for (const { page } of pages) await page.context().close()
		expect(pages.flatMap(p => p.complaints)).toEqual([])
	}
}

/** A link's hash. */
export function hash(fields: Record<string, string>): string {
	return `#${new URLSearchParams(fields)}`
}

/** Opens a link in the page, and runs it by keyboard. */
export async function run(page: Page, fields: Record<string, string>) {
	await page.evaluate(h => (location.hash = h), hash(fields))
	await page.getByRole('radio', { name: names[fields.kind!]!, exact: true, checked: true }).waitFor()
	await page.keyboard.press('Control+Enter')
}

const names: Record<string, string> = {
	count: 'Count',
	match: 'List',
	exists: 'Exists',
	explain: 'Explain',
	motifs: 'Census',
	participation: 'Participation',
}

/** The text of the editor. */
export function text(page: Page): Promise<string> {
	return page.getByRole('textbox', { name: 'Query' }).evaluate(e => [...e.querySelectorAll('.cm-line')].map(l => l.textContent).join('\n'))
}

/** Writes a text into the editor by keyboard, instead of what is there. */
export async function type(page: Page, query: string) {
	await page.getByRole('textbox', { name: 'Query' }).focus()
	await page.keyboard.press('Control+a')
	await page.keyboard.insertText(query)
}

/** What the page tells screen readers last. */
export function said(page: Page): Promise<string> {
	return page.locator('.page > [role=status]').innerText()
}

/** Waits until the table has a number of rows, as "45 rows". */
export async function counted(page: Page, rows: string) {
	await expect.poll(() => page.locator('.results-count').innerText(), { timeout: 15_000 }).toBe(rows)
}
