import { render } from 'preact'
import { App } from './app'
import { loadTheme, setTheme } from './app/theme'

setTheme(loadTheme())
render(<App />, document.getElementById('page')!)
