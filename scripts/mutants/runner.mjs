// Runs tests repeatedly for scripts/mutants.mjs, each time with another mutant instead of its
// source.
import { createVitest } from 'vitest/node'

const vitest = await createVitest('test', {
  watch: false,
  project: ['unit', 'sqlite', 'slow'],
  bail: 1,
  maxWorkers: 1,
  reporters: [{}],
})
const known = await vitest.globTestSpecifications()

process.on('message', async ({ source, text, tests }) => {
  globalThis.mutant = { source, text }
  vitest.invalidateFile(source)
  const found = tests.map((test) => known.filter(({ moduleId }) => moduleId === test))
  const missing = tests.filter((_, at) => found[at].length === 0)
  if (missing.length > 0) throw new Error(`No project has ${missing.join(', ')}`)
  // One file at a time: the fastest comes first, and a mistake that it notices needs no other.
  for (const specifications of found) {
    // Vitest accumulates the results of all runs, also for --bail.
    vitest.state.idMap.clear()
    vitest.state.filesMap.clear()
    const { testModules } = await vitest.runTestSpecifications(specifications)
    if (testModules.some((each) => each.state() !== 'passed'))
      return process.send({ passes: false })
  }
  process.send({ passes: true })
})
process.on('disconnect', () => process.exit(0))
process.send({ isReady: true })
