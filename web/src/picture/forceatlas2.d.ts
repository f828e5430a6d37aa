// The parts of the layout that its own types leave out. A layout in slices needs them: the library's function for some iterations
// forgets the forces of the ones before.
declare module 'graphology-layout-forceatlas2/iterate.js' {
	import type { ForceAtlas2Settings } from 'graphology-layout-forceatlas2'
	export default function iterate(settings: ForceAtlas2Settings, nodes: Float32Array, edges: Float32Array): void
}
declare module 'graphology-layout-forceatlas2/defaults.js' {
	import type { ForceAtlas2Settings } from 'graphology-layout-forceatlas2'
	const defaults: ForceAtlas2Settings
	export default defaults
}
