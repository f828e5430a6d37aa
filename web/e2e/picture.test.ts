import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Parts, Schema } from '../src/api'
import { dark, light } from '../src/picture/colours'
import type { Case } from './picture/main'
import { served } from './picture/server'

vi.setConfig({ testTimeout: 60_000 })

const usual = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic']
const launch = (...args: string[]) => chromium.launch({ executablePath: '/usr/bin/chromium', args: [...usual, ...args] })

function partsOf(names: string[], edges: [number, number, direction?: 'any' | 'out', name?: string][]): Parts {
	return {
		semantics: 'iso',
		induced: false,
		groups: [{ kind: 'match', parent: -1, at: [0, 0], inside: [0, 0], where: '' }],
		vertices: names.map(name => ({ name, labels: '', properties: '', where: '', group: 0, at: [], uses: [] })),
		edges: edges.map(([from, to, direction = 'any', name = '']) => ({ name, from, to, direction, labels: '', properties: '', where: '', length: '', group: 0, at: [0, 0], uses: [] })),
		mode: [0, 0],
		paths: [],
		where: '',
		rest: [],
		fixed: '',
	}
}

const path = partsOf(['a', 'b', 'c'], [[0, 1], [1, 2]])
const schema: Schema = { vertex_labels: ['Even', 'Odd one'], edge_labels: [], vertex_properties: [{ name: 'name', type: 'string' }], edge_properties: [], edge_times: false }
const wedge: Case = { graph: 'ring', query: 'MATCH (a)--(b)--(c)', parts: path, schema }

let site: { url: string; close(): Promise<void> }
let weft: ChildProcess | undefined
let browser: Browser
const graphs = fileURLToPath(new URL('../../testdata/graphs/', import.meta.url))

/** serve starts weft, and resolves to its address. */
function serve(binary: string): Promise<string> {
	weft = spawn(binary, ['serve', '--listen', 'localhost:0', '-g', `club=${graphs}karate.txt`, '-g', `cite=${graphs}citeseer.graph.gz`, '-g', `tr=${graphs}transfers.csv`])
	return new Promise((done, fail) => {
		let said = ''
		weft!.stderr!.on('data', d => {
			said += d
			const at = /answering at (http:\S+)/.exec(said)
			if (at) done(at[1]!)
		})
		weft!.on('exit', code => fail(new Error(`weft ended with ${code}: ${said}`)))
	})
}

beforeAll(async () => {
	const binary = process.env['WEFT_BINARY']
	site = await served(binary ? await serve(binary) : undefined)
	browser = await launch('--enable-unsafe-swiftshader')
}, 60_000)

afterAll(async () => {
	await browser?.close()
	await site?.close()
	weft?.removeAllListeners('exit')
	weft?.kill()
})

let wrong: string[] = []
let contexts: BrowserContext[] = []

afterEach(async () => {
	for (const c of contexts) await c.close()
	contexts = []
	const all = wrong
	wrong = []
	expect(all).toEqual([])
})

interface Opened {
	page: Page
	requests: string[]
}

