import { type Colours, type Rgb, coloursOf, hex } from './colours'

/** drawn is a colour as the browser paints it, whatever notation it is written in. */
function drawn(colour: string): string {
	const canvas = document.createElement('canvas')
	canvas.width = canvas.height = 1
	const context = canvas.getContext('2d', { willReadFrequently: true })!
	context.fillStyle = colour
	context.fillRect(0, 0, 1, 1)
	return hex([...context.getImageData(0, 0, 1, 1).data].slice(0, 3) as Rgb)
}

/** pageColours reads the colours of the page where an element is. */
export function pageColours(element: HTMLElement): Colours {
	const probe = document.createElement('span')
	element.append(probe)
	const read = (name: string) => {
		probe.style.color = `var(--${name})`
		return drawn(getComputedStyle(probe).color)
	}
	const page = { ink: read('ink'), paper: read('paper'), soft: read('soft'), line: read('line'), accent: read('accent') }
	probe.remove()
	return coloursOf(page)
}

/** onTheme calls back when the page's colours may have changed. It returns how to stop. */
export function onTheme(changed: () => void): () => void {
	const media = matchMedia('(prefers-color-scheme: dark)')
	const observer = new MutationObserver(changed)
	for (const e of [document.documentElement, document.body]) observer.observe(e, { attributes: true })
	media.addEventListener('change', changed)
	return () => {
		observer.disconnect()
		media.removeEventListener('change', changed)
	}
}
