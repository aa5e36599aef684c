import type braintree from 'braintree'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addCustomer, listen, type Merchant, type Received, startMerchant } from './support.ts'

type Operation =
  | { readonly do: 'advance'; readonly days: number }
  | { readonly do: 'price'; readonly cents: number; readonly prorate: boolean }
  | { readonly do: 'discount'; readonly cents: number; readonly cycles: number }
  | { readonly do: 'undiscount' | 'decline' | 'retry' | 'cancel' | 'finish' | 'resume' | 'refund' }

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('advance'), days: fc.nat(45) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('price'),
      cents: fc.integer({ min: 0, max: 20_000 }),
      prorate: fc.boolean(),
    }),
  },
  fc.record({
    do: fc.constant('discount'),
    cents: fc.integer({ min: 1, max: 30_000 }),
    cycles: fc.integer({ min: 1, max: 3 }),
  }),
  fc
    .constantFrom('undiscount', 'decline', 'retry', 'cancel', 'finish', 'resume', 'refund')
    .map((name) => ({ do: name })),
) as fc.Arbitrary<Operation>

async function perform(merchant: Merchant, customerId: string, step: Operation): Promise<void> {
  const { gateway, clock, trouble, sandbox } = merchant
  const update = (changes: object) => gateway.subscription.update('s', changes as never)
  switch (step.do) {
    case 'advance':
      await clock.advance({ days: step.days })
      return
    case 'price':
      await update({
        price: (step.cents / 100).toFixed(2),
        options: { prorateCharges: step.prorate },
      })
      return
    case 'discount': {
      const amount = (step.cents / 100).toFixed(2)
      const item = { inheritedFromId: 'plan-credit', amount, numberOfBillingCycles: step.cycles }
      await update({ discounts: { add: [item] } })
      return
    }
    case 'undiscount':
      await update({ discounts: { remove: ['plan-credit'] } })
      return
    case 'decline':
      trouble.declineNextCharge(customerId, '2001')
      return
    case 'retry':
      await gateway.subscription.retryCharge('s', undefined as never, true as never)
      return
    case 'cancel':
      await gateway.subscription.cancel('s')
      return
    case 'finish': {
      const cycle = sandbox.subscription('s')?.currentBillingCycle ?? 0
      await update({ numberOfBillingCycles: Math.max(1, cycle) })
      return
    }
    case 'resume':
      await update({ neverExpires: true, numberOfBillingCycles: null })
      return
    case 'refund': {
      const [settled] = sandbox.transactions(customerId).filter((row) => row.status === 'settled')
      if (settled) await gateway.transaction.refund(settled.id, '0.01')
    }
  }
}

const PAID = new Set(['authorized', 'submitted_for_settlement', 'settling', 'settled'])

describe('the money of random Braintree subscriptions', () => {
  it('always adds up: the billed amount equals the sum of the paid and the owed amounts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 3, maxLength: 14 }),
        fc.boolean(),
        async (steps, withTrial) => {
          const merchant = await startMerchant()
          const { gateway, sandbox } = merchant
          const { token, customerId } = await addCustomer(merchant)
          const planId = withTrial ? 'trial' : 'monthly'
          const { url, received } = await listen(merchant)
          sandbox.registerWebhook(url)
          await gateway.subscription.create({ id: 's', planId, paymentMethodToken: token })
          for (const step of steps) {
            const before = sandbox.subscription('s')
            const made = sandbox.transactions(customerId).length
            await merchant.outbox.flush()
            const told = received.length
            await perform(merchant, customerId, step)
            await merchant.outbox.flush()
            checkStep(merchant, customerId, { before, made, step })
            if (step.do === 'advance')
              checkNotifications(merchant, customerId, made, received.slice(told))
            expect(replay(received)).toBe(sandbox.subscription('s')?.status)
          }
          checkRefunds(merchant, customerId)
          await sandbox.close()
          merchant.outbox.close()
        },
      ),
      { numRuns: 60, seed: 20260115 },
    )
  })
})