async function open(from: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> {
	const context = await from.newContext({ viewport: { width: 1280, height: 760 }, reducedMotion: 'reduce', ...options })
	contexts.push(context)
	const page = await context.newPage()
	page.setDefaultTimeout(10_000)
	page.on('console', m => m.type() === 'error' && wrong.push(m.text()))
	page.on('pageerror', e => wrong.push(String(e)))
	const requests: string[] = []
	page.on('request', r => requests.push(new URL(r.url()).pathname))
	await page.goto(site.url)
	return { page, requests }
}

const settled = (page: Page) => page.locator('.picture-stage[aria-busy=false]').waitFor()

async function show(page: Page, c: Case) {
	await page.evaluate(c => window.show(JSON.parse(c) as Case), JSON.stringify(c))
	await page.locator('.picture-box > *').first().waitFor()
	await settled(page)
}

async function showWedges(page: Page, more: Partial<Case> = {}) {
	const rows = await page.evaluate(() => window.wedges)
	await show(page, { ...wedge, rows, ...more })
}

/** The number of pixels of each colour in what is shown. */
async function pixels(page: Page, colours: string[]): Promise<number[]> {
	const png = (await page.locator('.picture-stage').screenshot()).toString('base64')
	return page.evaluate(
		async ([png, colours]) => {
			const image = new Image()
			image.src = `data:image/png;base64,${png}`
			await image.decode()
			const canvas = document.createElement('canvas')
			canvas.width = image.width
			canvas.height = image.height
			const context = canvas.getContext('2d')!
			context.drawImage(image, 0, 0)
			const { data } = context.getImageData(0, 0, image.width, image.height)
			return colours.map(c => {
				const n = parseInt(c.slice(1), 16)
				let found = 0
				for (let i = 0; i < data.length; i += 4) {
					if (Math.max(Math.abs(data[i]! - (n >> 16)), Math.abs(data[i + 1]! - ((n >> 8) & 255)), Math.abs(data[i + 2]! - (n & 255))) < 3) found++
				}
				return found
			})
		},
		[png, colours] as const,
	)
}

async function svg(page: Page): Promise<string> {
	const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save SVG' }).click()])
	expect(download.suggestedFilename()).toBe('matches.svg')
	return readFile(await download.path(), 'utf8')
}

/** Where the vertex is whose label is in the file. The label is 5 pixels right of the disc, whose radius is about 7. */
async function placeOf(page: Page, label: string): Promise<{ x: number; y: number }> {
	const text = new RegExp(`<text x="([\\d.]+)" y="([\\d.]+)"[^>]*>${label}</text>`).exec(await svg(page))
	expect(text, label).not.toBeNull()
	return { x: Number(text![1]) - 12, y: Number(text![2]) - 4 }
}

const image = (page: Page) => page.locator('[role=img].picture-box')
const told = (page: Page) => page.locator('.picture [role=status]')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** drags drags a vertex, and moves it by keys. */
async function drags(page: Page) {
	const box = (await page.locator('.picture-stage').boundingBox())!
	const [from, other] = [await placeOf(page, '0 · Even'), await placeOf(page, '5 · Odd one')]
	const at = (dx: number, dy: number) => [box.x + from.x + dx, box.y + from.y + dy] as const
	await page.mouse.move(...at(0, 0))
	await page.mouse.down()
	await page.mouse.move(...at(30, -20), { steps: 4 })
	await page.mouse.move(...at(60, -40), { steps: 4 })
	await page.mouse.up()
	const to = await placeOf(page, '0 · Even')
	expect(Math.abs(to.x - from.x - 60) + Math.abs(to.y - from.y + 40)).toBeLessThan(6)
	const stays = await placeOf(page, '5 · Odd one')
	expect(Math.abs(stays.x - other.x) + Math.abs(stays.y - other.y)).toBeLessThan(1)
	// The end of a drag chooses nothing; a click does.
	const chosen = page.getByRole('region', { name: 'Vertex 0' })
	expect(await chosen.count()).toBe(0)
	await page.waitForTimeout(500) // or the two would be a double click
	await page.mouse.click(...at(60, -40))
	await chosen.waitFor()
	await page.locator('.picture-stage').focus()
	for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(`Shift+${key}`)
	const last = await placeOf(page, '0 · Even')
	expect(Math.abs(last.x - to.x - 20) + Math.abs(last.y - to.y - 10)).toBeLessThan(3)
	// Fit shows all of it again, where the vertex is beyond the others too.
	await page.locator('.picture-stage').focus()
	for (let i = 0; i < 90; i++) await page.keyboard.press('Shift+ArrowLeft')
	await page.keyboard.press('f')
	await page.waitForTimeout(300)
	const fitted = await placeOf(page, '0 · Even')
	expect(fitted.x).toBeGreaterThan(0)
	expect(fitted.x).toBeLessThan(box.width / 4)
}

describe('with WebGL', () => {
	test('the first matches are drawn in the colours of the pattern, and sigma is loaded when it is needed', async () => {
		const { page, requests } = await open(browser)
		expect(requests.filter(r => r.includes('webgl'))).toEqual([])
		await showWedges(page)
		expect(requests.filter(r => r.includes('webgl'))).toHaveLength(1)
		expect(requests.filter(r => r.includes('flat'))).toEqual([])
		expect(await image(page).getAttribute('aria-label')).toBe('20 matches with 22 vertices and 21 edges.')
		for (const n of await pixels(page, light.slice(0, 3))) expect(n).toBeGreaterThan(200)
		expect(await page.locator('.picture-legend th').allInnerTexts()).toEqual(['a', 'b', 'c'])
		await page.getByRole('spinbutton', { name: 'Matches' }).fill('3')
		await page.keyboard.press('Tab')
		await expect.poll(() => image(page).getAttribute('aria-label')).toBe('3 matches with 5 vertices and 4 edges.')
	})

	test('vertices are dragged and moved by keys, and the others stay', async () => {
		const { page } = await open(browser)
		await showWedges(page)
		await drags(page)
	})

	test('the keyboard steps through the matches and moves the picture', async () => {
		const { page } = await open(browser)
		await showWedges(page)
		await page.locator('.picture-stage').focus()
		await page.keyboard.press('n')
		expect(await told(page).innerText()).toBe('Match 1 of 20: a is 23, b is 0, c is 1.')
		expect(await image(page).getAttribute('aria-label')).toContain('Match 1 of 20: a is 23')
		expect(await page.locator('.picture-legend td').allInnerTexts()).toEqual(['23', '0', '1'])
		const accent = '#0b63c5'
		expect((await pixels(page, [accent]))[0]).toBeGreaterThan(100)
		await page.keyboard.press('p')
		expect(await told(page).innerText()).toContain('Match 20 of 20: a is 18, b is 19, c is 20.')
		await page.keyboard.press('Escape')
		expect(await told(page).innerText()).toBe('All matches.')

		const home = await placeOf(page, '0 · Even')
		const moved = async (key: string) => {
			await page.locator('.picture-stage').focus()
			await page.keyboard.press(key)
			await page.waitForTimeout(50)
			return placeOf(page, '0 · Even')
		}
		const right = await moved('ArrowRight')
		expect(right.x).toBeLessThan(home.x - 50)
		expect(right.y).toBeCloseTo(home.y, 0)
		const down = await moved('ArrowDown')
		expect(down.y).toBeLessThan(right.y - 30)
		await moved('ArrowLeft')
		const back = await moved('ArrowUp')
		expect(back.x).toBeCloseTo(home.x, 0)
		expect(back.y).toBeCloseTo(home.y, 0)
		const larger = await moved('+')
		expect(Math.abs(larger.x - home.x) + Math.abs(larger.y - home.y)).toBeGreaterThan(10)
		await moved('-')
		await moved('ArrowRight')
		const fit = await moved('f')
		expect(fit.x).toBeCloseTo(home.x, 0)
		expect(fit.y).toBeCloseTo(home.y, 0)
	})

	test('neighbours and edges between are added on wish, and taken away', async () => {
		const { page } = await open(browser)
		await showWedges(page)
		await page.getByRole('spinbutton', { name: 'Matches' }).fill('2')
		await page.keyboard.press('Tab')
		await page.getByRole('checkbox', { name: 'Neighbours' }).check()
		// Vertex 0 has 7 neighbours that are not in view, vertex 23 has one, and vertex 2 shares one with vertex 0.
		await expect.poll(() => image(page).getAttribute('aria-label')).toBe('2 matches with 4 vertices and 3 edges, 6 neighbours, 7 edges besides.')
		expect(await page.locator('.picture-foot').innerText()).toContain('1 vertex has more neighbours.')
		await page.getByRole('spinbutton', { name: 'Neighbours of each vertex' }).fill('9')
		await page.keyboard.press('Tab')
		await expect.poll(() => image(page).getAttribute('aria-label')).toContain(', 8 neighbours, 9 edges besides.')
		await page.getByRole('checkbox', { name: 'Edges between' }).check()
		await expect.poll(() => image(page).getAttribute('aria-label')).toContain(', 8 neighbours, 10 edges besides.')
		await page.getByRole('checkbox', { name: 'Edges between' }).uncheck()
		await page.getByRole('checkbox', { name: 'Neighbours' }).uncheck()
		await expect.poll(() => image(page).getAttribute('aria-label')).toBe('2 matches with 4 vertices and 3 edges.')
	})

	test('a number that is being typed stays while the picture changes', async () => {
		const { page } = await open(browser)
		await showWedges(page)
		const field = page.getByRole('spinbutton', { name: 'Matches' })
		await field.fill('3')
		await page.emulateMedia({ colorScheme: 'dark' })
		await button(page, 'Next').dispatchEvent('click') // without taking the focus from the field
		await expect.poll(() => page.locator('.picture-at').innerText()).toMatch(/^1 of /)
		expect(await field.inputValue()).toBe('3')
		await page.keyboard.press('Tab')
		await expect.poll(() => page.locator('.picture-at').innerText()).toBe('1 of 3')
		await field.fill('0')
		await page.keyboard.press('Enter')
		await expect.poll(() => field.inputValue()).toBe('1')
	})

	test('a click on a vertex tells about it, and its neighbours can be added', async () => {
		const { page } = await open(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
		await showWedges(page)
		await settled(page)
		await expect.poll(() => svg(page)).toContain('0 · Even')
		const at = await placeOf(page, '0 · Even')
		await image(page).click({ position: at })
		const panel = page.getByRole('region', { name: 'Vertex 0' })
		await panel.getByText('9 in the graph').waitFor()
		expect(await panel.innerText()).toMatch(/Labels\s+Even\s+In matches\s+2, as a, b\s+Degree\s+2 in view, 9 in the graph\s+name\s+name 0/)
		await button(page, 'Copy id').click()
		await expect.poll(() => told(page).innerText()).toBe('0 is copied.')
		expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('0')
		await button(page, 'Add neighbours').click()
		await panel.getByText('9 in view, 9 in the graph').waitFor()
		expect(await button(page, 'Add neighbours').isDisabled()).toBe(true)
		// The picture takes no click in the moment in which new vertices come.
		await expect
			.poll(async () => {
				await image(page).click({ position: { x: 3, y: 3 } })
				return panel.count()
			})
			.toBe(0)
	})

	test('all vertices are in a table, which the keyboard can choose from', async () => {
		const { page } = await open(browser)
		await showWedges(page)
		await page.getByText('All vertices (22)').focus()
		await page.keyboard.press('Enter')
		await page.locator('.picture-vertices tbody tr').first().waitFor()
		expect(await page.locator('.picture-vertices tbody tr').count()).toBe(22)
		expect((await page.locator('.picture-vertices tbody tr').nth(1).innerText()).split(/\s+/)).toEqual(['0', 'a,', 'b', 'Even', '2', '2'])
		await page.keyboard.press('Tab')
		await page.keyboard.press('Enter')
		await page.getByRole('region', { name: 'Vertex 23' }).waitFor()
	})

	test('colours follow the mode of the page', async () => {
		const { page } = await open(browser)
		await showWedges(page)
		const shown = async () => (await pixels(page, [light[1]!, dark[1]!])).map(n => n > 100)
		expect(await shown()).toEqual([true, false])
		await page.emulateMedia({ colorScheme: 'dark' })
		await expect.poll(shown).toEqual([false, true])
		await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'light'))
		await expect.poll(shown).toEqual([true, false])
		await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'dark'))
		await expect.poll(shown).toEqual([false, true])
	})

	test('the file of SVG is what is shown', async () => {
		const { page } = await open(browser)
		await showWedges(page)
		const text = await svg(page)
		// An image is decoded only if it is well formed.
		const width = await page.evaluate(async text => {
			const image = new Image()
			image.src = `data:image/svg+xml,${encodeURIComponent(text)}`
			await image.decode()
			return image.width
		}, text)
		expect(width).toBe(await image(page).evaluate(e => e.clientWidth))
		expect(text).toContain('<title>20 matches with 22 vertices and 21 edges.</title>')
		expect(text.match(/<line /g)).toHaveLength(21)
		for (const c of light.slice(0, 3)) expect(text).toContain(`fill="${c}"`)
	})

	test('rows without vertices offer whole matches', async () => {
		const { page } = await open(browser)
		await page.evaluate(c => window.show(c), { ...wedge, query: 'MATCH (a)--(b)--(c) RETURN a.name, b', rows: [{ 'a.name': 'x', b: 1 }, { 'a.name': 'y', b: 2 }] } satisfies Case)
		await page.getByText('The rows do not have a, c.').waitFor()
		await button(page, 'Show whole matches').click()
		await expect.poll(() => image(page).getAttribute('aria-label')).toBe('20 matches with 22 vertices and 21 edges.')
		expect(await page.evaluate(() => window.asked)).toContain('MATCH (a)--(b)--(c)')
	})

	test('no matches is a sentence', async () => {
		const { page } = await open(browser)
		await page.evaluate(c => window.show(c), { ...wedge, rows: [] } satisfies Case)
		await page.getByText('There are no matches to draw.').waitFor()
	})

	test.each(['light', 'dark'] as const)('axe finds nothing in %s mode', async mode => {
		const { page } = await open(browser, { colorScheme: mode })
		await showWedges(page)
		await button(page, 'Next').click()
		await page.locator('.picture-legend .picture-link').first().click()
		await page.getByText('All vertices (22)').click()
		const { violations } = await new AxeBuilder({ page }).include('.picture').analyze()
		expect(violations.map(v => `${v.id}: ${v.nodes.map(n => n.html).join(' ')}`)).toEqual([])
	})

	test('a picture whose context is lost goes on in SVG', async () => {
		const { page } = await open(browser)
		await showWedges(page)
		await page.evaluate(() => {
			for (const c of document.querySelectorAll('canvas')) c.getContext('webgl2')?.getExtension('WEBGL_lose_context')?.loseContext()
		})
		await page.locator('.picture-box > svg').waitFor()
	})
})

