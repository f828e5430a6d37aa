import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { binary, counted, graph, hash, run, said, Site, text, type } from './server'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 })

const triangle = 'MATCH (a)--(b)--(c)--(a)'

/** What axe finds against the guidelines. */
async function violations(page: Page): Promise<string[]> {
	const { violations } = await new AxeBuilder({ page }).analyze()
	return violations.map(v => `${v.id}: ${v.nodes.map(n => n.target.join(' ')).join(', ')}`)
}

describe.skipIf(!binary)('the page', () => {
	const site = new Site()
	beforeAll(() => site.start('-g', `club=${graph('karate.txt')}`, '-g', `pay=${graph('transfers.csv')}`))
	afterAll(() => site.stop())
	afterEach(() => site.settle())

	test('lists the graphs, their names, and examples that fit them and run', async () => {
		const page = await site.open()
		expect(await page.locator('.graphs button').allInnerTexts()).toEqual([
			expect.stringMatching(/^club\s+34 vertices · 78 edges · undirected$/),
			expect.stringMatching(/^pay\s+5 vertices · 12 edges · directed$/),
		])
		for (const name of ['club', 'pay']) {
			await page.getByRole('button', { name: new RegExp(`^${name}`) }).click()
			await page.getByRole('heading', { name: `Examples for ${name}` }).waitFor()
			if (name === 'pay') await page.getByRole('heading', { name: 'Names' }).waitFor()
			const number = await page.locator('.examples button').count()
			expect(number).toBeGreaterThan(5)
			for (let i = 0; i < number; i++) {
				await page.locator('.examples button').nth(i).click()
				await page.keyboard.press('Control+Enter')
				await page.getByRole('tabpanel').waitFor()
				expect(await page.getByRole('alert').count()).toBe(0)
				await page.goto('about:blank')
				await page.goto(site.url + hash({ graph: name, kind: 'count' }))
				await page.getByRole('heading', { name: `Examples for ${name}` }).waitFor()
				if (name === 'pay') await page.getByRole('heading', { name: 'Names' }).waitFor()
			}
		}
		expect(await page.locator('.names code').allInnerTexts()).toEqual(['FEE', 'TX', 'time', 'amount: int64'])
	})

	test('keeps a history, which is searched and removed', async () => {
		const page = await site.open()
		for (const query of [triangle, 'MATCH wedge', triangle]) {
			await run(page, { graph: 'club', kind: 'count', query })
			await expect.poll(() => said(page)).toBe(query === triangle ? '45 subgraphs' : '528 subgraphs')
		}
		await page.reload()
		const entries = page.locator('.history-query')
		await expect.poll(() => entries.locator('.history-text').allInnerTexts()).toEqual([triangle, 'MATCH wedge'])
		expect(await entries.first().innerText()).toMatch(/club · Count · 45 subgraphs · /)
		await page.getByRole('searchbox', { name: 'Search the history' }).fill('WEDGE count')
		expect(await entries.count()).toBe(1)
		await entries.first().click()
		expect(await text(page)).toBe('MATCH wedge')
		await page.getByRole('button', { name: 'Remove MATCH wedge from the history' }).click()
		await page.getByText('No query has these words.').waitFor()
		await page.getByRole('searchbox').fill('')
		expect(await entries.count()).toBe(1)
		await page.getByRole('button', { name: 'Remove all' }).click()
		expect(await entries.count()).toBe(0)
		await page.reload()
		await page.getByText('Queries that you run are kept in this browser.').waitFor()
	})

	test('has links that open a query again, and the browser goes back', async () => {
		const page = await site.open('', { permissions: ['clipboard-read', 'clipboard-write'] })
		const query = 'MATCH (a)--(b)\nWHERE id(a) = $x // ü & #\nRETURN b'
		await run(page, { graph: 'club', kind: 'match', query, limit: '5', $x: '34', induced: 'true' })
		await counted(page, '5 rows')
		await page.getByRole('button', { name: 'Copy link' }).click()
		await expect.poll(() => said(page)).toBe('Copied the link')
		const link = await page.evaluate(() => navigator.clipboard.readText())
		const other = await site.open(new URL(link).hash)
		expect(await text(other)).toBe(query)
		expect(await other.getByRole('radio', { name: 'List' }).isChecked()).toBe(true)
		expect(await other.getByRole('textbox', { name: 'Limit' }).inputValue()).toBe('5')
		expect(await other.getByRole('textbox', { name: '$x' }).inputValue()).toBe('34')
		expect(await other.getByRole('checkbox', { name: 'Induced' }).isChecked()).toBe(true)
		// It is not run before the user says so.
		expect(await other.getByRole('tabpanel').count()).toBe(0)
		await other.keyboard.press('Control+Enter')
		await counted(other, '5 rows')
		await type(other, 'MATCH wedge RETURN v0')
		await other.keyboard.press('Control+Enter')
		await other.getByRole('columnheader', { name: 'v0' }).waitFor()
		await other.goBack()
		await expect.poll(() => text(other)).toBe(query)
	})

	test('the text and the drawing are the same', async () => {
		const page = await site.open(hash({ graph: 'club', kind: 'count', query: 'MATCH (a)--(b) // kept' }))
		await page.getByText('2 vertices, 1 edge').waitFor()
		await page.locator('.canvas').getByRole('button', { name: 'Vertex', exact: true }).click()
		await expect.poll(() => text(page)).toMatch(/^MATCH \(a\)--\(b\), \(c\) \/\/ kept$/)
		await type(page, 'MATCH (x)--(y)--(z)--(x)')
		await page.getByText('3 vertices, 3 edges').waitFor()
		await page.getByRole('button', { name: 'Drawing' }).click()
		expect(await page.locator('.canvas').count()).toBe(0)
	})

	test('completes the names of the language, the query and the graph', async () => {
		const page = await site.open(hash({ graph: 'pay', kind: 'match', query: '' }))
		await page.getByRole('heading', { name: 'Names' }).waitFor()
		const options = async () => (await page.locator('.cm-completionLabel').allInnerTexts()).slice(0, 3)
		const editor = page.getByRole('textbox', { name: 'Query' })
		await editor.click()
		const complete = async (typed: string, label: string) => {
			await page.keyboard.type(typed)
			await expect.poll(options).toContain(label)
			await page.waitForTimeout(120) // CodeMirror takes no answer right after the list opens
			await page.keyboard.press('Enter')
		}
		await complete('mat', 'MATCH')
		await page.keyboard.type(' (x)-[e:')
		await complete('', 'FEE')
		await page.keyboard.type(']->(y), ')
		await complete('cli', 'clique(k)')
		await page.keyboard.type('3')
		await page.keyboard.press('Control+End')
		await page.keyboard.type(' WH')
		await complete('', 'WHERE')
		await page.keyboard.type(' e.')
		await complete('am', 'amount')
		await page.keyboard.type(' > 30 AND de')
		await complete('', 'deg')
		await page.keyboard.type('x')
		await page.keyboard.press('Control+End')
		await page.keyboard.type(' > 1')
		expect(await text(page)).toBe('MATCH (x)-[e:FEE]->(y), clique(3) WHERE e.amount > 30 AND deg(x) > 1')
		await page.keyboard.type(' RE')
		await expect.poll(options).toContain('RETURN')
		await page.keyboard.press('Tab')
		await expect.poll(() => page.locator('.cm-tooltip-autocomplete').count()).toBe(0)
		expect(await editor.evaluate(e => (e.getRootNode() as ShadowRoot).activeElement === e)).toBe(false)
	})

	test('deletions over lines leave no complaint', async () => {
		const page = await site.open(hash({ graph: 'club', kind: 'count', query: 'MATCH (a)--(b)\nWHERE id(a) = 1\nRETURN a' }))
		const editor = page.getByRole('textbox', { name: 'Query' })
		for (const key of ['Delete', 'Backspace', 'x']) {
			await type(page, 'MATCH (a)--(b)\nWHERE id(a) = 1\nRETURN a')
			await editor.focus()
			await page.keyboard.press('Control+Home')
			await page.keyboard.press('ArrowRight')
			await page.keyboard.press('Shift+ArrowDown')
			await page.keyboard.press('Shift+ArrowDown')
			await page.keyboard.press(key)
			expect(await text(page)).toBe(key === 'x' ? 'MxETURN a' : 'METURN a')
			await page.keyboard.press('Control+a')
		}
		await type(page, triangle)
	}, 30_000)

	test('is dark as the system or as the user says, and stays so', async () => {
		const page = await site.open('', { colorScheme: 'dark' })
		const dark = async () => (await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === 'rgb(22, 25, 30)'
		expect(await dark()).toBe(true)
		await page.getByRole('combobox', { name: 'Colours' }).selectOption('light')
		expect(await dark()).toBe(false)
		await page.reload()
		await page.locator('.page').waitFor()
		expect(await dark()).toBe(false)
		await page.getByRole('combobox', { name: 'Colours' }).selectOption('system')
		expect(await dark()).toBe(true)
	})

	for (const colorScheme of ['light', 'dark'] as const) {
		test(`axe finds nothing wrong in ${colorScheme} mode`, async () => {
			const page = await site.open('', { colorScheme })
			expect(await violations(page)).toEqual([])
			await run(page, { graph: 'club', kind: 'count', query: triangle })
			await page.getByRole('region', { name: 'Answer' }).waitFor()
			expect(await violations(page)).toEqual([])
			await run(page, { graph: 'club', kind: 'match', query: triangle, limit: '9', seconds: '$' })
			await page.getByRole('alert').waitFor()
			await run(page, { graph: 'club', kind: 'match', query: triangle, limit: '9' })
			await counted(page, '9 rows')
			expect(await violations(page)).toEqual([])
			await page.getByRole('tab', { name: 'Picture' }).click()
			await page.locator('.picture-stage[aria-busy=false]').waitFor()
			expect(await violations(page)).toEqual([])
			await run(page, { graph: 'club', kind: 'explain', query: triangle })
			await page.getByRole('region', { name: 'Plan' }).waitFor()
			expect(await violations(page)).toEqual([])
			await run(page, { graph: 'club', kind: 'motifs', k: '4' })
			await page.getByRole('region', { name: 'Census' }).waitFor()
			expect(await violations(page)).toEqual([])
			await run(page, { graph: 'pay', kind: 'count', query: 'MATCH (a:X)-[e:TX {amount: 3}]->(b) WHERE e.time > $t RETRUN a' })
			await page.getByRole('alert').waitFor()
			await page.locator('.names').waitFor()
			await page.getByRole('textbox', { name: 'Query' }).press('Control+Space')
			expect(await violations(page)).toEqual([])
			await page.setViewportSize({ width: 800, height: 900 })
			await page.getByRole('button', { name: 'Graphs and history' }).click()
			expect(await violations(page)).toEqual([])
		})
	}

	test('all is done by keyboard', async () => {
		const page = await site.open()
		const focused = () =>
			page.evaluate(() => {
				let e = document.activeElement!
				while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement
				return e.getAttribute('aria-label') ?? (e as HTMLInputElement).labels?.[0]?.innerText ?? e.textContent
			})
		const tabTo = async (name: RegExp) => {
			for (let i = 0; i < 60; i++) {
				await page.keyboard.press('Tab')
				if (name.test((await focused()) ?? '')) return
			}
			throw new Error(`Tab does not reach ${name}`)
		}
		await tabTo(/^club/)
		await page.keyboard.press('Enter')
		await tabTo(/^Count$/)
		await page.keyboard.press('ArrowRight')
		expect(await page.getByRole('radio', { name: 'List' }).isChecked()).toBe(true)
		await tabTo(/^Query$/)
		await page.keyboard.insertText(triangle)
		await tabTo(/^Limit/)
		await page.keyboard.type('20')
		await tabTo(/^Run/)
		await page.keyboard.press('Enter')
		await counted(page, '20 rows')
		await tabTo(/^Table$/)
		await page.keyboard.press('ArrowRight')
		await page.locator('.picture-stage[aria-busy=false]').waitFor()
		await page.keyboard.press('ArrowLeft')
		await tabTo(/^Rows$/)
		await page.keyboard.press('End')
		await page.keyboard.press('ArrowUp')
		await page.keyboard.press('Enter')
		expect(await page.locator('[aria-sort=ascending]').innerText()).toContain('c')
	})

	test('its graphs and history open over a narrow page', async () => {
		const page = await site.open('', { viewport: { width: 800, height: 700 } })
		const side = page.getByRole('complementary', { name: 'Graphs and history' })
		expect(await side.isVisible()).toBe(false)
		await page.getByRole('button', { name: 'Graphs and history' }).click()
		await side.getByRole('button', { name: /^pay/ }).click()
		await page.getByText('pay 5 vertices').waitFor()
		const wide = await page.evaluate(() => document.documentElement.scrollWidth)
		expect(wide).toBe(800)
	})
})

describe.skipIf(!binary)('the page of a server with users', () => {
	const site = new Site()
	let token = ''
	beforeAll(async () => {
		const users = site.path('users.jsonl')
		site.weft(['user', 'add', '--users', users, 'ana', '--graphs', 'club'], 'pässword\n')
		token = site.weft(['user', 'add', '--users', users, 'robot', '--graphs', 'club', '--token']).trim().split(/\s+/).at(-1)!
		await site.start('--users', users, '-g', `club=${graph('karate.txt')}`, '-g', `pay=${graph('transfers.csv')}`)
	})
	afterAll(() => site.stop())
	afterEach(() => site.settle())

	test('asks for a user and a password, and forgets them at the end', async () => {
		const page = await site.open('', {}, [401])
		expect(await violations(page)).toEqual([])
		await page.getByRole('textbox', { name: 'User' }).fill('ana')
		await page.getByRole('textbox', { name: 'Password' }).fill('wrong')
		await page.keyboard.press('Enter')
		await page.getByRole('alert').waitFor()
		expect(await violations(page)).toEqual([])
		await page.getByRole('textbox', { name: 'Password' }).fill('pässword')
		await page.keyboard.press('Enter')
		await page.locator('.page').waitFor()
		expect(await page.locator('.graphs-name').allInnerTexts()).toEqual(['club'])
		await run(page, { graph: 'club', kind: 'count', query: triangle })
		await expect.poll(() => said(page)).toBe('45 subgraphs')
		await page.reload()
		await page.locator('.page').waitFor()
		const kept = await page.evaluate(() => [JSON.stringify(localStorage), document.cookie, JSON.stringify(sessionStorage)])
		expect(kept[0]).not.toContain('Basic')
		expect(kept[1]).toBe('')
		expect(kept[2]).toContain('Basic')
		await page.getByRole('button', { name: 'Sign out' }).click()
		await page.getByRole('heading', { name: 'Sign in to weft' }).waitFor()
		expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
		await page.reload()
		await page.getByRole('heading', { name: 'Sign in to weft' }).waitFor()
	})

	test('takes a token', async () => {
		const page = await site.open('', {}, [401])
		await page.getByRole('radio', { name: 'Token' }).check()
		await page.getByLabel('Token', { exact: true }).last().fill(token)
		await page.getByRole('button', { name: 'Sign in' }).click()
		await page.locator('.page').waitFor()
		await run(page, { graph: 'club', kind: 'match', query: triangle })
		await counted(page, '45 rows')
	})
})
