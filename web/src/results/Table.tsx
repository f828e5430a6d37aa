import type { TargetedKeyboardEvent, TargetedMouseEvent, TargetedPointerEvent } from 'preact'
import { useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { full, written, type Column } from './column'
import type { Rows } from './rows'
import './table.css'

const rowHeight = 24
const headHeight = 28
/** The tallest element that browsers scroll. Rows beyond are reached because the scroll bar then moves over more of them. */
const tallest = 12_000_000

export interface TableProps {
	rows: Rows
	/** The number of rows when they last changed. */
	length: number
	/** Whether more rows may come. */
	growing: boolean
	/** Tells what a screen reader should say. */
	say(text: string): void
}

interface Order {
	column: Column
	descending: boolean
}

/** Rows of any number, of which those in view are drawn. */
export function Table(p: TableProps) {
	const { rows, length } = p
	const scroller = useRef<HTMLDivElement>(null)
	const [view, setView] = useState({ top: 0, height: 400 })
	const [order, setOrder] = useState<Order | null>(null)
	const [at, setAt] = useState({ row: 0, column: 0 }) // row -1 is the head
	const scroll = useRef({ position: 0, top: 0 })

	useLayoutEffect(() => {
		setOrder(null)
		setAt({ row: 0, column: 0 })
		moveTo(0)
	}, [rows])

	// Rows that come after the sort follow the sorted ones until the search is over.
	const places = useMemo(() => order && rows.sorted(order.column, order.descending), [order, p.growing])
	const place = (i: number) => (places && i < places.length ? places[i]! : i)
	// Columns keep the widths that they had when they came, so that nothing moves while more rows load, or those that the user gave them.
	const given = useRef<{ rows: Rows; widths: number[] }>({ rows, widths: [] })
	const [, redraw] = useReducer((n: number) => n + 1, 0)
	if (given.current.rows !== rows) given.current = { rows, widths: [] }
	const { widths } = given.current
	for (const c of rows.columns.slice(widths.length)) widths.push(widthOf(c, range(0, Math.min(c.length, 200)), 42))

	const content = length * rowHeight
	const height = Math.min(content, tallest)
	const body = Math.max(0, view.height - headHeight)
	const maxTop = Math.max(0, content - body)
	const maxPosition = Math.max(1, height - body)
	const top = Math.min(view.top, maxTop)

	useLayoutEffect(() => {
		const measure = () => setView(v => ({ ...v, height: scroller.current!.clientHeight }))
		const observer = new ResizeObserver(measure)
		observer.observe(scroller.current!)
		measure()
		return () => observer.disconnect()
	}, [])

	const moveTo = (next: number) => {
		const to = Math.max(0, Math.min(next, maxTop))
		scroll.current = { position: Math.round((to / Math.max(1, maxTop)) * maxPosition), top: to }
		if (content <= tallest) scroll.current.position = to
		scroller.current!.scrollTop = scroll.current.position
		setView(v => ({ ...v, top: to }))
	}

	const onScroll = () => {
		const position = scroller.current!.scrollTop
		const last = scroll.current
		const delta = position - last.position
		if (Math.abs(delta) < 1) return
		// A small step of a wheel or a finger moves by its own size; a large one, of the bar, to its share of all rows.
		const step = content > tallest && Math.abs(delta) < 2 * view.height && position > 0 && position < maxPosition - 1
		const next = content <= tallest ? position : step ? last.top + delta : (position / maxPosition) * maxTop
		scroll.current = { position, top: Math.max(0, Math.min(next, maxTop)) }
		setView(v => ({ ...v, top: scroll.current.top }))
	}

	/** Small steps leave the bar behind; it follows when they end. */
	const onScrollEnd = () => {
		if (content > tallest) moveTo(scroll.current.top)
	}

	const first = Math.floor(top / rowHeight)
	const count = Math.min(length - first, Math.ceil(body / rowHeight) + 1)

	const sortBy = (column: Column) => {
		const next = order?.column !== column ? { column, descending: false } : order.descending ? null : { column, descending: true }
		setOrder(next)
		p.say(next ? `Sorted by ${column.name}, ${next.descending ? 'descending' : 'ascending'}` : 'In the order of the search')
	}

	const go = (row: number, column: number) => {
		const r = Math.max(-1, Math.min(row, length - 1))
		setAt({ row: r, column: Math.max(0, Math.min(column, rows.columns.length - 1)) })
		if (r < 0) return
		if (r * rowHeight < top) moveTo(r * rowHeight)
		else if ((r + 1) * rowHeight > top + body) moveTo((r + 1) * rowHeight - body)
	}

	const copy = async (text: string, what: string) => {
		try {
			await navigator.clipboard.writeText(text)
			p.say(`Copied the ${what}`)
		} catch {
			p.say('The browser does not allow copying')
		}
	}

	const resize = (column: number, width: number) => {
		widths[column] = Math.round(Math.max(narrowest, Math.min(width, widest)))
		redraw(0)
	}
	const grip = {
		title: 'Drag to change the width. A double click fits it to the values in view.',
		onPointerDown(e: TargetedPointerEvent<HTMLElement>, column: number) {
			if (e.button !== 0) return
			const target = e.currentTarget
			const begin = e.clientX - widths[column]!
			target.setPointerCapture(e.pointerId)
			target.onpointermove = m => resize(column, m.clientX - begin)
			target.onlostpointercapture = () => (target.onpointermove = target.onlostpointercapture = null)
			e.preventDefault()
		},
		onDblClick(column: number) {
			resize(column, widthOf(rows.columns[column]!, range(first, count).map(place), Infinity))
		},
	}

	const onKeyDown = (e: TargetedKeyboardEvent<HTMLDivElement>) => {
		const { row, column } = at
		const page = Math.max(1, Math.floor(body / rowHeight) - 1)
		const control = e.ctrlKey || e.metaKey
		switch (e.key) {
			case 'ArrowDown':
				go(row + 1, column)
				break
			case 'ArrowUp':
				go(row - 1, column)
				break
			case 'ArrowLeft':
			case 'ArrowRight': {
				const step = e.key === 'ArrowLeft' ? -1 : 1
				if (e.shiftKey && rows.columns.length) {
					resize(column, widths[column]! + step * 16)
					p.say(`${rows.columns[column]!.name} is ${widths[column]} pixels wide`)
				} else go(row, column + step)
				break
			}
			case 'PageDown':
				go(row + page, column)
				break
			case 'PageUp':
				go(Math.max(0, row - page), column)
				break
			case 'Home':
				go(control ? 0 : row, 0)
				break
			case 'End':
				go(control ? length - 1 : row, rows.columns.length - 1)
				break
			case 'Enter':
			case ' ':
				if (row >= 0 || control) return
				sortBy(rows.columns[column]!)
				break
			case 'c':
			case 'C':
				if (!control || row < 0 || !getSelection()?.isCollapsed) return
				if (e.shiftKey) void copy(rows.row(place(row)).map(full).join('\t'), 'row')
				else void copy(full(rows.columns[column]!.at(place(row))), 'cell')
				break
			default:
				return
		}
		e.preventDefault()
	}

	const onClick = (e: TargetedMouseEvent<HTMLDivElement>) => {
		if ((e.target as Element).closest('.table-grip')) return
		const cell = (e.target as Element).closest<HTMLElement>('[data-column]')
		if (!cell) return
		const column = Number(cell.dataset.column)
		const row = Number(cell.dataset.row)
		setAt({ row, column })
		if (row < 0) sortBy(rows.columns[column]!)
	}

	const id = (row: number, column: number) => `table-${row}-${column}`
	const line = { minWidth: '100%', width: px(widths.reduce((a, b) => a + b, 0) + indexWidth) }
	const seen = at.row < 0 || (at.row >= first && at.row < first + count)

	return (
		<div
			class="table"
			role="grid"
			aria-label="Rows"
			tabIndex={0}
			ref={scroller}
			aria-rowcount={p.growing ? -1 : length + 1}
			aria-colcount={rows.columns.length}
			aria-activedescendant={seen && rows.columns.length ? id(at.row, at.column) : undefined}
			onScroll={onScroll}
			onScrollEnd={onScrollEnd}
			onKeyDown={onKeyDown}
			onClick={onClick}
		>
			<div class="table-tall" role="presentation" style={{ ...line, height: px(height + headHeight) }}>
				<div class="table-view" role="presentation" style={{ height: px(view.height) }}>
					<div class="table-head" role="row" aria-rowindex={1} style={line}>
						<span class="table-index" aria-hidden="true" />
						{rows.columns.map((c, j) => {
							const sorted = order?.column === c ? (order.descending ? 'descending' : 'ascending') : 'none'
							return (
								<div
									key={c.name}
									id={id(-1, j)}
									role="columnheader"
									aria-colindex={j + 1}
									aria-sort={sorted}
									class={at.row < 0 && at.column === j ? 'table-cell table-at' : 'table-cell'}
									data-row={-1}
									data-column={j}
									title={`Sort by ${c.name}`}
									style={{ width: px(widths[j]!) }}
								>
									<span class={c.numeric ? 'table-name table-number' : 'table-name'}>{c.name}</span>
									<span class="table-sort" aria-hidden="true">
										{sorted === 'none' ? '' : sorted === 'ascending' ? '▲' : '▼'}
									</span>
									<span class="table-grip" aria-hidden="true" title={grip.title} onPointerDown={e => grip.onPointerDown(e, j)} onDblClick={() => grip.onDblClick(j)} />
								</div>
							)
						})}
					</div>
					<div class="table-body" role="rowgroup" style={{ height: px(body) }}>
						{Array.from({ length: Math.max(0, count) }, (_, k) => {
							const i = first + k
							return (
								<div
									key={k}
									class={at.row === i ? 'table-row table-row-at' : 'table-row'}
									role="row"
									aria-rowindex={i + 2}
									style={{ ...line, transform: `translateY(${i * rowHeight - top}px)` }}
								>
									<span class="table-index" aria-hidden="true">
										{(place(i) + 1).toLocaleString('en')}
									</span>
									{rows.columns.map((c, j) => {
										const value = c.at(place(i))
										const text = written(value)
										return (
											<div
												key={j}
												id={id(i, j)}
												role="gridcell"
												aria-colindex={j + 1}
												class={cellClass(c, value, at.row === i && at.column === j)}
												data-row={i}
												data-column={j}
												title={text.length > 24 || typeof value === 'object' ? full(value) : undefined}
												style={{ width: px(widths[j]!) }}
											>
												{value === null ? 'null' : text}
											</div>
										)
									})}
								</div>
							)
						})}
					</div>
				</div>
			</div>
		</div>
	)
}

const indexWidth = 84
/** Limits on the width of a column, in pixels. */
const narrowest = 40
const widest = 2000

const px = (n: number) => `${n}px`

function cellClass(c: Column, value: unknown, here: boolean) {
	return ['table-cell', c.numeric && 'table-number', value === null && 'table-null', here && 'table-at'].filter(Boolean).join(' ')
}

const range = (from: number, count: number) => Array.from({ length: Math.max(0, count) }, (_, i) => from + i)

/** The width of a column by its name and its values in some rows, in pixels, for a number of characters at most. */
function widthOf(c: Column, rows: number[], most: number): number {
	const chars = rows.reduce((n, i) => Math.max(n, written(c.at(i)).length), Math.max(8, c.name.length + 2))
	return Math.min(chars, most) * 8 + 20
}
