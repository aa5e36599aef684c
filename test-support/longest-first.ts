import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Parts of paths. vitest begins with the largest files, and some of these have four lines. */
const LONGEST = [
  'billing/test/killed-stripe',
  'examples/next',
  'billing/test/usage/killed',
  'test/processes',
  'billing/test/killed-braintree',
  'billing/test/histories',
  'billing/test/lost-answers',
  'billing/test/contradictions',
  'billing/test/killed-events',
  'billing/test/upgrade',
  'server/test/chromium/billing',
  'server/test/chromium/look',
]

/** So that no process is left alone with minutes of work when the others have finished. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((part) => moduleId.includes(part))
  return at < 0 ? LONGEST.length : at
}
