import assert from 'node:assert/strict'
import type {
  Forecasts,
  PossibleSubscription,
} from '../../../gateways/contract/parts/subscriptions/forecasts.ts'
import type { UpcomingInvoice } from '../../../gateways/contract/upcoming-invoice.ts'
import { type Account, type ContractPart, codeOf, openAccount } from '../part.ts'

/** Bills that are still to come, where the provider has them. */
export const forecastsContract: ContractPart = ({ describe, it }, create) => {
  const onBills = (name: string, body: (forecasts: Forecasts, account: Account) => Promise<void>) =>
    it(`${name}, where bills can be looked ahead to`, async () => {
      const account = await openAccount(create)
      const { forecasts } = account.gateway
      if (forecasts) await body(forecasts, account)
    })

  describe('a bill that is to come', () => {
    onBills('is due when the period is over', async (forecasts, { subscribe, read }) => {
      const { id } = await subscribe()
      const upcoming = await forecasts.upcoming(id, 0)
      assert.ok(upcoming && upcoming.total.amount > 0)
      assertAddsUp(upcoming)
      assert.deepEqual(upcoming.date, (await read(id)).periodEndsAt)
    })

    onBills('does not come once it is cancelled', async (forecasts, { gateway, subscribe }) => {
      const { id } = await subscribe()
      await gateway.cancelAtPeriodEnd(id)
      assert.equal(await forecasts.upcoming(id, 0), null)
      await gateway.resume(id)
      assert.ok(await forecasts.upcoming(id, 0))
      await gateway.cancelNow(id)
      assert.equal(await forecasts.upcoming(id, 0), null)
      assert.equal(await forecasts.upcoming('none-of-ours', 0), null)
    })

    onBills('is known before there is a subscription', async (forecasts, account) => {
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

    onBills('is known before there is a customer', async (forecasts, account) => {
      const wanted = { ...possible(account, null), trialDays: 9 }
      const { now: first, next } = await forecasts.ofNew(wanted, account.now())
      assert.equal(first.total.amount, 0)
      assert.ok(next && next.total.amount > 0)
      assert.ok(next.date > account.now())
      assertAddsUp(first)
      assertAddsUp(next)
    })

    onBills('of a plan that is not there is refused', async (forecasts, account) => {
      const wanted = { ...possible(account, null), plan: 'none-of-ours' }
      assert.equal(await codeOf(() => forecasts.ofNew(wanted, account.now())), 'unknown_plan')
    })
  })
}

function possible({ plans }: Account, customerId: string | null): PossibleSubscription {
  const [plan] = plans
  return { customerId, details: {}, plan, quantity: 1, coupon: null, trialDays: null, tax: 0 }
}

function assertAddsUp({ lines, total }: UpcomingInvoice): void {
  assert.equal(
    lines.reduce((sum, { amount }) => sum + amount.amount, 0),
    total.amount,
  )
}
