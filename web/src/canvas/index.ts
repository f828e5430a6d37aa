export { Canvas } from './Canvas'
export { inUnits } from './units'
export { patternSVG } from './svg'
export { place, type Positions } from './layout'
