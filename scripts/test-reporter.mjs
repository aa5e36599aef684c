// For scripts/test.mjs: writes the counts and failures of a run to the file named by TEST_REPORT.
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
      // Files that cannot be loaded and failed hooks belong to no test.
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
        test: 'unhandled error',
        why: firstLine([error]),
      })
    }
    writeFileSync(process.env.TEST_REPORT, JSON.stringify({ counts, failures }))
  }
}

function firstLine(errors = []) {
  return String(errors[0]?.message ?? '').split('\n', 1)[0]
}
