import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { binary, counted, graph, hash, run, said, Site, text, type } from './server'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const triangle = 'MATCH (a)--(b)--(c)--(a)'

describe.skipIf(!binary)('questions', () => {
	const site = new Site()
	beforeAll(() => site.start('-g', `club=${graph('karate.txt')}`, '-g', `pay=${graph('transfers.csv')}`, '-g', `face=${graph('ego-facebook.txt.gz')}`))
	afterAll(() => site.stop())
	afterEach(() => site.settle())

	test('a count that is typed has the right numbers', async () => {
		const page = await site.open()
		await page.getByRole('button', { name: /^club/ }).click()
		await page.getByRole('textbox', { name: 'Query' }).click()
		await page.keyboard.type(triangle.replaceAll(')', ''))
		expect(await text(page)).toBe('MATCH (a--(b--(c--(a))))')
		await type(page, triangle)
		await page.keyboard.press('Control+Enter')
		const answer = page.getByRole('region', { name: 'Answer' })
		await answer.waitFor()
		expect(await answer.innerText()).toMatch(/45\s+subgraphs\s+270\s+embeddings/)
		expect(await said(page)).toBe('45 subgraphs')
	})

	test('fast typing stays as it was typed', async () => {
		const page = await site.open()
		const query = 'MATCH a RETURN a, b LIMIT 12 '
		await page.getByRole('textbox', { name: 'Query' }).click()
		await page.keyboard.type(query.repeat(5))
		await expect.poll(() => text(page)).toBe(query.repeat(5))
	})

	test('whether there is a match', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'exists', query: 'MATCH clique(5)' })
		await page.getByText('the pattern occurs').waitFor()
		await run(page, { graph: 'club', kind: 'exists', query: 'MATCH clique(6)' })
		await page.getByText('the pattern does not occur').waitFor()
	})

	test('participation of each vertex, and a query that says it itself', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'participation', query: triangle, vertex: 'a' })
		await counted(page, '34 rows')
		await run(page, { graph: 'club', kind: 'count', query: 'MATCH triangle(x, y, z) RETURN participation(x)' })
		await page.getByRole('columnheader', { name: 'x' }).waitFor()
		expect(await page.getByRole('tab').allInnerTexts()).toEqual(['Table'])
	})

	test('parameters have fields, and whole numbers keep all digits', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'match', query: "MATCH (a)--(b) WHERE id(a) = $x AND 'id(a) = $y' <> 'x' RETURN b" })
		await page.getByRole('alert').getByText('The parameter $x has no value.').waitFor()
		expect(await page.getByRole('textbox', { name: '$y' }).count()).toBe(0)
		const sent = page.waitForRequest(r => r.url().endsWith('/v1/match'))
		await page.getByRole('textbox', { name: '$x' }).fill('9007199254740993')
		await page.keyboard.press('Control+Enter')
		expect((await sent).postData()).toContain('"params":{"x":9007199254740993}')
		await counted(page, '0 rows')
		await page.getByRole('textbox', { name: '$x' }).fill('12')
		await page.keyboard.press('Control+Enter')
		await counted(page, '1 row')
		expect(await page.getByRole('gridcell').allInnerTexts()).toEqual(['1'])
	})

	test('options go with the request, and a limit is told', async () => {
		const page = await site.open()
		await run(page, { graph: 'club', kind: 'match', query: triangle })
		await counted(page, '45 rows')
		await page.getByRole('textbox', { name: 'Limit' }).fill('7')
		await page.getByRole('combobox', { name: 'Semantics' }).selectOption('iso')
		await page.getByRole('checkbox', { name: 'Induced' }).check()
		await page.getByRole('combobox', { name: 'Engine' }).selectOption('oracle')
		const sent = page.waitForRequest(r => r.url().endsWith('/v1/match'))
		await page.keyboard.press('Control+Enter')
		expect((await sent).postDataJSON()).toMatchObject({ graph: 'club', query: triangle, limit: 7, semantics: 'iso', induced: true, engine: 'oracle' })
		await counted(page, '7 rows')
		expect(await page.locator('.notes').innerText()).toBe('Cut short: the limit of this request')
		expect(await said(page)).toBe('7 rows, cut short: the limit of this request')
		await page.getByRole('textbox', { name: 'Limit' }).fill('many')
		await page.keyboard.press('Control+Enter')
		await page.getByRole('alert').getByText('The limit must be a whole number.').waitFor()
	})

	test('an error has its place in the text', async () => {
		const page = await site.open('', {}, [422])
		await run(page, { graph: 'club', kind: 'count', query: '// ü\nMATCH (a)--(b) RETRUN a' })
		const alert = page.getByRole('alert')
		await alert.waitFor()
		expect(await alert.innerText()).toContain('line 2, column 16: unexpected RETRUN')
		expect(await page.locator('.cm-lintRange-error').innerText()).toBe('RETRUN')
		await page.getByRole('textbox', { name: 'Query' }).click()
		await page.keyboard.press('Control+End')
		await page.keyboard.type(' ')
		await alert.waitFor({ state: 'detached' })
		await run(page, { graph: 'club', kind: 'count', query: 'MATCH (a)--(b' })
		await alert.getByText('unexpected end of the text').waitFor()
		expect(await page.locator('.cm-lintRange-error').innerText()).toBe('b')
	})

	test('notes of the server are shown, also of an answer without rows', async () => {
		const page = await site.open()
		await run(page, { graph: 'pay', kind: 'match', query: 'MATCH (a:Foo)--(b)' })
		await page.getByText('No vertex has the label Foo: the graph has no vertex labels.').waitFor()
		await counted(page, '0 rows')
	})

	test('a long count shows its progress and is cancelled, with what was counted', async () => {
		const page = await site.open()
		await run(page, { graph: 'face', kind: 'count', query: 'MATCH clique(12)' })
		await page.getByText(/\d of [\d,]+ parts/).waitFor()
		expect(await page.getByRole('progressbar').getAttribute('max')).not.toBeNull()
		await page.keyboard.press('Escape')
		await page.getByText('Cut short: it was cancelled', { exact: true }).waitFor()
		expect(await page.getByRole('region', { name: 'Answer' }).innerText()).toMatch(/^≥ [\d,]+\s+subgraphs/)
		const { running } = (await (await page.request.get(`${site.url}v1/running`)).json()) as { running: unknown[] }
		expect(running).toEqual([])
	})

	test('a long listing is cancelled by its button, and its rows stay', async () => {
		const page = await site.open()
		await run(page, { graph: 'face', kind: 'match', query: 'MATCH cycle(6) WHERE id(v0) < id(v1)' })
		await page.getByRole('gridcell').first().waitFor()
		await page.getByRole('button', { name: 'Cancel' }).click()
		await page.getByText('Cut short: it was cancelled', { exact: true }).waitFor()
		const rows = await page.locator('.results-count').innerText()
		expect(rows).toMatch(/^[\d,]+ rows$/)
		expect(await said(page)).toBe(`${rows}, cut short: it was cancelled`)
	})

	test('an answer that is not one of the server is told', async () => {
		const page = await site.open(hash({ graph: 'club', kind: 'count', query: triangle }))
		await page.getByRole('textbox', { name: 'Query' }).waitFor()
		await page.route('**/v1/count', r => r.fulfill({ status: 200, contentType: 'text/html', body: 'proxy' }))
		await page.keyboard.press('Control+Enter')
		await page.getByRole('alert').getByText('The answer is not one of weft.').waitFor()
	})
})
