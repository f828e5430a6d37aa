import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { binary, counted, graph, hash, run, said, Site, text, type } from './server'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 })

// The text of the editor's placeholder is another one.
const triangle = 'MATCH (x)--(y)--(z)--(x)'
const entries = (page: Page) => page.locator('.history-text').allInnerTexts()

async function count(page: Page, query: string, subgraphs: string) {
	await run(page, { graph: 'club', kind: 'count', query })
	await expect.poll(() => said(page)).toBe(`${subgraphs} subgraphs`)
}

describe.skipIf(!binary)('what the page keeps', () => {
	const site = new Site()
	beforeAll(() => site.start('-g', `club=${graph('karate.txt')}`, '-g', `pay=${graph('transfers.csv')}`, '-g', `face=${graph('ego-facebook.txt.gz')}`))
	afterAll(() => site.stop())
	afterEach(() => site.settle())

	test('the history of two tabs is one, which both show', async () => {
		const one = await site.open()
		const other = await site.tab(one.context())
		await count(one, triangle, '45')
		await expect.poll(() => entries(other)).toEqual([triangle])
		await count(other, 'MATCH wedge', '528')
		await expect.poll(() => entries(one)).toEqual(['MATCH wedge', triangle])
		await one.getByRole('button', { name: 'Remove MATCH wedge from the history' }).click()
		await expect.poll(() => entries(other)).toEqual([triangle])
		await count(other, 'MATCH edge', '78')
		await other.reload()
		await expect.poll(() => entries(other)).toEqual(['MATCH edge', triangle])
	})

	test('a text that was not run is there in the next tab, and after a reload', async () => {
		const page = await site.open()
		await count(page, triangle, '45')
		await type(page, 'MATCH (begun)--(b)')
		await page.getByRole('textbox', { name: 'Limit' }).fill('7')
		await page.reload()
		await expect.poll(() => text(page)).toBe('MATCH (begun)--(b)')
		const context = page.context()
		await page.close()
		const next = await site.tab(context)
		await expect.poll(() => text(next)).toBe('MATCH (begun)--(b)')
		expect(await next.getByRole('textbox', { name: 'Limit' }).inputValue()).toBe('7')
		// A link is what it says.
		const link = await site.tab(context, hash({ graph: 'club', kind: 'count', query: triangle }))
		await expect.poll(() => text(link)).toBe(triangle)
		await next.keyboard.press('Control+Enter')
		await next.getByRole('region', { name: 'Answer' }).waitFor()
		const last = await site.tab(context)
		await last.getByRole('heading', { name: 'Examples for club' }).waitFor()
		expect((await text(last)).trim()).toBe('MATCH (a)--(b)--(c)--(a)') // the placeholder of an empty text
	})

	for (const [says, spoil] of [
		[
			'blocks storage',
			() => {
				for (const name of ['localStorage', 'sessionStorage'])
					Object.defineProperty(window, name, {
						get() {
							throw new DOMException('blocked', 'SecurityError')
						},
					})
			},
		],
		[
			'has no room',
			() => {
				Storage.prototype.setItem = () => {
					throw new DOMException('full', 'QuotaExceededError')
				}
			},
		],
	] as const) {
		test(`all works in a browser that ${says}`, async () => {
			const page = await site.open()
			await page.context().addInitScript(spoil)
			await page.goto('about:blank')
			await page.goto(site.url)
			await page.locator('.page').waitFor()
			await page.getByRole('combobox', { name: 'Colours' }).selectOption('dark')
			expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(22, 25, 30)')
			await count(page, triangle, '45')
			await count(page, 'MATCH wedge', '528')
			expect(await entries(page)).toEqual(['MATCH wedge', triangle])
			await type(page, 'MATCH (begun)')
			await page.waitForTimeout(500) // a draft would be kept by now
			await page.getByRole('button', { name: 'Remove all' }).click()
			expect(await entries(page)).toEqual([])
		})
	}

	test('the results are those of the query in the address, back and forward', async () => {
		const page = await site.open()
		await count(page, triangle, '45')
		await run(page, { graph: 'club', kind: 'match', query: 'MATCH (a)--(b)' })
		await counted(page, '78 rows')
		await page.goBack()
		await expect.poll(() => text(page)).toBe(triangle)
		await expect.poll(() => page.getByRole('tabpanel').count()).toBe(0)
		await page.keyboard.press('Control+Enter')
		await expect.poll(() => said(page)).toBe('45 subgraphs')
		await page.goForward()
		await expect.poll(() => text(page)).toBe('MATCH (a)--(b)')
		await expect.poll(() => page.getByRole('tabpanel').count()).toBe(0)
		await page.goBack()
		await page.goBack()
		await page.getByRole('heading', { name: 'Examples for club' }).waitFor()
		await page.goForward()
		await expect.poll(() => text(page)).toBe(triangle)
	})

	test('a query that fails leaves the results and the address of the one before', async () => {
		const page = await site.open('', {}, [422])
		await count(page, triangle, '45')
		const address = page.url()
		await type(page, 'MATCH (a)--(b) RETRUN a')
		await page.keyboard.press('Control+Enter')
		await page.getByRole('alert').waitFor()
		expect(page.url()).toBe(address)
		expect(await page.getByRole('region', { name: 'Answer' }).innerText()).toContain('45')
		await type(page, 'MATCH wedge')
		await page.keyboard.press('Control+Enter')
		await expect.poll(() => said(page)).toBe('528 subgraphs')
		expect(new URL(page.url()).hash).toBe(hash({ graph: 'club', kind: 'count', query: 'MATCH wedge' }))
		await page.goBack()
		await expect.poll(() => text(page)).toBe(triangle)
		expect(page.url()).toBe(address)
	})

	test('a query that runs is ended by going back, and its results do not come', async () => {
		const page = await site.open()
		await count(page, triangle, '45')
		await run(page, { graph: 'face', kind: 'match', query: 'MATCH cycle(6) WHERE id(v0) < id(v1)' })
		await page.getByRole('gridcell').first().waitFor()
		await page.goBack()
		await expect.poll(() => page.getByRole('tabpanel').count()).toBe(0)
		await page.keyboard.press('Control+Enter')
		await expect.poll(() => said(page)).toBe('45 subgraphs')
		await expect.poll(async () => ((await (await page.request.get(`${site.url}v1/running`)).json()) as { running: unknown[] }).running).toEqual([])
		expect(await page.getByRole('tab').allInnerTexts()).toEqual(['Answer'])
		expect(await entries(page)).toEqual([triangle])
	})

	test('a copied link does not put another query above the results', async () => {
		const page = await site.open('', { permissions: ['clipboard-read', 'clipboard-write'] })
		await count(page, triangle, '45')
		const address = page.url()
		await type(page, 'MATCH wedge')
		await page.getByRole('button', { name: 'Copy link' }).click()
		await expect.poll(() => said(page)).toBe('Copied the link')
		expect(page.url()).toBe(address)
		expect(new URL(await page.evaluate(() => navigator.clipboard.readText())).hash).toBe(hash({ graph: 'club', kind: 'count', query: 'MATCH wedge' }))
	})

	test('a link to a graph that is not there says so, and keeps the text', async () => {
		const page = await site.open(hash({ graph: 'gone', kind: 'count', query: triangle }))
		await page.getByRole('alert').getByText('This server has no graph gone').waitFor()
		expect(await text(page)).toBe(triangle)
		await page.getByRole('button', { name: /^club/ }).click()
		await expect.poll(() => page.getByRole('alert').count()).toBe(0)
		await page.keyboard.press('Control+Enter')
		await expect.poll(() => said(page)).toBe('45 subgraphs')
	})

	test('the list of graphs follows the server', async () => {
		const page = await site.open('', {}, [404])
		const names = () => page.locator('.graphs-name').allInnerTexts()
		const change = (method: 'DELETE' | 'PUT') => page.request.fetch(`${site.url}v1/graphs/pay`, { method })
		expect(await names()).toEqual(['club', 'face', 'pay'])
		await page.getByRole('button', { name: /^pay/ }).click()
		await type(page, 'MATCH (a)-->(b)')
		expect((await change('DELETE')).ok()).toBe(true)
		// An error of the server brings the new list, and the text stays.
		await page.keyboard.press('Control+Enter')
		await expect.poll(names).toEqual(['club', 'face'])
		await page.getByRole('alert').waitFor()
		expect(await text(page)).toBe('MATCH (a)-->(b)')
		expect((await change('PUT')).ok()).toBe(true)
		await page.getByRole('button', { name: /^club/ }).focus()
		await expect.poll(names).toEqual(['club', 'face', 'pay'])
	})

	test('the list of graphs is asked for again after a while', async () => {
		const page = await site.open()
		await page.clock.install()
		await page.reload()
		const names = () => page.locator('.graphs-name').allInnerTexts()
		await expect.poll(names).toEqual(['club', 'face', 'pay'])
		const change = (method: 'DELETE' | 'PUT') => page.request.fetch(`${site.url}v1/graphs/pay`, { method })
		expect((await change('DELETE')).ok()).toBe(true)
		await page.clock.fastForward(31_000)
		await expect.poll(names).toEqual(['club', 'face'])
		expect((await change('PUT')).ok()).toBe(true)
		await page.clock.fastForward(31_000)
		await expect.poll(names).toEqual(['club', 'face', 'pay'])
	})

	test('parameters with names in back quotes, and one called constructor', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'match', query: 'MATCH (a)--(b) WHERE id(a) = $`my name` AND id(b) <> $constructor RETURN b' })
		await page.getByRole('alert').getByText('The parameter $`my name` has no value.').waitFor()
		await page.getByRole('textbox', { name: '$`my name`' }).fill('12')
		await page.getByRole('textbox', { name: '$constructor' }).fill('2')
		await page.keyboard.press('Control+Enter')
		await counted(page, '1 row')
		expect(await page.getByRole('gridcell').allInnerTexts()).toEqual(['1'])
		await page.reload()
		expect(await page.getByRole('textbox', { name: '$`my name`' }).inputValue()).toBe('12')
	})
})

