import assert from 'node:assert/strict'
import {
  type ContractPart,
  catchErrorCode,
  createCapabilityTests,
  createOperationId,
} from '../../providers/contract-suite.ts'
import type { RequestedItem } from '../../providers/item.ts'

/** Contract tests of planned swaps, for gateways that implement `schedules`. */
export const defineSchedulesContract: ContractPart = ({ describe, it }, create) => {
  const onSchedules = createCapabilityTests(
    'schedules',
    'if the gateway can plan swaps',
    { it },
    create,
  )
  const plan = (items: readonly RequestedItem[], operation: string | null = createOperationId()) =>
    ({ items, at: 'period_end', tax: 0, operation }) as const

  describe('a planned swap', () => {
    onSchedules(
      'changes nothing before its date, and is planned once when the call is repeated',
      async (schedules, account) => {
        const { id, price: before, periodEndsAt } = await account.subscribe()
        const items = [{ price: account.prices[1], quantity: 2 }]
        const operation = createOperationId()
        for (let i = 0; i < 2; i++) await schedules.plan(id, plan(items, operation))
        const found = await account.read(id)
        assert.equal(found.price, before)
        assert.deepEqual(found.planned, { items, at: periodEndsAt, operation })
        assert.equal(found.isScheduled, true)
        assert.equal(found.endsAt, null)
      },
    )

    onSchedules('replaces an earlier plan', async (schedules, account) => {
      const { id, price: present } = await account.subscribe()
      const [, dearer] = account.prices
      await schedules.plan(id, plan([{ price: dearer, quantity: 1 }]))
      const first = (await account.read(id)).planned?.operation
      // Without an operation, the plan is updated and stays with the operation that made it.
      await schedules.plan(id, plan([{ price: dearer, quantity: 3 }], null))
      const { planned } = await account.read(id)
      assert.deepEqual(
        [planned?.items, planned?.operation],
        [[{ price: dearer, quantity: 3 }], first],
      )
      const operation = createOperationId()
      await schedules.plan(id, plan([{ price: present, quantity: 4 }], operation))
      const last = await account.read(id)
      assert.deepEqual(last.planned?.items, [{ price: present, quantity: 4 }])
      assert.equal(last.planned?.operation, operation)
    })

    onSchedules(
      'can be cancelled, and the subscription stays as it is',
      async (schedules, account) => {
        const { id, price: present } = await account.subscribe()
        await schedules.plan(id, plan([{ price: account.prices[1], quantity: 1 }]))
        for (let i = 0; i < 2; i++) await schedules.release(id)
        const found = await account.read(id)
        assert.deepEqual([found.price, found.planned, found.isScheduled], [present, null, false])
        await account.gateway.cancelAtPeriodEnd(id)
      },
    )

    onSchedules('rejects a price that does not exist', async (schedules, account) => {
      const { id } = await account.subscribe()
      const none = plan([{ price: 'none-of-theirs', quantity: 1 }])
      assert.equal(await catchErrorCode(() => schedules.plan(id, none)), 'unknown_price')
      const { planned, isScheduled } = await account.read(id)
      assert.deepEqual([planned, isScheduled], [null, false])
    })

    onSchedules(
      'accepts prices of the same billing interval, and rejects unknown ones',
      async (schedules, { prices: [price] }) => {
        assert.equal(await schedules.haveSameInterval([price, price]), true)
        const none = () => schedules.haveSameInterval([price, 'none-of-theirs'])
        assert.equal(await catchErrorCode(none), 'unknown_price')
      },
    )
  })
}
