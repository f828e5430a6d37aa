import { AxeBuilder } from '@axe-core/playwright'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { site } from './site'
import { binary, serve, type Weft } from './weft'

vi.setConfig({ testTimeout: 60_000 })

let weft: Weft | undefined
let served: Awaited<ReturnType<typeof site>>
let browser: Browser
let page: Page
let wrong: string[] = []

beforeAll(async () => {
	if (binary) weft = await serve()
	served = await site(weft?.url)
	const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic']
	browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args })
}, 60_000)

afterAll(async () => {
	await browser?.close()
	await served?.close()
	weft?.stop()
})

afterEach(async () => {
	await page.context().close()
	expect(wrong).toEqual([])
})

/** open shows a text and its drawing. */
async function open(query: string, options: Parameters<Browser['newContext']>[0] = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options })
	page = await context.newPage()
	wrong = []
	page.on('pageerror', e => wrong.push(e.message))
	// Without the server the page has no answer about the text.
	page.on('console', m => m.type() === 'error' && !/status of 404/.test(m.text()) && wrong.push(m.text()))
	await page.goto(served.url + '#' + encodeURIComponent(query))
	await page.locator('.canvas-drawing').waitFor()
}

const text = () => page.getByLabel('Query').inputValue()
const status = () => page.getByRole('status').textContent()
const option = (name: string | RegExp) => page.getByRole('option', { name })
const press = async (...keys: string[]) => {
	for (const k of keys) await page.keyboard.press(k)
}

/** middle is where a vertex or edge is on the screen. */
async function middle(name: string | RegExp) {
	const b = (await option(name).locator('rect').first().boundingBox())!
	return { x: b.x + b.width / 2, y: b.y + b.height / 2 }
}

async function drag(from: { x: number; y: number }, to: { x: number; y: number }) {
	await page.mouse.move(from.x, from.y)
	await page.mouse.down()
	await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2)
	await page.mouse.move(to.x, to.y)
	await page.mouse.up()
}

describe('by keyboard', () => {
	it('a pattern is drawn from nothing', async () => {
		await open('')
		await page.locator('.canvas-drawing').focus()
		await press('n')
		expect(await text()).toBe('MATCH (a)')
		expect(await status()).toBe('Added: vertex a, not joined')
		await press('e', 'n')
		expect(await text()).toBe('MATCH (a)--(b)')
		await press('e', 'n')
		expect(await text()).toBe('MATCH (a)--(b)--(c)')
		expect(await option('vertex c, joined with b').getAttribute('aria-selected')).toBe('true')
		await press('e')
		expect(await status()).toContain('Edge from c')
		await page.locator('[data-item="v:a"]').focus()
		await press('Enter')
		expect(await text()).toBe('MATCH (a)--(b)--(c)--(a)')
		expect(await status()).toBe('Added: edge between c and a')
		expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('edge between c and a')
	})

	it('vertices and edges are selected by Tab and by arrows', async () => {
		await open('MATCH (a)-->(b)-->(c)')
		await page.locator('[data-item="v:a"]').focus()
		const active = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
		await press('ArrowRight')
		expect(await active()).toBe('edge from a to b')
		await press('ArrowRight')
		expect(await active()).toBe('vertex b, joined with a, c')
		await press('Tab')
		expect(await active()).toBe('vertex c, joined with b')
		await press('ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft')
		expect(await active()).toBe('vertex a, joined with b')
		// An edge that is begun goes from vertex to vertex, and Escape ends it.
		await press('e', 'ArrowRight')
		expect(await active()).toBe('vertex b, joined with a, c')
		await press('Escape', 'Enter')
		expect(await text()).toBe('MATCH (a)-->(b)-->(c)')
		expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT')
	})

	it('vertices move, and all edits are undone and redone', async () => {
		await open('MATCH (a)--(b) // two')
		await page.locator('[data-item="v:b"]').focus()
		const before = await middle(/^vertex b/)
		await press('Shift+ArrowDown', 'Shift+ArrowDown')
		expect((await middle(/^vertex b/)).y).toBeCloseTo(before.y + 24, 0)
		await press('n', 'Delete')
		expect(await text()).toBe('MATCH (a)--(b) // two')
		await press('Control+z')
		expect(await text()).toBe('MATCH (a)--(b), (c) // two')
		await press('Control+z', 'Control+z')
		expect(await text()).toBe('MATCH (a)--(b) // two')
		await press('Control+z')
		expect((await middle(/^vertex b/)).y).toBeCloseTo(before.y, 0)
		await press('Control+z')
		expect(await status()).toBe('There is nothing to undo in the drawing')
		await press('Control+y', 'Control+Shift+Z', 'Control+y')
		expect(await text()).toBe('MATCH (a)--(b), (c) // two')
	})

	it('what the query uses is not deleted, and the reason is told', async () => {
		await open('MATCH (a)--(b) WHERE b.x > 1 RETURN a')
		await page.locator('[data-item="v:b"]').focus()
		await press('Delete')
		expect(await text()).toBe('MATCH (a)--(b) WHERE b.x > 1 RETURN a')
		expect(await status()).toContain('b is used in WHERE')
	})
})