describe.skipIf(!binary)('what the page keeps of users', () => {
	const site = new Site()
	const tokens: Record<string, string> = {}
	beforeAll(async () => {
		const users = site.path('users.jsonl')
		for (const user of ['ana', 'bob']) site.weft(['user', 'add', '--users', users, user, '--graphs', 'club'], `password of ${user}\n`)
		for (const user of ['robot', 'other']) tokens[user] = site.weft(['user', 'add', '--users', users, user, '--graphs', 'club', '--token']).trim().split(/\s+/).at(-1)!
		await site.start('--users', users, '-g', `club=${graph('karate.txt')}`)
	})
	afterAll(() => site.stop())
	afterEach(() => site.settle())

	async function signIn(page: Page, user: string) {
		const token = tokens[user]
		if (token) {
			await page.getByRole('radio', { name: 'Token' }).check()
			await page.getByLabel('Token', { exact: true }).last().fill(token)
		} else {
			await page.getByRole('textbox', { name: 'User' }).fill(user)
			await page.getByRole('textbox', { name: 'Password' }).fill(`password of ${user}`)
		}
		await page.getByRole('button', { name: 'Sign in' }).click()
		await page.locator('.page').waitFor()
	}
	const signOut = async (page: Page) => {
		await page.getByRole('button', { name: 'Sign out' }).click()
		await page.getByRole('heading', { name: 'Sign in to weft' }).waitFor()
	}

	for (const [first, second] of [
		['ana', 'bob'],
		['robot', 'other'],
	] as const) {
		test(`nothing of ${first} is there for ${second}`, async () => {
			const page = await site.open('', {}, [401])
			await signIn(page, first)
			await count(page, triangle, '45')
			await type(page, 'MATCH (secret)--(b)')
			await page.waitForTimeout(500)
			await signOut(page)
			expect(page.url()).toBe(site.url)
			await signIn(page, second)
			await page.getByRole('heading', { name: 'Examples for club' }).waitFor()
			const shown = () => page.locator('body').innerText()
			expect(await shown()).toContain('Queries that you run are kept in this browser.')
			expect(await shown()).not.toContain('45 subgraphs')
			// The browser's own way back leads to no query of the former user.
			await page.goBack()
			await page.locator('.page, .sign-in').waitFor()
			await page.waitForTimeout(300)
			if (page.url().startsWith(site.url)) {
				expect(new URL(page.url()).hash).toBe('')
				expect(await page.evaluate(() => document.body.innerText)).not.toContain('secret')
			}
			await page.goto(site.url)
			await signOut(page)
			await signIn(page, first)
			await expect.poll(() => text(page)).toBe('MATCH (secret)--(b)')
			expect(await entries(page)).toEqual([triangle])
		})
	}

	test('a link is there after signing in', async () => {
		const page = await site.open(hash({ graph: 'club', kind: 'count', query: triangle }), {}, [401])
		await page.getByRole('textbox', { name: 'User' }).fill('ana')
		await page.getByRole('textbox', { name: 'Password' }).fill('wrong')
		await page.getByRole('button', { name: 'Sign in' }).click()
		await page.getByRole('alert').waitFor()
		// The form fits a narrow window.
		await page.setViewportSize({ width: 320, height: 600 })
		expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
		await signIn(page, 'ana')
		await expect.poll(() => text(page)).toBe(triangle)
		expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
	})
})
