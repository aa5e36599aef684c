import assert from 'node:assert/strict'
import { lookUpStanding } from '../../core/values/subscription-state.ts'
import {
  type ContractPart,
  catchErrorCode,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'

const DAY = 24 * 3600 * 1000

/** Contract tests of subscriptions, from creation to end. */
export const defineSubscriptionsContract: ContractPart = ({ describe, it }, create) => {
  describe('a subscription', () => {
    it('has the terms it was created with', async () => {
      const { gateway, provider, prices, customerId, subscribe, read } =
        await openContractTestAccount(create)
      const operation = createOperationId()
      const made = await subscribe({ operation })
      const { price, quantity, endsAt, isOver, endReason, trialEndsAt } = made
      assert.deepEqual(
        { price, quantity, endsAt, isOver, endReason, trialEndsAt },
        {
          price: prices[0],
          quantity: 1,
          endsAt: null,
          isOver: false,
          endReason: null,
          trialEndsAt: null,
        },
      )
      assert.equal(lookUpStanding(provider.statuses, made.status), 'open')
      assert.equal(made.operation, operation)
      assert.ok(made.name === 'main' || made.nameDigest !== null)
      assert.equal(await gateway.findCustomerId(await read(made.id)), customerId)
      assert.equal(await gateway.hasPaid(customerId), true)
      await gateway.requirePaid(made)
    })

    it('is created and paid once when the operation is repeated', async () => {
      const { gateway, customerId, subscribe } = await openContractTestAccount(create)
      const operation = createOperationId()
      const first = await subscribe({ operation })
      assert.equal((await subscribe({ operation })).id, first.id)
      const found = await gateway.findByOperation({ id: operation, name: 'main' }, customerId)
      assert.equal(found?.id, first.id)
      const listed = await gateway.listSubscriptions(customerId)
      assert.deepEqual(
        listed.map(({ id }) => id),
        [first.id],
      )
      const filter = { pending: true, limit: null, taxOf: () => 0 }
      assert.equal((await gateway.listInvoices(customerId, filter)).length, 1)
    })

    it('is listed together with older ones', async () => {
      const { gateway, customerId, subscribe } = await openContractTestAccount(create)
      const ids = [(await subscribe()).id, (await subscribe()).id].sort()
      const listed = await gateway.listSubscriptions(customerId)
      assert.deepEqual(listed.map(({ id }) => id).sort(), ids)
    })

    it('is open and unpaid while on trial, and has the end of the trial', async () => {
      const { gateway, provider, customerId, subscribe, now } =
        await openContractTestAccount(create)
      const made = await subscribe({ trialDays: 14 })
      assert.equal(lookUpStanding(provider.statuses, made.status), 'open')
      const days = ((made.trialEndsAt?.getTime() ?? 0) - now().getTime()) / DAY
      assert.ok(days > 13 && days <= 15, `The trial has ${days} days`)
      assert.equal(await gateway.hasPaid(customerId), false)
    })

    it('is rejected with unknown_price for an unknown price', async () => {
      const { gateway, customerId } = await openContractTestAccount(create)
      const wanted = {
        customerId,
        name: 'main',
        quantity: 1,
        coupon: null,
        trialDays: null,
        tax: 0,
      }
      const ask = () =>
        gateway.createSubscription({
          ...wanted,
          price: 'none-of-ours',
          operation: createOperationId(),
        })
      assert.equal(await catchErrorCode(ask), 'unknown_price')
    })

    it('is null if it was never created', async () => {
      const { gateway, customerId } = await openContractTestAccount(create)
      assert.equal(await gateway.findSubscription('none-of-ours'), null)
      const operation = { id: createOperationId(), name: 'main' }
      assert.equal(await gateway.findByOperation(operation, customerId), null)
    })

    it('has no discounts and owes nothing when it is new', async () => {
      const { gateway, subscribe, currency } = await openContractTestAccount(create)
      const made = await subscribe()
      assert.deepEqual(await gateway.findDiscounts(made.id), [])
      assert.deepEqual(await gateway.amountOwed(made), { amount: 0, currency })
      await gateway.payNow(made)
    })
  })

  describe('a cancelled subscription', () => {
    it('runs until the end of the paid period, and can be resumed until then', async () => {
      const { gateway, subscribe, read, now } = await openContractTestAccount(create)
      const { id, paidUntil } = await subscribe()
      await gateway.cancelAtPeriodEnd(id)
      await gateway.cancelAtPeriodEnd(id)
      const cancelled = await read(id)
      assert.ok(cancelled.endsAt && cancelled.endsAt > now())
      assert.deepEqual(cancelled.endsAt, paidUntil)
      assert.equal(cancelled.isOver, false)
      await gateway.resume(id)
      assert.equal((await read(id)).endsAt, null)
    })

    it('ends immediately with cancelNow(), which can be repeated', async () => {
      const { gateway, subscribe, read, now } = await openContractTestAccount(create)
      const { id } = await subscribe()
      await gateway.cancelNow(id)
      await gateway.cancelNow(id)
      const { isOver, endsAt, endReason } = await read(id)
      assert.deepEqual({ isOver, endReason }, { isOver: true, endReason: 'cancelled' })
      assert.ok(endsAt && endsAt <= now())
    })
  })

  describe('a changed subscription', () => {
    const wanted = {
      skipTrial: false,
      prorate: true,
      invoiceNow: false,
      tax: 0,
      before: null,
      prorationDate: null,
    }

    it('has the new price after swap(), which can be repeated', async () => {
      const { gateway, prices, subscribe, read, now } = await openContractTestAccount(create)
      const { id } = await subscribe()
      const swap = { ...wanted, price: prices[1] }
      assert.equal((await gateway.replacements?.isNeeded(id, swap, now())) ?? false, false)
      await gateway.swap(id, swap, now())
      await gateway.swap(id, swap, now())
      assert.equal((await read(id)).price, prices[1])
    })

    it('is unchanged by a preview, and the lines of the preview add up to its total', async () => {
      const { gateway, prices, subscribe, read, now } = await openContractTestAccount(create)
      const { id } = await subscribe()
      const { lines, total } = await gateway.previewSwap(id, { ...wanted, price: prices[1] }, now())
      const sum = lines.reduce((all, { amount }) => all + amount.amount, 0)
      assert.equal(sum, total.amount)
      assert.ok(total.amount > 0)
      assert.equal((await read(id)).price, prices[0])
    })

    it('has the new tax after setTax(), which can be repeated', async () => {
      const { gateway, subscribe, read } = await openContractTestAccount(create)
      const { id, taxedPrice } = await subscribe()
      await gateway.setTax(id, 2000, null)
      await gateway.setTax(id, 2000, null)
      const after = await read(id)
      if (taxedPrice !== null) assert.equal(after.taxedPrice, Math.round(taxedPrice * 1.2))
    })

    it('has the new quantity, if the gateway has quantities', async () => {
      const { gateway, subscribe, read } = await openContractTestAccount(create)
      const { id } = await subscribe()
      await gateway.quantities?.set(id, 3)
      await gateway.quantities?.set(id, 3)
      assert.equal((await read(id)).quantity, gateway.quantities ? 3 : 1)
    })
  })
}