describe('by pointer', () => {
	it('vertices come by double clicks, and edges by drags', async () => {
		await open('')
		const area = (await page.locator('.canvas-drawing').boundingBox())!
		await page.mouse.dblclick(area.x + 200, area.y + 200)
		await page.mouse.dblclick(area.x + 400, area.y + 220)
		expect(await text()).toBe('MATCH (a), (b)')
		const [a, b] = [await middle(/^vertex a/), await middle(/^vertex b/)]
		expect(b.x - a.x).toBeCloseTo(200, -1)
		// From its handle an edge goes to another vertex, or to a new one where there is none.
		await drag({ x: a.x + 20, y: a.y }, b)
		expect(await text()).toBe('MATCH (a)--(b)')
		await page.mouse.move(b.x, b.y)
		await drag({ x: b.x + 20, y: b.y }, { x: b.x + 60, y: b.y + 150 })
		expect(await text()).toBe('MATCH (a)--(b)--(c)')
		const c = await middle(/^vertex c/)
		expect([c.x, c.y].map(Math.round)).toEqual([b.x + 60, b.y + 150].map(Math.round))
		// A vertex that is dropped on another is joined with it, and stays where it was.
		await drag(c, a)
		expect(await text()).toBe('MATCH (a)--(b)--(c)--(a)')
		expect((await middle(/^vertex c/)).x).toBeCloseTo(c.x, 0)
		// Elsewhere it moves, and the text does not change.
		await drag(c, { x: c.x + 90, y: c.y })
		expect((await middle(/^vertex c/)).x).toBeCloseTo(c.x + 90, 0)
		expect(await text()).toBe('MATCH (a)--(b)--(c)--(a)')
	})

	it('the buttons do what the keys do', async () => {
		await open('MATCH (a)-->(b)')
		const button = (name: string) => page.getByRole('button', { name, exact: true })
		await button('Vertex').click()
		expect(await text()).toBe('MATCH (a)-->(b), (c)')
		await button('Edge').click()
		expect(await button('Edge').getAttribute('aria-pressed')).toBe('true')
		const b = await middle(/^vertex b/)
		await page.mouse.click(b.x, b.y)
		expect(await text()).toBe('MATCH (a)-->(b)<--(c)')
		await button('Delete').click()
		expect(await text()).toBe('MATCH (a)-->(b), (c)')
		await button('Undo').click()
		await button('Redo').click()
		expect(await text()).toBe('MATCH (a)-->(b), (c)')
		await button('Arrange').click()
		expect(await status()).toBe('The drawing is arranged anew')
		const download = page.waitForEvent('download')
		await button('SVG').click()
		expect((await download).suggestedFilename()).toBe('pattern.svg')
	})
})

