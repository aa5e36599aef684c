import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Parts of paths of slow test files, slowest first. Without this list vitest begins with the
 * largest files, and some of the slow ones have four lines.
 */
const LONGEST = [
  'billing/test/killed-stripe',
  'examples/next',
  'billing/test/usage/killed',
  'test/processes',
  'billing/test/killed-braintree',
  'billing/test/histories',
  'billing/test/lost-answers',
  'billing/test/concurrent-changes',
  'billing/test/killed-events',
  'billing/test/migrations',
  'server/test/chromium/billing',
  'server/test/chromium/look',
]

/**
 * Starts the slowest files first, so that no process is left with minutes of work when the others
 * have finished.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => getStartRank(a) - getStartRank(b))
  }
}

function getStartRank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((part) => moduleId.includes(part))
  return at < 0 ? LONGEST.length : at
}
