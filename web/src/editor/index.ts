export { Editor } from './Editor'
