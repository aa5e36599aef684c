import { describe, expect, it } from 'vitest'
import { tryOneByOne } from './every-point.ts'

const isSqlite = process.env.TEST_DATABASE === 'sqlite'
const READS = ['before select', 'before GET /v1/customers', 'before select']
const WRITES = ['before insert into "billing_locks"', 'before update "users"']

/**
 * The steps of a process, whether it stops where it should, and whether the test run proves
 * anything.
 */
const TABLE = [
  { name: 'no step', steps: [], stops: true, isProof: false },
  {
    name: 'only a first step, before which it has done nothing',
    steps: WRITES.slice(1),
    stops: true,
    isProof: false,
  },
  { name: 'only reads', steps: READS, stops: true, isProof: isSqlite },
  { name: 'writes', steps: WRITES, stops: true, isProof: true },
  { name: 'writes, none of which is reached', steps: WRITES, stops: false, isProof: false },
  { name: 'writes, but stops at other steps', steps: WRITES, stops: 'elsewhere', isProof: false },
  {
    name: 'writes, one of which is not reached',
    steps: [...WRITES, 'before update "subscriptions"'],
    stops: 'once',
    isProof: false,
  },
]

describe('tryOneByOne(), the helper of tests that kills a process at each of its steps,', () => {
  it.each(TABLE.map((given) => [given.name, given.isProof, given] as const))(
    'fails unless it has killed the process at each of the writes: the process %s (expected to succeed: %s)',
    async (_name, isProof, { steps, stops }) => {
      let stopped = 0
      const campaign = tryOneByOne(async (stopAt) => {
        const isMet = stops === 'once' ? stopped === 0 : stops
        const at = isMet ? steps[stopAt - (stops === 'elsewhere' ? 2 : 1)] : undefined
        if (at !== undefined) stopped += 1
        return at === undefined ? { done: true, steps } : { stopped: at }
      })
      if (isProof) await expect(campaign).resolves.toEqual(steps)
      else await expect(campaign).rejects.toThrow('Killed where it should be')
    },
  )
})
