import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { type Asking, ofUser, type Story, subscribe } from '../story.ts'

const AMOUNT = money(300, 'usd')
const once = ({ user }: Asking) => ({ idempotencyKey: `once-${user.id}` })

/** The balance, which was changed once. */
const is =
  (cents: number) =>
  async ({ user }: Asking, at: string) => {
    expect(await user.balance(), at).toEqual(money(cents, 'usd'))
    expect(await user.balanceTransactions(), at).toHaveLength(1)
  }

export const balances: readonly Story[] = [
  {
    name: 'credit as a gift with a key',
    providers: ['stripe'],
    before: subscribe,
    job: (asking) => ofUser('giveCredit', AMOUNT, { description: 'Welcome', ...once(asking) }),
    outcome: is(300),
  },
  {
    name: 'credit before the first purchase',
    providers: ['stripe'],
    job: (asking) => ofUser('giveCredit', AMOUNT, once(asking)),
    async outcome({ test, user }, at) {
      expect(await (await test.billing.user(user.id)).balance(), at).toEqual(AMOUNT)
    },
  },
  {
    name: 'debitBalance with a key',
    providers: ['stripe'],
    before: subscribe,
    job: (asking) => ofUser('debitBalance', AMOUNT, 'Repairs', once(asking)),
    outcome: is(-300),
  },
]
