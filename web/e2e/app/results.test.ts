import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { binary, counted, graph, run, said, Site, text } from './server'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

describe.skipIf(!binary)('results', () => {
	const site = new Site()
	beforeAll(() => site.start('-g', `club=${graph('karate.txt')}`, '-g', `pay=${graph('transfers.csv')}`, '-g', `kb=${graph('fb15k-237-cut.txt')}`))
	afterAll(() => site.stop())
	afterEach(() => site.settle())

	/** What a button saves by the browser's downloads. */
	async function saved(page: Page, button: string) {
		await page.evaluate(() => delete (window as { showSaveFilePicker?: unknown }).showSaveFilePicker)
		const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button, exact: true }).click()])
		const path = site.path(download.suggestedFilename())
		await download.saveAs(path)
		return { name: download.suggestedFilename(), path }
	}

	test('a plan has its loops, with estimated and actual sizes', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'explain', query: 'MATCH clique(4)' })
		const plan = page.getByRole('region', { name: 'Plan' })
		await plan.waitFor()
		const rows = await plan.getByRole('row').all()
		const cells = await Promise.all(rows.slice(1).map(async r => (await r.getByRole('cell').allInnerTexts()).slice(0, 3)))
		expect(cells).toEqual([
			['for v0 in all vertices with |N| ≥ 3', '22', '22'],
			['for v1 in N(v0)[< v0]', '54', '55'],
			['C1 = N(v0)[< v0] ∩ N(v1)[< v1]', '0.72', ''],
			['for v2 in C1', '39', '35'],
			['C2 = C1 ∩ N(v2)[< v2], only its size', '0.31', ''],
			['S = C2, for v3', '12', '11'],
			['count += |S|', '', ''],
		])
		const left = async (i: number) => (await rows[i]!.getByRole('cell').first().evaluate(e => parseFloat(getComputedStyle(e).paddingLeft))) as number
		expect(await left(2)).toBeGreaterThan(await left(1))
		expect(await plan.innerText()).toMatch(/^Engine\s+host: no join: an edge of the pattern fits most of the graph; expected to be done before a GPU has begun/)
		expect(await plan.locator('.plan-loops rect').count()).toBe(8)
		await plan.getByRole('button', { name: 'As text' }).click()
		expect(await plan.locator('.plan-text').innerText()).toContain('method nest')
		await page.getByRole('checkbox', { name: 'Run it too' }).uncheck()
		await page.keyboard.press('Control+Enter')
		await plan.getByRole('button', { name: 'As text' }).click()
		await expect.poll(() => plan.getByRole('columnheader').allInnerTexts()).toEqual(['Loop', 'Estimated', 'Sizes (logarithmic)'])
	})

	test('a plan in time has its steps', async () => {
		const page = await site.open()
		await run(page, { graph: 'pay', kind: 'explain', query: 'MATCH (a)-[x]->(b)-[y]->(c) ORDERED x < y WITHIN 1h' })
		const first = page.locator('.plan-loop').first()
		await first.waitFor()
		expect(await first.getByRole('cell').allInnerTexts()).toEqual([expect.stringMatching(/^for each edge [xy] from/), '12', '12', ''])
	})

	test('a plan is saved as SVG', async () => {
		const page = await site.open('', { colorScheme: 'dark' })
		await run(page, { graph: 'club', kind: 'explain', query: 'MATCH clique(4)' })
		await page.locator('.plan-loop').first().waitFor()
		const { name, path } = await saved(page, 'Save SVG')
		expect(name).toBe('club-plan.svg')
		const svg = await readFile(path, 'utf8')
		expect(svg).toContain('for v1 in N(v0)[&lt; v0]')
		expect(svg).toContain('fill="rgb(22, 25, 30)"') // the dark page
		expect(svg).toContain('fill="rgb(228, 231, 235)"') // and its ink
		expect(svg).not.toContain('var(')
		expect(svg).not.toContain('class=')
	})

	test('a census has all motifs with bars, and a motif goes into the editor', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'motifs', k: '5' })
		const census = page.getByRole('region', { name: 'Census' })
		const motifs = census.getByRole('button', { name: /: [\d,]+$/ })
		await motifs.first().waitFor()
		expect(await motifs.count()).toBe(21)
		expect(await motifs.first().getAttribute('aria-label')).toBe('path(5): 1,583')
		expect(await motifs.nth(13).locator('line').count()).toBe(7) // a house has 6 edges, and book(3) 7
		const width = async (i: number) => Number(await motifs.nth(i).locator('.census-bar').getAttribute('width'))
		const logarithmic = await width(0)
		await census.getByRole('checkbox', { name: 'Logarithmic scale' }).uncheck()
		expect(await width(1)).toBeGreaterThan(await width(0))
		expect(await width(0)).toBeLessThan(logarithmic)
		await census.getByRole('checkbox', { name: 'Most frequent first' }).check()
		expect(await motifs.first().getAttribute('aria-label')).toBe('fork: 3,117')

		const { name, path } = await saved(page, 'Save SVG')
		expect(name).toBe('club-census.svg')
		expect((await readFile(path, 'utf8')).match(/3,117/g)).toHaveLength(2)

		await motifs.first().focus()
		await page.keyboard.press('End')
		await page.keyboard.press('ArrowUp')
		const chosen = (await page.evaluate(() => document.activeElement!.getAttribute('aria-label')))!
		await page.keyboard.press('Enter')
		const [motif, number] = chosen.split(': ')
		const plain = /^[\w:]+(\([\d,]+\))?$/.test(motif!)
		expect(await text(page)).toBe(`MATCH INDUCED ${plain ? motif : `\`${motif}\``}`)
		await page.keyboard.press('Control+Enter')
		await expect.poll(() => said(page)).toBe(`${number} subgraphs`)
		// The census stays, because it is about the same graph.
		expect(await page.getByRole('tab').allInnerTexts()).toEqual(['Answer', 'Census'])
	})

	test('a census of a directed graph has all 199 motifs of four vertices', async () => {
		const page = await site.open()
		await run(page, { graph: 'kb', kind: 'motifs', k: '4' })
		const census = page.getByRole('region', { name: 'Census' })
		await census.getByRole('checkbox', { name: 'Motifs that do not occur' }).check()
		expect(await census.locator('.census-row').count()).toBe(199)
		expect(await census.locator('.census-row:has(line)').count()).toBe(199)
		expect(await census.locator('.census-row:has(polygon)').count()).toBe(199)
		await page.getByRole('checkbox', { name: 'With directions' }).uncheck()
		await page.keyboard.press('Control+Enter')
		await expect.poll(() => census.locator('.census-row').count()).toBe(6)
		expect(await census.locator('.census-row:has(line)').count()).toBe(6)
		expect(await census.locator('polygon').count()).toBe(0)
	})

	test('rows are saved as CSV, JSON and Arrow', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'match', query: 'MATCH (a)--(b) WHERE id(a) < id(b) RETURN a AS src, b AS dst' })
		await counted(page, '78 rows')
		const csv = await saved(page, 'CSV')
		expect(csv.name).toBe('club.csv')
		const lines = (await readFile(csv.path, 'utf8')).trim().split('\n')
		expect(lines[0]).toBe('src,dst')
		const edges = (await readFile(graph('karate.txt'), 'utf8')).split('\n').filter(l => /^\d/.test(l))
		const ordered = (line: string) => line.split(/[\s,]+/).map(Number).sort((a, b) => a - b).join()
		expect(lines.slice(1).map(ordered).sort()).toEqual(edges.map(ordered).sort())
		await expect.poll(() => said(page)).toBe('Saved club.csv')

		const json = JSON.parse(await readFile((await saved(page, 'JSON')).path, 'utf8')) as { rows: unknown[] }
		expect(json.rows).toHaveLength(78)

		const arrow = await saved(page, 'Arrow')
		expect(arrow.name).toBe('club.arrows')
		expect(JSON.parse(site.weft(['count', '-g', arrow.path, '--format', 'arrow', '--pattern', 'triangle', '--to', 'json']))).toMatchObject({ subgraphs: 45 })
	})

	test('a file of a result that is cut short says so, also where the table was whole', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'match', query: 'MATCH (a)--(b)', limit: '7' })
		await counted(page, '7 rows')
		for (const [button, end] of [
			['CSV', 'csv'],
			['Arrow', 'arrows'],
			['JSON', 'json'],
		] as const) {
			expect((await saved(page, button)).name).toBe(`club-cut.${end}`)
			await page.locator('.results').getByText(`Saved club-cut.${end}, cut short: the limit of this request`).waitFor()
			await expect.poll(() => said(page)).toBe(`Saved club-cut.${end}, cut short: the limit of this request`)
		}
		await page.getByRole('tab', { name: 'Picture' }).click()
		await page.locator('.picture-box > *').first().waitFor()
		await page.locator('.picture-stage[aria-busy=false]').waitFor()
		expect((await saved(page, 'Save SVG')).name).toBe('matches-cut.svg')

		// The table is whole, and the server ends the export: it is the same query with a limit.
		await run(page, { graph: 'club', kind: 'match', query: 'MATCH (a)--(b) RETURN a, b' })
		await counted(page, '156 rows')
		await page.route('**/v1/match', r => r.continue({ postData: JSON.stringify({ ...(r.request().postDataJSON() as object), limit: 5 }) }))
		const csv = await saved(page, 'CSV')
		expect(csv.name).toBe('club-cut.csv')
		expect((await readFile(csv.path, 'utf8')).trim().split('\n')).toHaveLength(6)
	})

	test('a plan and a census of a search that was cut short say so in the names of their files', async () => {
		const page = await site.open()
		const cut = (path: string) => page.route(`**/v1/${path}`, async r => {
			const answer = await r.fetch()
			const body = (await answer.json()) as { run: object }
			await r.fulfill({ response: answer, json: { ...body, run: { ...body.run, complete: false, cut: 'time' } } })
		})
		await cut('explain')
		await cut('motifs')
		await run(page, { graph: 'club', kind: 'explain', query: 'MATCH clique(4)' })
		await page.locator('.plan-loop').first().waitFor()
		expect((await saved(page, 'Save SVG')).name).toBe('club-plan-cut.svg')
		await run(page, { graph: 'club', kind: 'motifs', k: '3' })
		await page.getByRole('region', { name: 'Census' }).waitFor()
		expect((await saved(page, 'Save SVG')).name).toBe('club-census-cut.svg')
	})

	test('rows go straight into a file where the browser can write one', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'match', query: 'MATCH (a)--(b)' })
		await counted(page, '78 rows')
		// The file of the browser's own folder stands for the one that the user would choose in a window.
		await page.evaluate(() => {
			Object.assign(window, {
				async showSaveFilePicker({ suggestedName }: { suggestedName: string }) {
					return (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true })
				},
			})
		})
		await page.getByRole('button', { name: 'CSV', exact: true }).click()
		await expect.poll(() => said(page)).toBe('Saved club.csv')
		const content = await page.evaluate(async () => (await (await (await navigator.storage.getDirectory()).getFileHandle('club.csv')).getFile()).text())
		expect(content.trim().split('\n')).toHaveLength(79)
		// The name that is offered says what the page knows before, and the file gets another one where it knows only afterwards.
		await page.route('**/v1/match', r => r.continue({ postData: JSON.stringify({ ...(r.request().postDataJSON() as object), limit: 5 }) }))
		await page.getByRole('button', { name: 'Arrow', exact: true }).click()
		await expect.poll(() => said(page)).toBe('Saved club-cut.arrows, cut short: the limit of this request')
		await page.unroute('**/v1/match')
		await run(page, { graph: 'club', kind: 'match', query: 'MATCH (a)--(b)', limit: '9' })
		await counted(page, '9 rows')
		await page.getByRole('button', { name: 'CSV', exact: true }).click()
		await expect.poll(() => said(page)).toBe('Saved club-cut.csv, cut short: the limit of this request')
		const names = await page.evaluate(async () => {
			const names: string[] = []
			for await (const name of (await navigator.storage.getDirectory() as unknown as { keys(): AsyncIterable<string> }).keys()) names.push(name)
			return names.sort()
		})
		expect(names).toEqual(['club-cut.arrows', 'club-cut.csv', 'club.csv'])
	})

	test('the picture shows the matches of the table', async () => {
		const page = await site.open()
		await run(page, { graph: 'pay', kind: 'match', query: 'MATCH (a)-[e]->(b)-[f]->(c) RETURN a, b, c, e, f' })
		await page.getByRole('gridcell').first().waitFor()
		await page.getByRole('tab', { name: 'Picture' }).click()
		await page.locator('.picture-stage[aria-busy=false]').waitFor()
		expect(await page.locator('.picture').innerText()).toMatch(/5 vertices and \d+ edges/)
	})

	test('the picture does not wait for edges that it needs no more once the pattern is known', async () => {
		const page = await site.open()
		const later = (ms: number) => new Promise(done => setTimeout(done, ms))
		await page.route('**/v1/parse', async r => (await later(1500), r.continue()))
		await page.route('**/v1/match', async r => {
			if (r.request().postData()!.includes('id(y) IN')) return // it is never answered
			await r.continue()
		})
		await run(page, { graph: 'club', kind: 'match', query: 'MATCH (a)--(b)--(c)--(a)' })
		await counted(page, '45 rows')
		await page.getByRole('tab', { name: 'Picture' }).click()
		await page.getByText('Asking the graph…').waitFor()
		await page.locator('.picture-stage[aria-busy=false]').waitFor({ timeout: 10_000 })
		expect(await page.getByText('Asking the graph…').count()).toBe(0)
	})
})
