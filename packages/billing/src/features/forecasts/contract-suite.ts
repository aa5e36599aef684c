import assert from 'node:assert/strict'
import {
  type ContractPart,
  type ContractTestAccount,
  catchErrorCode,
  createCapabilityTests,
} from '../../providers/contract-suite.ts'
import type { PreviewedSubscription } from './contract.ts'
import type { UpcomingInvoice } from './upcoming-invoice.ts'

/** Contract tests of invoice previews, for gateways that implement `forecasts`. */
export const defineForecastsContract: ContractPart = ({ describe, it }, create) => {
  const onBills = createCapabilityTests('forecasts', 'for gateways with previews', { it }, create)

  describe('an upcoming invoice', () => {
    onBills('is due at the end of the period', async (forecasts, { subscribe, read }) => {
      const { id } = await subscribe()
      const upcoming = await forecasts.upcoming(id, 0)
      assert.ok(upcoming && upcoming.total.amount > 0)
      assertAddsUp(upcoming)
      assert.deepEqual(upcoming.date, (await read(id)).periodEndsAt)
    })

    onBills(
      'is null once the subscription is cancelled',
      async (forecasts, { gateway, subscribe }) => {
        const { id } = await subscribe()
        await gateway.cancelAtPeriodEnd(id)
        assert.equal(await forecasts.upcoming(id, 0), null)
        await gateway.resume(id)
        assert.ok(await forecasts.upcoming(id, 0))
        await gateway.cancelNow(id)
        assert.equal(await forecasts.upcoming(id, 0), null)
        assert.equal(await forecasts.upcoming('none-of-ours', 0), null)
      },
    )

    onBills('can be previewed before there is a subscription', async (forecasts, account) => {
      const { customerId, gateway, now } = account
      const { now: first, next } = await forecasts.ofNew(possible(account, customerId), now())
      assert.deepEqual(await gateway.listSubscriptions(customerId), [])
      const { id } = await account.subscribe()
      const filter = { pending: true, limit: null, taxOf: () => 0 }
      const [invoice] = await gateway.listInvoices(customerId, filter)
      assert.equal(first.total.amount, invoice?.amountDue)
      assert.equal(next?.total.amount, (await forecasts.upcoming(id, 0))?.total.amount)
      assert.deepEqual(next?.date, (await account.read(id)).periodEndsAt)
    })

    onBills('can be previewed before there is a customer', async (forecasts, account) => {
      const wanted = { ...possible(account, null), trialDays: 9 }
      const { now: first, next } = await forecasts.ofNew(wanted, account.now())
      assert.equal(first.total.amount, 0)
      assert.ok(next && next.total.amount > 0)
      assert.ok(next.date > account.now())
      assertAddsUp(first)
      assertAddsUp(next)
    })

    onBills('is refused for an unknown price', async (forecasts, account) => {
      const wanted = { ...possible(account, null), price: 'none-of-ours' }
      assert.equal(
        await catchErrorCode(() => forecasts.ofNew(wanted, account.now())),
        'unknown_price',
      )
    })
  })
}

function possible(
  { prices }: ContractTestAccount,
  customerId: string | null,
): PreviewedSubscription {
  const [price] = prices
  return { customerId, details: {}, price, quantity: 1, coupon: null, trialDays: null, tax: 0 }
}

function assertAddsUp({ lines, total }: UpcomingInvoice): void {
  assert.equal(
    lines.reduce((sum, { amount }) => sum + amount.amount, 0),
    total.amount,
  )
}