type Row = ReturnType<Merchant['sandbox']['subscription']>

function checkStep(
  merchant: Merchant,
  customerId: string,
  past: { before: Row; made: number; step: Operation },
): void {
  const after = merchant.sandbox.subscription('s')
  const { before } = past
  if (!before || !after) throw new Error('The subscription is never deleted')
  const added = merchant.sandbox.transactions(customerId).slice(past.made)
  const sales = added.filter((row) => row.type === 'sale')
  const paid = sales.filter((row) => PAID.has(row.status)).reduce((sum, row) => sum + row.amount, 0)
  const billed = after.balance - before.balance + paid

  if (past.step.do === 'advance') {
    // Each cycle that started billed exactly its price less its discount.
    const cycles = after.currentBillingCycle - before.currentBillingCycle
    expect(billed).toBe(amountOfCycles(before, cycles))
  } else if (past.step.do === 'price' && past.step.prorate && after.price === past.step.cents) {
    // A price change bills at most the whole difference, and never with the opposite sign.
    const difference = after.price - before.price
    expect(Math.abs(billed)).toBeLessThanOrEqual(Math.abs(difference))
    if (billed !== 0) expect(Math.sign(billed)).toBe(Math.sign(difference))
  } else {
    expect(billed).toBe(0)
  }
  // A credit has a cause, and a debt means past due or a failed proration.
  if (after.status === 'Past Due') expect(after.balance).toBeGreaterThan(0)
  for (const sale of sales) expect(sale.amount).toBeGreaterThan(0)
}

function transactionOf({ notification }: Received): string | undefined {
  return (notification as braintree.SubscriptionNotification).subscription.transactions?.[0]?.id
}

/** Checks that each charge made by the clock has one notification, with its outcome. */
function checkNotifications(
  merchant: Merchant,
  customerId: string,
  made: number,
  received: readonly Received[],
): void {
  const sales = merchant.sandbox.transactions(customerId).slice(made)
  const told = (kind: string) => received.filter((one) => one.kind === kind).map(transactionOf)
  const ids = (paid: boolean) =>
    sales.filter((row) => PAID.has(row.status) === paid).map((row) => row.id)
  expect(told('subscription_charged_successfully')).toEqual(ids(true))
  expect(told('subscription_charged_unsuccessfully')).toEqual(ids(false))
}

const STATUS_AFTER: Readonly<Record<string, string>> = {
  subscription_went_active: 'Active',
  subscription_went_past_due: 'Past Due',
  subscription_canceled: 'Canceled',
  subscription_expired: 'Expired',
}

/** Returns the status that a receiver derives from the notifications alone. */
function replay(received: readonly Received[]): string {
  return received.reduce((status, { kind }) => STATUS_AFTER[kind] ?? status, 'Active')
}

function amountOfCycles(row: NonNullable<Row>, cycles: number): number {
  let total = 0
  const left = row.discounts.map((discount) => ({
    amount: discount.amount * discount.quantity,
    cycles: (discount.numberOfBillingCycles ?? 0) - discount.currentBillingCycle,
  }))
  for (let i = 0; i < cycles; i++) {
    total += row.price
    for (const discount of left) {
      if (discount.cycles <= 0) continue
      discount.cycles -= 1
      total -= discount.amount
    }
  }
  return total
}

/**
 * Checks that no sale is refunded beyond its amount, and that each refund is listed on its sale.
 */
function checkRefunds(merchant: Merchant, customerId: string): void {
  const rows = merchant.sandbox.transactions(customerId)
  for (const sale of rows.filter((row) => row.type === 'sale')) {
    const refunds = rows.filter((row) => row.refundedTransactionId === sale.id)
    expect(refunds.map((row) => row.id)).toEqual(sale.refundIds)
    expect(refunds.reduce((sum, row) => sum + row.amount, 0)).toBeLessThanOrEqual(sale.amount)
  }
}
