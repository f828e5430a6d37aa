import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The program that tests talk to; those that need it are skipped where it is not named. */
export const binary = process.env['WEFT_BINARY'] ?? ''

/** A server of the program. */
export interface Weft {
	url: string
	stop(): void
}

/** serve starts a server on a port of its own. It resolves when the server answers. */
export function serve(): Promise<Weft> {
	const karate = fileURLToPath(new URL('../../../testdata/graphs/karate.txt', import.meta.url))
	const child: ChildProcess = spawn(binary, ['serve', '--listen', 'localhost:0', '-g', 'club=' + karate], { stdio: ['ignore', 'ignore', 'pipe'] })
	return new Promise((resolve, reject) => {
		const said: string[] = []
		child.on('error', reject)
		child.on('exit', code => reject(new Error(`weft serve ended with ${code}: ${said.join('\n')}`)))
		createInterface({ input: child.stderr! }).on('line', line => {
			said.push(line)
			const url = /answering at (http:\S+)/.exec(line)?.[1]
			if (url) resolve({ url, stop: () => child.kill() })
		})
	})
}
