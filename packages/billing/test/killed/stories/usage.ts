import { expect } from 'vitest'
import { createCallPrice, sumChargedCents } from '../../support.ts'
import {
  findMainSubscription,
  type Story,
  type StoryRun,
  subscribe,
  subscriptionJob,
  userJob,
} from '../story.ts'

const reportOf = ({ user }: StoryRun) => `report-${user.id}`

/** The metered price of the story. */
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
    job: () => subscriptionJob('addMeteredPrice', price),
    async outcome(run, at) {
      expect((await findMainSubscription(run)).hasPrice(price), at).toBe(true)
      expect(sumChargedCents(run.test, run.user), at).toBe(1000)
    },
  },
  {
    name: 'cancelUsage',
    providers: ['stripe'],
    prepare,
    async before(run) {
      const { user, card, test } = run
      await user.updateCard(card)
      await user.reportUsage('calls', 5, { id: reportOf(run) })
      await test.billing.process()
    },
    job: (run) => userJob('cancelUsage', reportOf(run)),
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
