import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { type Story, type StoryRun, subscribe, userJob } from '../story.ts'

const AMOUNT = money(300, 'usd')
const onceWithKey = ({ user }: StoryRun) => ({ idempotencyKey: `once-${user.id}` })

/** Expects this balance, changed exactly once. */
const expectBalance =
  (cents: number) =>
  async ({ user }: StoryRun, at: string) => {
    expect(await user.balance(), at).toEqual(money(cents, 'usd'))
    expect(await user.balanceTransactions(), at).toHaveLength(1)
  }

export const balances: readonly Story[] = [
  {
    name: 'creditBalance as a gift with an idempotency key',
    providers: ['stripe'],
    before: subscribe,
    job: (run) => userJob('creditBalance', AMOUNT, 'Welcome', { gift: true, ...onceWithKey(run) }),
    outcome: expectBalance(300),
  },
  {
    name: 'creditBalance before the first purchase',
    providers: ['stripe'],
    job: (run) => userJob('creditBalance', AMOUNT, 'Welcome', { gift: true, ...onceWithKey(run) }),
    async outcome({ test, user }, at) {
      expect(await (await test.billing.user(user.id)).balance(), at).toEqual(AMOUNT)
    },
  },
  {
    name: 'debitBalance with an idempotency key',
    providers: ['stripe'],
    before: subscribe,
    job: (run) => userJob('debitBalance', AMOUNT, 'Repairs', onceWithKey(run)),
    outcome: expectBalance(-300),
  },
]
