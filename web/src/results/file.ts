/** The name of a file with a result. That of one that is cut short says so. */
export function fileName(name: string, end: string, cut: boolean): string {
	return `${name}${cut ? '-cut' : ''}.${end}`
}