describe('without WebGL', () => {
	let flat: Browser
	beforeAll(async () => void (flat = await launch('--disable-3d-apis')))
	afterAll(async () => flat?.close())

	test('the picture is SVG, says so, and can be used in the same way', async () => {
		const { page, requests } = await open(flat)
		await showWedges(page)
		expect(requests.filter(r => r.includes('webgl'))).toEqual([])
		await page.getByText('This browser has no WebGL').waitFor()
		await expect.poll(() => page.locator('.picture-box > svg line').count()).toBe(21)
		for (const n of await pixels(page, light.slice(0, 3))) expect(n).toBeGreaterThan(200)
		await expect.poll(() => svg(page)).toContain('0 · Even')
		const home = await placeOf(page, '0 · Even')
		await image(page).click({ position: home })
		await page.getByRole('region', { name: 'Vertex 0' }).getByText('9 in the graph').waitFor()
		await page.locator('.picture-stage').focus()
		await page.keyboard.press('ArrowRight')
		await page.keyboard.press('+')
		await page.waitForTimeout(100)
		expect((await placeOf(page, '0 · Even')).x).not.toBeCloseTo(home.x, 0)
		await page.locator('.picture-stage').focus()
		await page.keyboard.press('f')
		await page.keyboard.press('n')
		expect(await told(page).innerText()).toBe('Match 1 of 20: a is 23, b is 0, c is 1.')
		await page.getByRole('checkbox', { name: 'Neighbours' }).check()
		await expect.poll(() => image(page).getAttribute('aria-label')).toContain('besides')
	})

	test('vertices are dragged there too', async () => {
		const { page } = await open(flat)
		await showWedges(page)
		await expect.poll(() => svg(page)).toContain('0 · Even')
		await drags(page)
	})
})

