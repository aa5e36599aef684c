import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { type Asking, type Story, subscribe } from '../story.ts'

const AMOUNT = money(300, 'usd')
const options = ({ user }: Asking) => ({
  description: 'Welcome',
  idempotencyKey: `welcome-${user.id}`,
})

export const balances: readonly Story[] = [
  {
    name: 'credit as a gift with a key',
    providers: ['stripe'],
    before: subscribe,
    job: (asking) => ({ job: 'ask', method: 'giveCredit', args: [AMOUNT, options(asking)] }),
    again: (asking) => asking.user.giveCredit(AMOUNT, options(asking)),
    async outcome({ user }, at) {
      expect(await user.balance(), at).toEqual(AMOUNT)
      expect(await user.balanceTransactions(), at).toHaveLength(1)
    },
    writes: false,
  },
  {
    name: 'credit before the first purchase',
    providers: ['stripe'],
    before: async () => undefined,
    job: (asking) => ({ job: 'ask', method: 'giveCredit', args: [AMOUNT, options(asking)] }),
    again: (asking) => asking.user.giveCredit(AMOUNT, options(asking)),
    async outcome({ test, user }, at) {
      expect(await (await test.billing.user(user.id)).balance(), at).toEqual(AMOUNT)
    },
  },
]
