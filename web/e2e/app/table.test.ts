import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { binary, counted, graph, run, said, Site } from './server'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 })

describe.skipIf(!binary)('the table', () => {
	const site = new Site()
	beforeAll(() => site.start('-g', `club=${graph('karate.txt')}`, '-g', `pay=${graph('transfers.csv')}`, '-g', `face=${graph('ego-facebook.txt.gz')}`))
	afterAll(() => site.stop())
	afterEach(() => site.settle())

	test('has the rows of the search, also those that are scrolled to', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'match', query: 'MATCH (a)--(b)--(c)--(a)' })
		await counted(page, '45 rows')
		const seen = new Map<string, string>()
		const read = async () => {
			for (const row of await page.getByRole('grid').getByRole('row').all()) {
				seen.set((await row.getAttribute('aria-rowindex'))!, (await row.getByRole('gridcell').allInnerTexts()).join(' '))
			}
		}
		await read()
		expect(seen.size).toBeLessThan(30)
		for (const last of [25, 36, 46]) {
			await page.getByRole('grid').evaluate((g, last) => (g.scrollTop = last * 24 - g.clientHeight + 5), last)
			await page.locator(`[aria-rowindex="${last}"]`).waitFor()
			await read()
		}
		seen.delete('1')
		const rows = site.weft(['match', '-g', graph('karate.txt'), 'MATCH (a)--(b)--(c)--(a)', '--to', 'csv']).trim().split('\n').slice(1)
		expect([...seen.values()].sort()).toEqual(rows.map(r => r.replaceAll(',', ' ')).sort())
		expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('46')
	})

	test('is sorted by a click and by keyboard', async () => {
		const page = await site.open()
		await run(page, { graph: 'pay', kind: 'match', query: 'MATCH (a)-[e]->(b) RETURN a, e.amount AS amount, e' })
		await counted(page, '12 rows')
		const column = (n: number) => page.locator(`[role=gridcell][aria-colindex="${n}"]`).allInnerTexts()
		const before = await column(2)
		await page.getByRole('columnheader', { name: 'amount' }).click()
		const sorted = before.map(Number).sort((a, b) => a - b)
		expect(await column(2)).toEqual(sorted.map(String))
		await page.keyboard.press('Enter')
		expect(await column(2)).toEqual(sorted.reverse().map(String))
		expect(await said(page)).toBe('Sorted by amount, descending')
		await page.keyboard.press('ArrowLeft')
		await page.keyboard.press(' ')
		const names = await column(1)
		expect(names).toEqual([...names].sort())
		expect(await page.getByRole('columnheader', { name: 'a', exact: true }).getAttribute('aria-sort')).toBe('ascending')
		await page.keyboard.press(' ')
		await page.keyboard.press(' ')
		expect(await column(2)).toEqual(before)
	})

	test('shows edges by their ends, and all of them in what is copied', async () => {
		const page = await site.open('', { permissions: ['clipboard-read', 'clipboard-write'] })
		await run(page, { graph: 'pay', kind: 'match', query: "MATCH (a)-[e]->(b) WHERE e.amount = 900 RETURN a, e, b.none AS none" })
		await counted(page, '1 row')
		expect(await page.getByRole('gridcell').allInnerTexts()).toEqual(['ann', 'ann–bob', 'null'])
		await page.getByRole('gridcell', { name: 'ann–bob' }).click()
		await page.keyboard.press('Control+c')
		await expect.poll(() => said(page)).toBe('Copied the cell')
		expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('ann–bob · label TX · time 2024-03-01T08:00:00Z · amount 900')
		await page.keyboard.press('Control+Shift+C')
		await expect.poll(() => said(page)).toBe('Copied the row')
		expect((await page.evaluate(() => navigator.clipboard.readText())).split('\t')).toHaveLength(3)
	})

	test('has columns that keep their widths while rows load, and can be made wider', async () => {
		const page = await site.open()
		const head = (n: number) => page.getByRole('columnheader').nth(n)
		const width = async (n: number) => (await head(n).boundingBox())!.width
		// The first rows have short values, and later ones have longer ones.
		const line = (i: number) => JSON.stringify({ a: 'x'.repeat(i < 50 ? 9 : 30), b: i })
		const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => line(from + i)).join(',\n')
		await page.evaluate(
			([first, later]) => {
				const real = window.fetch
				window.fetch = async (at, init) => {
					if (!String(at).endsWith('/match')) return real(at, init)
					const bytes = new TextEncoder()
					const body = new ReadableStream<Uint8Array>({
						async start(to) {
							to.enqueue(bytes.encode(`{"rows":[\n${first},\n`))
							await new Promise<void>(done => Object.assign(window, { more: done }))
							to.enqueue(bytes.encode(`${later}\n]\n,"run":{"id":1,"complete":true,"waited_seconds":0,"seconds":1}}`))
							to.close()
						},
					})
					return new Response(body, { headers: { 'Weft-Run': '1' } })
				}
			},
			[rows(0, 50), rows(50, 300)] as const,
		)
		await run(page, { graph: 'club', kind: 'match', query: 'MATCH (a)--(b)' })
		await counted(page, '50 rows')
		const before = [await width(0), await width(1)]
		// One that the user makes wider while rows load stays so.
		const grip = (await head(1).locator('.table-grip').boundingBox())!
		await page.mouse.move(grip.x + 4, grip.y + 10)
		await page.mouse.down()
		await page.mouse.move(grip.x + 4 + 70, grip.y + 10, { steps: 5 })
		await page.mouse.up()
		expect(await width(1)).toBe(before[1]! + 70)
		await page.evaluate(() => (window as unknown as { more(): void }).more())
		await counted(page, '300 rows')
		expect([await width(0), await width(1)]).toEqual([before[0], before[1]! + 70])
		expect(await page.locator('[aria-sort=ascending]').count()).toBe(0)
		await page.getByRole('grid').focus()
		await page.keyboard.press('Control+End')
		await page.locator('[aria-rowindex="301"]').waitFor()
		await head(0).locator('.table-grip').dblclick()
		const cell = page.getByRole('gridcell', { name: 'x'.repeat(30) }).first()
		expect(await cell.evaluate(e => e.scrollWidth <= e.clientWidth)).toBe(true)
		await page.getByRole('grid').focus()
		const fitted = await width(1)
		await page.keyboard.press('Shift+ArrowRight')
		await page.keyboard.press('Shift+ArrowRight')
		await page.keyboard.press('Shift+ArrowLeft')
		expect(await width(1)).toBe(fitted + 16)
		expect(await said(page)).toBe(`b is ${fitted + 16} pixels wide`)
		for (let i = 0; i < 40; i++) await page.keyboard.press('Shift+ArrowLeft')
		expect(await width(1)).toBe(40)
	})

	test('is walked by keyboard, and tells where one is', async () => {
		const page = await site.open()
		await run(page, { graph: 'face', kind: 'match', query: 'MATCH (a)--(b)' })
		await counted(page, '88,234 rows')
		const grid = page.getByRole('grid')
		await grid.focus()
		const at = async () => {
			const id = await grid.getAttribute('aria-activedescendant')
			return page.locator(`[id="${id}"]`).evaluate(e => [e.parentElement!.getAttribute('aria-rowindex'), e.getAttribute('aria-colindex')])
		}
		expect(await at()).toEqual(['2', '1'])
		await page.keyboard.press('ArrowRight')
		await page.keyboard.press('ArrowDown')
		expect(await at()).toEqual(['3', '2'])
		await page.keyboard.press('Control+End')
		expect(await at()).toEqual(['88235', '2'])
		await page.keyboard.press('PageUp')
		expect(Number((await at())[0])).toBeLessThan(88230)
		await page.keyboard.press('Control+Home')
		await page.keyboard.press('ArrowUp')
		expect(await at()).toEqual(['1', '1'])
	})

	test('takes more than a million rows, and is at their end in less than a second', async () => {
		const page = await site.open()
		await run(page, { graph: 'face', kind: 'match', query: 'MATCH triangle(a, b, c)' })
		await counted(page, '1,612,010 rows')
		await page.getByRole('button', { name: /^Run/ }).waitFor()
		const grid = page.getByRole('grid')
		const time = await grid.evaluate(async g => {
			const begin = performance.now()
			g.scrollTop = g.scrollHeight
			while (!g.querySelector('[aria-rowindex="1612011"]')) await new Promise(requestAnimationFrame)
			return performance.now() - begin
		})
		expect(time).toBeLessThan(1000)
		// Small steps move by rows, also where the bar stands for more of them than its height.
		const first = () => grid.evaluate(g => Number(g.querySelectorAll('[aria-rowindex]')[1]!.getAttribute('aria-rowindex')))
		const last = await first()
		await grid.hover()
		await page.mouse.wheel(0, -240)
		await expect.poll(async () => Math.abs(last - 10 - (await first()))).toBeLessThanOrEqual(1)
		await grid.evaluate(g => (g.scrollTop = g.scrollHeight / 2))
		await expect.poll(async () => Math.abs((await first()) - 800_000)).toBeLessThan(100_000) // it was at the end before
		await page.getByRole('columnheader', { name: 'b' }).click()
		await page.locator('[aria-sort=ascending]').waitFor()
		const values = (await page.locator('[role=gridcell][aria-colindex="2"]').allInnerTexts()).map(Number)
		expect(values).toEqual([...values].sort((a, b) => a - b))
	})

	test('stops when it has as many rows as it keeps, and says so', async () => {
		const page = await site.open()
		await run(page, { graph: 'face', kind: 'match', query: 'MATCH clique(4)' })
		await page.getByText('Cut short: the page keeps about 5,000,000 rows at most', { exact: true }).waitFor({ timeout: 60_000 })
		await counted(page, '5,000,000 rows')
		const { running } = (await (await page.request.get(`${site.url}v1/running`)).json()) as { running: unknown[] }
		expect(running).toEqual([])
		await page.getByRole('grid').focus()
		await page.keyboard.press('Control+End')
		await page.locator('[aria-rowindex="5000001"]').waitFor()
	})
})