describe.skipIf(!process.env['WEFT_BINARY'])('with a server', () => {
	test('triangles with their neighbours and the edges between them', async () => {
		const { page } = await open(browser)
		await show(page, { graph: 'club', query: 'MATCH (a)--(b)--(c)--(a)', parts: partsOf(['a', 'b', 'c'], [[0, 1], [1, 2], [2, 0]]), schema: null })
		await page.getByRole('spinbutton', { name: 'Matches' }).fill('500')
		await page.keyboard.press('Tab')
		await expect.poll(() => image(page).getAttribute('aria-label')).toMatch(/^45 matches with /)
		await page.getByRole('checkbox', { name: 'Neighbours' }).check()
		await page.getByRole('spinbutton', { name: 'Neighbours of each vertex' }).fill('50')
		await page.keyboard.press('Tab')
		await page.getByRole('checkbox', { name: 'Edges between' }).check()
		// With all neighbours the picture is the whole graph: 34 vertices, 78 edges.
		await expect
			.poll(async () => {
				const m = /(\d+) vertices and (\d+) edges, (\d+) neighbours?, (\d+) edges? besides/.exec((await image(page).getAttribute('aria-label'))!)
				return m && [Number(m[1]) + Number(m[3]), Number(m[2]) + Number(m[4])]
			})
			.toEqual([34, 78])
	})

	test('labels of vertices', async () => {
		const { page } = await open(browser)
		const names = ['0', '1', '2', '3', '4', '5']
		await show(page, { graph: 'cite', query: 'MATCH (a:3)--(b:1)', parts: partsOf(['a', 'b'], [[0, 1]]), schema: { ...schema, vertex_labels: names, vertex_properties: [] } })
		await button(page, 'Next').click()
		await page.locator('.picture-legend .picture-link').first().click()
		await page.locator('.picture-vertex').getByText('Labels').waitFor()
		expect(await page.locator('.picture-vertex').innerText()).toMatch(/Labels\s+3\s/)
	})

	test('edges with directions and labels, and vertices whose ids are texts', async () => {
		const { page } = await open(browser)
		await show(page, { graph: 'tr', query: 'MATCH (a)-[e]->(b) RETURN a, b, e', parts: partsOf(['a', 'b'], [[0, 1, 'out', 'e']]), schema: null })
		expect(await image(page).getAttribute('aria-label')).toBe('12 matches with 5 vertices and 7 edges.')
		const text = await svg(page)
		expect(text.match(/<polygon /g)!.length).toBeGreaterThan(7)
		expect(text).toContain('>TX</text>')
		await button(page, 'Next').click()
		expect(await told(page).innerText()).toMatch(/^Match 1 of 12: a is \w+, b is \w+, e is \w+ to \w+ \(label (TX|FEE), time 2024-/)
	})
})
