import Graph from 'graphology'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { drawingOf, shapeOf, withPairs } from './drawing'
import { type Box, Layout, packed, startOf } from './layout'

const rows = Array.from({ length: 30 }, (_, i) => ({ a: i, b: i + 1, e: { src: i, dst: i + 1 } }))
const chain = drawingOf(shapeOf('', null, ['a', 'b', 'e']), rows, 30, false)

test('all vertices begin at places of their own, the same each time', () => {
	const d = withPairs(chain, [{ from: 3, to: 99 }, { from: 99, to: 100 }])
	const at = startOf(d, new Map())
	expect(at.size).toBe(d.vertices.size)
	expect(new Set([...at.values()].map(p => `${p.x} ${p.y}`)).size).toBe(d.vertices.size)
	expect([...at.values()].every(p => Number.isFinite(p.x) && Number.isFinite(p.y))).toBe(true)
	expect(startOf(d, new Map())).toEqual(at)
})

test('vertices that were there stay, and a new neighbour begins near its vertex', () => {
	const old = new Map([...startOf(chain, new Map())].map(([k, p]) => [k, { x: p.x + 500, y: p.y }]))
	const at = startOf(withPairs(chain, [{ from: 3, to: 99 }]), old)
	expect(at.get('3')).toEqual(old.get('3'))
	expect(Math.hypot(at.get('99')!.x - old.get('3')!.x, at.get('99')!.y - old.get('3')!.y)).toBeCloseTo(12)
})

function overlap(boxes: Box[], ratio: number) {
	const at = packed(boxes, ratio)
	for (let i = 0; i < boxes.length; i++) {
		for (let j = 0; j < i; j++) {
			const [p, q, a, b] = [at[i]!, at[j]!, boxes[i]!, boxes[j]!]
			if (p.x < q.x + b.width - 1e-9 && q.x < p.x + a.width - 1e-9 && p.y < q.y + b.height - 1e-9 && q.y < p.y + a.height - 1e-9) return true
		}
	}
	return false
}

test('boxes are packed without overlap, and fill most of a rectangle', () => {
	for (let n = 1; n < 40; n++) {
		const boxes = Array.from({ length: n }, (_, i) => ({ width: 5 + ((i * 7 + n) % 11) * 3, height: 5 + ((i * 5 + n) % 7) * 4 }))
		expect(overlap(boxes, 1.5)).toBe(false)
	}
	const equal = Array.from({ length: 24 }, () => ({ width: 10, height: 10 }))
	const at = packed(equal, 1.5)
	expect(Math.max(...at.map(p => p.x))).toBe(50)
	expect(Math.max(...at.map(p => p.y))).toBe(30)
})

beforeEach(() => {
	vi.stubGlobal('requestAnimationFrame', (f: () => void) => setTimeout(f, 0))
	vi.stubGlobal('cancelAnimationFrame', clearTimeout)
})
afterEach(() => void vi.unstubAllGlobals())

function settled(graph: Graph, ratio: number): Promise<number> {
	return new Promise(done => {
		let slices = 0
		new Layout(graph, ratio, end => (slices++, end && done(slices)), true).start()
	})
}

function graphOfEdges(edges: [number, number][]): Graph {
	const graph = new Graph({ type: 'undirected' })
	for (const [a, b] of edges) {
		for (const v of [a, b]) if (!graph.hasNode(v)) graph.addNode(v, { x: 20 * Math.cos(v), y: 20 * Math.sin(v) })
		graph.addEdge(a, b)
	}
	return graph
}

test('the layout settles, with neighbours nearer than others and a chain along the longer side', async () => {
	const graph = graphOfEdges(rows.slice(0, 12).map(r => [r.a, r.b]))
	await settled(graph, 2)
	const at = (v: number) => graph.getNodeAttributes(v) as { x: number; y: number }
	const far = (a: number, b: number) => Math.hypot(at(a).x - at(b).x, at(a).y - at(b).y)
	expect(far(0, 12)).toBeGreaterThan(4 * far(0, 1))
	expect(Math.abs(at(0).x - at(12).x)).toBeGreaterThan(3 * Math.abs(at(0).y - at(12).y))
})

test('parts that no edge joins lie apart', async () => {
	const graph = graphOfEdges([[0, 1], [1, 2], [2, 0], [10, 11], [11, 12], [12, 10], [20, 21]])
	await settled(graph, 1)
	const at = (v: number) => graph.getNodeAttributes(v) as { x: number; y: number }
	const far = (a: number, b: number) => Math.hypot(at(a).x - at(b).x, at(a).y - at(b).y)
	for (const a of [0, 1, 2]) for (const b of [10, 11, 12, 20, 21]) expect(far(a, b)).toBeGreaterThan(far(20, 21))
})
