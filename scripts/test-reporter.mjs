// For scripts/test.mjs: writes what a run of vitest came to into the file that TEST_REPORT names.
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** @implements {import('vitest/reporters').Reporter} */
export default class {
  onTestRunEnd(modules, unhandled) {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    const failures = []
    for (const module of modules) {
      const where = {
        project: module.project.name,
        file: relative(process.cwd(), module.moduleId),
      }
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result()
        counts[state] += 1
        if (state === 'failed')
          failures.push({ ...where, test: test.fullName, why: firstLine(errors) })
      }
      // Of a file that cannot be loaded, and of hooks, no test tells.
      const suites = [module, ...module.children.allSuites()]
      for (const suite of suites) {
        const errors = suite.errors()
        if (errors.length)
          failures.push({ ...where, test: suite.fullName ?? '', why: firstLine(errors) })
      }
    }
    for (const error of unhandled) {
      const file = error.VITEST_TEST_PATH ? relative(process.cwd(), error.VITEST_TEST_PATH) : null
      failures.push({
        project: null,
        file,
        test: 'nobody waited for this',
        why: firstLine([error]),
      })
    }
    writeFileSync(process.env.TEST_REPORT, JSON.stringify({ counts, failures }))
  }
}

function firstLine(errors = []) {
  return String(errors[0]?.message ?? '').split('\n', 1)[0]
}
