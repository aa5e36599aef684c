import { describe, expect, it } from 'vitest'
import { tryOneByOne } from './every-point.ts'

const isSqlite = process.env.TEST_DATABASE === 'sqlite'
const READS = ['before select', 'before GET /v1/customers', 'before select']
const WRITES = ['before insert into "billing_locks"', 'before update "users"']

/** What a process has for steps, whether it stops where it is told to, and whether that proves anything. */
const TABLE = [
  { name: 'no step', steps: [], stops: true, isProof: false },
  {
    name: 'a first step alone, before which it has done nothing',
    steps: WRITES.slice(1),
    stops: true,
    isProof: false,
  },
  { name: 'reads alone', steps: READS, stops: true, isProof: isSqlite },
  { name: 'writes', steps: WRITES, stops: true, isProof: true },
  { name: 'writes, and none of them is met', steps: WRITES, stops: false, isProof: false },
  { name: 'writes, and others are met', steps: WRITES, stops: 'elsewhere', isProof: false },
  {
    name: 'writes, and one of them is not met',
    steps: [...WRITES, 'before update "subscriptions"'],
    stops: 'once',
    isProof: false,
  },
]

describe('a campaign of kills', () => {
  it.each(TABLE)('with $name is proof: $isProof', async ({ steps, stops, isProof }) => {
    let stopped = 0
    const campaign = tryOneByOne(async (stopAt) => {
      const isMet = stops === 'once' ? stopped === 0 : stops
      const at = isMet ? steps[stopAt - (stops === 'elsewhere' ? 2 : 1)] : undefined
      if (at !== undefined) stopped += 1
      return at === undefined ? { done: true, steps } : { stopped: at }
    })
    if (isProof) await expect(campaign).resolves.toEqual(steps)
    else await expect(campaign).rejects.toThrow('Killed where it should be')
  })
})
