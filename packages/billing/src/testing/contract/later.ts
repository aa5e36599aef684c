import assert from 'node:assert/strict'
import type { WantedItem } from '../../gateways/contract/item.ts'
import type { Pauses } from '../../gateways/contract/parts/subscriptions/pauses.ts'
import type { Schedules } from '../../gateways/contract/parts/subscriptions/schedules.ts'
import { type Account, type ContractPart, codeOf, newOperation, openAccount } from './part.ts'

/** Changes of prices that come later, where the provider has them. */
export const schedulesContract: ContractPart = ({ describe, it }, create) => {
  const onSchedules = (
    name: string,
    body: (schedules: Schedules, account: Account) => Promise<void>,
  ) =>
    it(`${name}, where swaps can be planned`, async () => {
      const account = await openAccount(create)
      const { schedules } = account.gateway
      if (schedules) await body(schedules, account)
    })
  const plan = (items: readonly WantedItem[], operation: string | null = newOperation()) =>
    ({ items, at: 'period_end', tax: 0, operation }) as const

  describe('a planned swap', () => {
    onSchedules(
      'leaves all as it is, however often it is asked for',
      async (schedules, account) => {
        const { id, plan: before, periodEndsAt } = await account.subscribe()
        const items = [{ price: account.plans[1], quantity: 2 }]
        const operation = newOperation()
        for (let i = 0; i < 2; i++) await schedules.plan(id, plan(items, operation))
        const found = await account.read(id)
        assert.equal(found.plan, before)
        assert.deepEqual(found.planned, { items, at: periodEndsAt, operation })
        assert.equal(found.isScheduled, true)
        assert.equal(found.endsAt, null)
      },
    )

    onSchedules('takes the place of another', async (schedules, account) => {
      const { id, plan: present } = await account.subscribe()
      const [, dearer] = account.plans
      await schedules.plan(id, plan([{ price: dearer, quantity: 1 }]))
      const first = (await account.read(id)).planned?.operation
      // Brought up to date, it belongs to whom it did.
      await schedules.plan(id, plan([{ price: dearer, quantity: 3 }], null))
      const { planned } = await account.read(id)
      assert.deepEqual(
        [planned?.items, planned?.operation],
        [[{ price: dearer, quantity: 3 }], first],
      )
      const operation = newOperation()
      await schedules.plan(id, plan([{ price: present, quantity: 4 }], operation))
      const last = await account.read(id)
      assert.deepEqual(last.planned?.items, [{ price: present, quantity: 4 }])
      assert.equal(last.planned?.operation, operation)
    })

    onSchedules('is forgotten, and nothing else is', async (schedules, account) => {
      const { id, plan: present } = await account.subscribe()
      await schedules.plan(id, plan([{ price: account.plans[1], quantity: 1 }]))
      for (let i = 0; i < 2; i++) await schedules.release(id)
      const found = await account.read(id)
      assert.deepEqual([found.plan, found.planned, found.isScheduled], [present, null, false])
      await account.gateway.cancelAtPeriodEnd(id)
    })

    onSchedules('is one of prices that there are', async (schedules, account) => {
      const { id } = await account.subscribe()
      const none = plan([{ price: 'none-of-theirs', quantity: 1 }])
      assert.equal(await codeOf(() => schedules.plan(id, none)), 'unknown_plan')
      const { planned, isScheduled } = await account.read(id)
      assert.deepEqual([planned, isScheduled], [null, false])
    })

    onSchedules('knows which prices go together', async (schedules, { plans: [price] }) => {
      assert.equal(await schedules.haveOneRhythm([price, price]), true)
      const none = () => schedules.haveOneRhythm([price, 'none-of-theirs'])
      assert.equal(await codeOf(none), 'unknown_plan')
    })
  })
}

/** Subscriptions that nobody pays for a while, where the provider has them. */
export const pausesContract: ContractPart = ({ describe, it }, create) => {
  const onPauses = (name: string, body: (pauses: Pauses, account: Account) => Promise<void>) =>
    it(`${name}, where there are pauses`, async () => {
      const account = await openAccount(create)
      const { pauses } = account.gateway
      if (pauses) await body(pauses, account)
    })

  describe('a pause', () => {
    onPauses('is as it was last asked for', async (pauses, account) => {
      const { id, plan, status } = await account.subscribe()
      const now = Math.floor(account.now().getTime() / 1000) * 1000
      const until = new Date(now + 50 * 86_400_000)
      for (const pause of [
        { until: null, bills: 'void' },
        { until, bills: 'keep_as_draft' },
        { until, bills: 'mark_uncollectible' },
        { until: null, bills: 'void' },
      ] as const) {
        for (let i = 0; i < 2; i++) await pauses.pause(id, pause)
        const found = await account.read(id)
        assert.deepEqual([found.pause, found.plan, found.endsAt], [pause, plan, null])
      }
      for (let i = 0; i < 2; i++) await pauses.unpause(id)
      const found = await account.read(id)
      assert.deepEqual([found.pause, found.status], [null, status])
    })
  })
}
