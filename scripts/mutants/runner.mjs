// Runs tests again and again for scripts/mutants.mjs, each time with another mutant in the place of its source.
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
  // One after the other: the quickest comes first, and what it notices needs no other.
  for (const specifications of found) {
    // Vitest adds up the results of all runs, for --bail as well.
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
