import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Box } from './figure'
import type { Point } from './layout'

const margin = 28

/** useView keeps the part of the plane that an SVG element shows. It stays where it is as long as all of the drawing is in it. */
export function useView(svg: RefObject<SVGSVGElement | null>, bounds: Box) {
	const [size, setSize] = useState({ width: 640, height: 320 })
	const box = useRef<Box | null>(null)
	const held = useRef(false)
	const shape = useRef('')
	useLayoutEffect(() => {
		const observer = new ResizeObserver(([entry]) => {
			const { width, height } = entry!.contentRect
			if (width > 0 && height > 0) setSize({ width, height })
		})
		observer.observe(svg.current!)
		return () => observer.disconnect()
	}, [])

	const now = `${size.width} ${size.height}`
	if (!box.current || shape.current !== now || (!held.current && !contains(box.current, bounds))) box.current = fitted(bounds, size.width, size.height)
	shape.current = now
	const { x, y, width, height } = box.current
	return {
		box: [x, y, width, height].map(n => Math.round(n * 10) / 10).join(' '),
		/** Where a pointer is in the drawing. */
		point(e: { clientX: number; clientY: number }): Point {
			const r = svg.current!.getBoundingClientRect()
			return { x: x + ((e.clientX - r.left) / r.width) * width, y: y + ((e.clientY - r.top) / r.height) * height }
		},
		/** While it is held, the view does not move under the pointer. */
		hold(on: boolean) {
			held.current = on
		},
		fit() {
			box.current = null
		},
	}
}

function contains(outer: Box, inner: Box): boolean {
	const edge = margin / 4
	return inner.x - edge >= outer.x && inner.y - edge >= outer.y && inner.x + inner.width + edge <= outer.x + outer.width && inner.y + inner.height + edge <= outer.y + outer.height
}

/** fitted shows a drawing in its own size, in the middle, or smaller if it is larger than the element. */
function fitted(b: Box, width: number, height: number): Box {
	const zoom = Math.max(1, (b.width + 2 * margin) / width, (b.height + 2 * margin) / height)
	return { x: b.x + b.width / 2 - (width * zoom) / 2, y: b.y + b.height / 2 - (height * zoom) / 2, width: width * zoom, height: height * zoom }
}
