import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

/** The closing line of a test run, in the form of the project's other suites. A run of no test fails. */
export default class Sum implements Reporter {
	onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason) {
		const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
		for (const module of modules) {
			const before = count.failed
			for (const test of module.children.allTests()) count[test.result().state]++
			if (module.state() === 'failed' && count.failed === before) count.failed++ // a file that cannot be loaded, or a hook
		}
		if (reason !== 'passed' && count.failed === 0) count.failed = 1
		if (count.passed === 0) process.exitCode = 1
		console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped`)
	}
}
