import { connect, type Database } from '@tollgate/database'
import { describe, expect, it } from 'vitest'
import { START, start } from '../../../../test/support.ts'
import { createCodeAttemptRepository } from '../../../core/storage/code-attempts.ts'

const at = (seconds: number) => new Date(START.getTime() + seconds * 1000)
const ada = { type: 'user', id: 7 }
const team = { type: 'team', id: 7 }

describe('attempts to use promotion codes', () => {
  it('are counted for each owner within a time window', async () => {
    const { database } = await start('stripe', { webhooks: false })
    const attempts = createCodeAttemptRepository(database)
    const count = (owner: typeof ada, seconds: number) =>
      attempts.count(owner, { limit: 2, at: at(seconds), until: at(seconds + 60) })
    expect([await count(ada, 0), await count(ada, 30)]).toEqual([null, null])
    expect(await count(ada, 31)).toEqual(at(60))
    expect(await count(team, 31)).toBeNull()
    await attempts.takeBack(ada, at(40))
    expect([await count(ada, 58), await count(ada, 59)]).toEqual([null, at(60)])
    expect([await count(ada, 60), await count(ada, 61)]).toEqual([null, null])
    await attempts.takeBack(ada, at(120))
    expect(await count(ada, 62)).toEqual(at(120))
  })

  it('never exceed the limit when twenty are made concurrently', async () => {
    const { url } = await start('stripe', { webhooks: false })
    const others = await Promise.all([1, 2, 3, 4].map(() => connect(url, { poolSize: 5 })))
    const limit = { limit: 10, at: at(0), until: at(60) }
    const guess = (on: Database) => createCodeAttemptRepository(on).count(ada, limit)
    const answers = await Promise.all(others.flatMap((on) => [1, 2, 3, 4, 5].map(() => guess(on))))
    await Promise.all(others.map((on) => on.close()))
    expect(answers.filter((answer) => answer === null)).toHaveLength(10)
    expect(answers.filter((answer) => answer?.getTime() === at(60).getTime())).toHaveLength(10)
  })
})
