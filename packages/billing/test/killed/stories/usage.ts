import { expect } from 'vitest'
import { createCallPrice, takenFrom } from '../../support.ts'
import { type Asking, main, ofSubscription, ofUser, type Story, subscribe } from '../story.ts'

const reportOf = ({ user }: Asking) => `report-${user.id}`

/** Of this story. */
let price = ''

const prepare: Story['prepare'] = async (test) => {
  price = await createCallPrice(test)
}

export const usage: readonly Story[] = [
  {
    name: 'addMeteredPrice',
    providers: ['stripe'],
    prepare,
    before: subscribe,
    job: () => ofSubscription('addMeteredPrice', price),
    async outcome(asking, at) {
      expect((await main(asking)).hasPrice(price), at).toBe(true)
      expect(takenFrom(asking.test, asking.user), at).toBe(1000)
    },
  },
  {
    name: 'cancelUsage',
    providers: ['stripe'],
    prepare,
    async before(asking) {
      const { user, card, test } = asking
      await user.updateCard(card)
      await user.reportUsage('calls', 5, { id: reportOf(asking) })
      await test.billing.usage.process()
    },
    job: (asking) => ofUser('cancelUsage', reportOf(asking)),
    async outcome({ test, user }, at) {
      const [row] = await test.database.kysely
        .selectFrom('billing_usage')
        .select('state')
        .where('owner_id', '=', String(user.id))
        .execute()
      const day = test.sandbox.clock.nowMs() - 86_400_000
      const sums = await user.usage('calls', { from: new Date(day) })
      expect([row?.state, sums.map(({ value }) => value)], at).toEqual(['cancelled', ['0']])
    },
  },
]
