import { download } from '../client'

/** The styles that a picture needs where the page's style sheets are not. */
const kept = ['fill', 'stroke', 'stroke-width', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'opacity']

/** Saves a picture of the page as a file that looks the same alone: in the page's colours, upon its background. */
export function saveSvg(picture: SVGSVGElement, name: string) {
	const copy = picture.cloneNode(true) as SVGSVGElement
	const from = [picture, ...picture.querySelectorAll<SVGElement>('*')]
	const to = [copy, ...copy.querySelectorAll<SVGElement>('*')]
	from.forEach((element, i) => {
		const look = getComputedStyle(element)
		for (const property of kept) to[i]!.setAttribute(property, look.getPropertyValue(property))
		to[i]!.removeAttribute('class')
	})
	const { width, height } = picture.getBoundingClientRect()
	copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
	copy.setAttribute('viewBox', `0 0 ${width} ${height}`)
	copy.setAttribute('width', String(width))
	copy.setAttribute('height', String(height))
	for (const control of ['role', 'tabindex', 'aria-hidden']) copy.removeAttribute(control)
	const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
	paper.setAttribute('width', '100%')
	paper.setAttribute('height', '100%')
	paper.setAttribute('fill', getComputedStyle(document.body).backgroundColor)
	copy.prepend(paper)
	download(new Blob([new XMLSerializer().serializeToString(copy)], { type: 'image/svg+xml' }), name)
}
