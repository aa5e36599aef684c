import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { ofUser, type Story, type StoryRun, subscribe } from '../story.ts'

const AMOUNT = money(300, 'usd')
const once = ({ user }: StoryRun) => ({ idempotencyKey: `once-${user.id}` })

/** Expects this balance, changed exactly once. */
const is =
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
    job: (run) => ofUser('creditBalance', AMOUNT, 'Welcome', { gift: true, ...once(run) }),
    outcome: is(300),
  },
  {
    name: 'creditBalance before the first purchase',
    providers: ['stripe'],
    job: (run) => ofUser('creditBalance', AMOUNT, 'Welcome', { gift: true, ...once(run) }),
    async outcome({ test, user }, at) {
      expect(await (await test.billing.user(user.id)).balance(), at).toEqual(AMOUNT)
    },
  },
  {
    name: 'debitBalance with an idempotency key',
    providers: ['stripe'],
    before: subscribe,
    job: (run) => ofUser('debitBalance', AMOUNT, 'Repairs', once(run)),
    outcome: is(-300),
  },
]