describe('the fields', () => {
	it('change what is selected', async () => {
		await open('MATCH (a)-->(b)\nWHERE a.x > 1 // a\nRETURN a')
		await page.locator('[data-item="v:a"]').focus()
		await press('Enter')
		await page.getByLabel('Name', { exact: true }).fill('hub')
		await press('Tab')
		expect(await text()).toBe('MATCH (hub)-->(b)\nWHERE hub.x > 1 // a\nRETURN hub')
		expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).labels?.[0]?.textContent)).toBe('Labels')
		await page.getByLabel('Labels').fill('Person|')
		expect(await page.locator('datalist option').evaluateAll(all => all.map(o => (o as HTMLOptionElement).value))).toContain('Person|`Public figure`')
		await page.getByLabel('Labels').fill('Person')
		await press('Enter')
		await page.getByLabel('Name of a new property').fill('age')
		await page.getByLabel('Value of the new property').fill('30')
		await press('Enter')
		expect(await text()).toBe('MATCH (hub:Person {age: 30})-->(b)\nWHERE hub.x > 1 // a\nRETURN hub')
		await page.getByLabel('Value of age').fill('old enough')
		await press('Enter')
		expect(await page.getByLabel('Value of age').getAttribute('aria-invalid')).toBe('true')
		expect(await status()).toContain("'old enough'")
		await page.getByLabel('Value of age').fill('31')
		await press('Enter')
		await page.getByLabel('Name of property age').fill('years')
		await press('Escape')
		expect(await page.getByLabel('Name of property age').inputValue()).toBe('age')
		await page.getByLabel('Name of property age').fill('years')
		await press('Enter')
		expect(await text()).toBe('MATCH (hub:Person {years: 31})-->(b)\nWHERE hub.x > 1 // a\nRETURN hub')
		await page.getByLabel('Name of property years').fill('age')
		await press('Enter')
		await page.getByLabel('Where').fill('_.y = 2')
		await press('Enter')
		expect(await text()).toBe('MATCH (hub:Person {age: 31} WHERE _.y = 2)-->(b)\nWHERE hub.x > 1 // a\nRETURN hub')
		await page.getByRole('button', { name: 'Remove property age' }).click()
		expect(await text()).toBe('MATCH (hub:Person WHERE _.y = 2)-->(b)\nWHERE hub.x > 1 // a\nRETURN hub')
		await page.getByLabel('Labels').fill('Robot')
		await press('Enter')
		expect(await text()).toBe('MATCH (hub:Robot WHERE _.y = 2)-->(b)\nWHERE hub.x > 1 // a\nRETURN hub')
		await page.getByRole('button', { name: 'Undo', exact: true }).click()
		expect(await text()).toBe('MATCH (hub:Person WHERE _.y = 2)-->(b)\nWHERE hub.x > 1 // a\nRETURN hub')
		expect(await page.getByLabel('Labels').inputValue()).toBe('Person')
		await option(/^edge/).focus()
		await page.getByLabel('Direction').selectOption('in')
		await page.getByLabel('Labels').fill('FOLLOWS')
		await press('Enter')
		await page.getByLabel('Must be absent (NOT)').check()
		expect(await text()).toBe('MATCH (hub:Person WHERE _.y = 2), (b), NOT (hub)<-[:FOLLOWS]-(b)\nWHERE hub.x > 1 // a\nRETURN hub')
		expect(await option(/^edge/).getAttribute('aria-label')).toBe('edge from b to hub, label FOLLOWS, must be absent')
	})
})

describe('the text', () => {
	it('is drawn while it is typed, and vertices stay where they are', async () => {
		await open('MATCH (a)--(b)')
		const a = await middle(/^vertex a/)
		await page.getByLabel('Query').fill('MATCH (a:Person)--(b)--(')
		await page.getByLabel('Query').fill('MATCH (a:Person)--(b)--(c)')
		await option('vertex c, joined with b').waitFor()
		expect((await middle(/^vertex a, label Person/)).x).toBeCloseTo(a.x, 0)
	})

	it.skipIf(!binary)('with a mistake keeps the last drawing, and says so', async () => {
		await open('MATCH (a)--(b)')
		await page.getByLabel('Query').fill('MATCH (a)--(b')
		await page.getByText('The text has an error').waitFor()
		expect(await page.getByRole('option').count()).toBe(3)
		await page.locator('[data-item="v:a"]').focus()
		await press('Delete')
		expect(await text()).toBe('MATCH (a)--(b')
	})

	it.skipIf(!binary)('of a named pattern is drawn, and cannot be edited', async () => {
		await open('MATCH clique(3, a, b, c), (c)-->(d)')
		await option(/^vertex d/).waitFor()
		expect(await page.getByRole('option').count()).toBe(8)
		expect(await status()).toContain('clique')
		expect(await page.getByRole('button', { name: 'Vertex', exact: true }).isDisabled()).toBe(true)
		await page.locator('[data-item="v:d"]').focus()
		expect(await page.getByLabel('Name', { exact: true }).getAttribute('readonly')).not.toBeNull()
	})
})

describe.each(['light', 'dark'] as const)('in %s colours', colorScheme => {
	it.each([1280, 800])('and at a width of %i all is accessible', async width => {
		await open('MATCH (a:Person {age: 30})-[e:FOLLOWS]->(b), NOT (b)-->(a) WHERE EXISTS { (b)--(c:Robot) } RETURN a', { colorScheme, viewport: { width, height: 700 } })
		expect((await new AxeBuilder({ page }).include('.canvas').analyze()).violations).toEqual([])
		await option(/^edge e/).focus()
		expect((await new AxeBuilder({ page }).include('.canvas').analyze()).violations).toEqual([])
	})
})
