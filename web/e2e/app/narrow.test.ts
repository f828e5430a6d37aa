import { writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { binary, counted, graph, hash, run, Site } from './server'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 })

/** What is beyond the sides of the window, or cut off, and cannot be reached by scrolling its own box. */
function beyond(page: Page): Promise<string[]> {
	return page.evaluate(() => {
		const out: string[] = []
		const width = document.documentElement.clientWidth
		for (const e of document.querySelectorAll('html, body, .page, .main, .side, .top, .results-body'))
			if (e.scrollWidth > e.clientWidth && e.clientWidth) out.push(`${e.tagName}.${e.className} is ${e.scrollWidth} wide in ${e.clientWidth}`)
		const scrolled = (e: Element) => e.closest('.table, .plan-scroll, .plan-text, .mistake pre, .hidden, .side-switch span, svg') !== null
		for (const e of document.querySelectorAll('button, input, select, label, p, h1, h2, h3, code, caption, dt, dd, span')) {
			const r = e.getBoundingClientRect()
			if (!r.width || !r.height || scrolled(e) || getComputedStyle(e).clipPath !== 'none') continue
			const name = `${e.tagName}.${e.className} “${(e.textContent ?? '').slice(0, 30)}”`
			if (r.right > width + 1 || r.left < -1) out.push(`${name} from ${r.left} to ${r.right} of ${width}`)
			if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth && e.tagName !== 'INPUT' && getComputedStyle(e).display !== 'inline') out.push(`${name} has ${e.scrollWidth} in ${e.clientWidth}`)
		}
		return [...new Set(out)]
	})
}

/** Parts that one would see through each other. */
function overlaps(page: Page, ...selectors: string[]): Promise<string[]> {
	return page.evaluate(selectors => {
		const all = selectors.flatMap(s => [...document.querySelectorAll(s)].map(e => [s, e.getBoundingClientRect()] as const))
		return all.flatMap(([s, a], i) => all.slice(i + 1).flatMap(([t, b]) => (a.top < b.bottom - 1 && b.top < a.bottom - 1 && a.left < b.right - 1 && b.left < a.right - 1 ? [`${s} and ${t}`] : [])))
	}, selectors)
}

describe.skipIf(!binary)('a narrow window', () => {
	const site = new Site()
	const long = `a_label_without_a_place_to_break_${'x'.repeat(60)}`
	beforeAll(async () => {
		const lines = Array.from({ length: 150 }, (_, i) => `v${i % 30},v${(7 * i + 1) % 30},${i ? `/people/person/places_lived/of_number_${i}/location` : long}`)
		writeFileSync(site.path('labels.csv'), ['src,dst,label', ...lines].join('\n'))
		await site.start('-g', `club=${graph('karate.txt')}`, '-g', `pay=${graph('transfers.csv')}`, '-g', `kb=${graph('fb15k-237-cut.txt')}`, '-g', `labels=${site.path('labels.csv')}`)
	})
	afterAll(() => site.stop())
	afterEach(() => site.settle())

	for (const width of [320, 390, 480, 640]) {
		test(`of ${width} pixels has all of the page, without scrolling to the side`, async () => {
			const page = await site.open('', { viewport: { width, height: 720 } }, [422])
			expect(await beyond(page)).toEqual([])
			const ask = async (fields: Record<string, string>, wait: () => Promise<void>) => {
				await run(page, fields)
				await wait()
				expect(await beyond(page), fields.kind).toEqual([])
			}
			await ask({ graph: 'club', kind: 'count', query: 'MATCH (a)--(b)--(c)--(a)' }, () => page.getByRole('region', { name: 'Answer' }).waitFor())
			await ask({ graph: 'pay', kind: 'match', query: 'MATCH (a)-[x]->(b)-[y]->(c) WHERE x.amount > $`least amount`', limit: '9', '$least amount': '1' }, () => counted(page, '9 rows'))
			await ask({ graph: 'club', kind: 'match', query: 'MATCH (a)--(b)--(c)--(a)' }, async () => {
				await counted(page, '45 rows')
				await page.getByRole('tab', { name: 'Picture' }).click()
				await page.locator('.picture-stage[aria-busy=false]').waitFor()
			})
			expect(await overlaps(page, '.picture-tools', '.picture-stage', '.picture-side', '.picture-foot')).toEqual([])
			await ask({ graph: 'club', kind: 'explain', query: 'MATCH clique(5)' }, () => page.getByRole('region', { name: 'Plan' }).waitFor())
			await ask({ graph: 'kb', kind: 'motifs', k: '4' }, () => page.locator('.census-row').first().waitFor())
			const texts = await page.locator('.census-box').evaluate(box => {
				const { right } = box.getBoundingClientRect()
				return [...box.querySelectorAll('text')].filter(t => t.getBoundingClientRect().right > right).length
			})
			expect(texts).toBe(0)
			await ask({ graph: 'club', kind: 'match', query: 'MATCH (a)--(b)--(c)--(a), (a)--(d)--(e)--(f)--(g)--(h)\nRETRUN a' }, () => page.getByRole('alert').waitFor())
		})
	}

	test('shows long labels whole, in the names, the examples and the completion', async () => {
		const page = await site.open(hash({ graph: 'labels', kind: 'count', query: '' }), { viewport: { width: 320, height: 720 } })
		await page.locator('.names').waitFor({ state: 'attached' })
		expect(await beyond(page)).toEqual([])
		await page.getByRole('button', { name: 'Graphs and history' }).click()
		await page.getByText('and 50 more').waitFor()
		expect(await beyond(page)).toEqual([])
		await page.getByRole('button', { name: 'Graphs and history' }).click()
		await page.getByRole('textbox', { name: 'Query' }).click()
		await page.keyboard.type('MATCH (a)-[e:')
		await page.locator('.cm-completionLabel').first().waitFor()
		const cut = await page.locator('.cm-tooltip-autocomplete li').evaluateAll(list => list.filter(e => e.scrollWidth > e.clientWidth || e.getBoundingClientRect().right > innerWidth).length)
		expect(cut).toBe(0)
		expect(await page.locator('.cm-completionLabel').count()).toBeGreaterThan(50)
		expect(await beyond(page)).toEqual([])
	})

	test('says in the window that a graph with a long name is not there', async () => {
		const page = await site.open(hash({ graph: long, kind: 'count', query: 'MATCH (a)--(b)' }), { viewport: { width: 320, height: 720 } })
		await page.getByRole('alert').waitFor()
		expect(await beyond(page)).toEqual([])
	})
})
