import type { Colours, Fill } from './colours'
import { discOf } from './svg'

/** Swatch is the disc of a fill, as the picture draws it. */
export function Swatch({ fill, colours }: { fill: Fill; colours: Colours }) {
	const [, ...parts] = discOf({ x: 7, y: 7, radius: 6, fills: [fill], border: colours.paper, borderWidth: 0 }, colours.paper)
	return (
		<svg class="picture-swatch" width="14" height="14" aria-hidden="true">
			{parts.map((p, i) => (
				<circle key={i} {...p.attributes} />
			))}
		</svg>
	)
}
