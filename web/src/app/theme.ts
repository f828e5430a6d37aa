import { read, write } from './storage'

export type Theme = 'system' | 'light' | 'dark'

const key = 'weft-theme'

export function loadTheme(): Theme {
	const text = read(key)
	return text === 'light' || text === 'dark' ? text : 'system'
}

/** Shows and keeps a theme. That of the system follows the system's changes. */
export function setTheme(theme: Theme) {
	if (theme === 'system') delete document.documentElement.dataset.theme
	else document.documentElement.dataset.theme = theme
	write(key, theme === 'system' ? null : theme)
}
