import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { type FlowTest, start, sumChargedCents } from '../../../../test/support.ts'
import {
  type AnyBillingEvent,
  type BillableUser,
  type BraintreeUser,
  type Invoice,
  InvoicePaid,
  money,
  PaymentActionRequired,
  ProviderUnavailable,
  Unsupported,
} from '../../../index.ts'

async function newest(user: BillableUser): Promise<Invoice> {
  const [invoice] = await user.invoicesIncludingPending()
  if (!invoice) throw new Error('There is no invoice')
  return invoice
}

/** Creates a subscription whose first payment waits for the customer. */
async function unconfirmed(user: BillableUser): Promise<void> {
  const asked = user.newSubscription('main', 'monthly').create('pm_card_authenticationRequired')
  await expect(asked).rejects.toBeInstanceOf(PaymentActionRequired)
}

async function countStoredOperations({ database }: FlowTest): Promise<number> {
  return (await database.kysely.selectFrom('billing_operations').select('id').execute()).length
}

describe('voiding an invoice at Stripe', () => {
  it('ends the subscription if the invoice is its first one, and emits one event', async () => {
    const emitted: AnyBillingEvent[] = []
    const listen = (event: AnyBillingEvent) => void emitted.push(event)
    const test = await start('stripe', { on: { 'invoice.voided': listen } })
    const { user } = test
    await unconfirmed(user)
    const invoice = await newest(user)
    expect(invoice.voided).toBe(false)
    const voided = await invoice.void()
    expect([voided.id, voided.voided, voided.paid]).toEqual([invoice.id, true, false])
    const subscription = await user.subscription('main')
    expect(subscription.providerStatus).toBe('incomplete_expired')
    expect([subscription.valid(), subscription.ended()]).toEqual([false, true])
    expect(await subscription.pendingConfirmation()).toBeNull()
    expect(await subscription.latestPayment()).toMatchObject({ status: 'cancelled' })
    await voided.void()
    await test.settle()
    await test.settle()
    expect(emitted).toMatchObject([
      { data: { invoice: { id: invoice.id, total: money(1000, 'usd') } } },
    ])
    expect(await countStoredOperations(test)).toBe(0)
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    expect(await user.subscribed('main')).toBe(true)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('removes the debt of a later period, and the subscription continues', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
    await test.advance({ months: 1, hours: 2 })
    expect((await user.subscription('main')).pastDue()).toBe(true)
    await (await newest(user)).void()
    const subscription = await user.subscription('main')
    expect([subscription.providerStatus, subscription.pastDue()]).toEqual(['active', false])
    expect((await subscription.amountOwed())?.amount).toBe(0)
    await test.advance({ days: 10 })
    expect(sumChargedCents(test, user)).toBe(1000)
    await test.advance({ months: 1 })
    expect(sumChargedCents(test, user)).toBe(2000)
  })

  it('is possible while the invoice is a draft, and the draft is then never charged', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.advance({ months: 1, minutes: 1 })
    await (await newest(user)).void()
    await test.advance({ days: 3 })
    expect(sumChargedCents(test, user)).toBe(1000)
    expect((await user.subscription('main')).providerStatus).toBe('active')
  })

  /**
   * Each row: the customer's credit, whether an invoice over 10.00 can be voided, and what the card
   * and the credit have paid in the end.
   */
  it.each([
    { cents: 300, isVoid: true, taken: 0, left: 300 },
    { cents: 800, isVoid: true, taken: 0, left: 800 },
    // The rest might be too small to charge a card.
    { cents: 801, isVoid: false, taken: 199, left: 0 },
    { cents: 970, isVoid: false, taken: 0, left: -30 },
    { cents: 1000, isVoid: false, taken: 0, left: 0 },
    { cents: 1500, isVoid: false, taken: 0, left: 500 },
  ])(
    'does not change a customer balance of $cents cents if the invoice is a draft, even if voiding is refused',
    async (row) => {
      const test = await start('stripe')
      const { user } = test
      await user.newSubscription('main', 'monthly').create('pm_card_visa')
      await test.advance({ months: 1, minutes: 1 })
      await user.creditBalance(row.cents)
      const draft = await newest(user)
      const voided = await draft.void().catch((error: unknown) => error)
      if (row.isVoid) expect(voided).toMatchObject({ id: draft.id, voided: true })
      else expect(voided).toBeInstanceOf(InvoicePaid)
      expect(await user.balance()).toEqual(money(row.cents, 'usd'))
      expect(await countStoredOperations(test)).toBe(0)
      await test.advance({ days: 3 })
      expect([sumChargedCents(test, user), await user.balance()]).toEqual([
        1000 + row.taken,
        money(row.left, 'usd'),
      ])
    },
  )

  it('is refused for a draft that is paid with credit; once the invoice is final, a credit note can return the credit', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await user.creditBalance(1500)
    await test.advance({ months: 1, minutes: 1 })
    await expect((await newest(user)).void()).rejects.toThrow(/credit note once it is paid/)
    await test.advance({ days: 1 })
    expect(await user.balance()).toEqual(money(500, 'usd'))
    await (await newest(user)).creditNote({ to: 'balance' })
    expect(await user.balance()).toEqual(money(1500, 'usd'))
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it.each(LOSSES)(
    'returns the credit that a draft used, even if a response is lost (kind of failure: %s)',
    async (how) => {
      const test = await start('stripe', { webhooks: false })
      const billing = createImpatientBilling(test)
      for (let after = 0, wasHit = true; wasHit; after++) {
        const user = await billing.user((await test.createUser()).id)
        await user.newSubscription('main', 'monthly').create('pm_card_visa')
        await test.sandbox.clock.advance({ months: 1, minutes: 1 })
        await user.creditBalance(300)
        const draft = await newest(user)
        loseResponse(test, 'stripe', { after, how })
        const first = await draft.void().catch((error: unknown) => error)
        wasHit = first instanceof ProviderUnavailable
        test.sandbox.trouble.clear()
        expect((await draft.void()).voided, `call ${after}`).toBe(true)
        expect(await user.balance(), `call ${after}`).toEqual(money(300, 'usd'))
      }
    },
  )

  it('is refused once the invoice is paid', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const invoice = await newest(user)
    await expect(invoice.void()).rejects.toBeInstanceOf(InvoicePaid)
    expect((await newest(user)).paid).toBe(true)
    expect(await countStoredOperations(test)).toBe(0)
    expect(await user.subscribed('main')).toBe(true)
  })

  it.each(LOSSES)(
    'emits one event and updates the subscription’s row even if a response is lost (kind of failure: %s)',
    async (how) => {
      const test = await start('stripe', { webhooks: false })
      const billing = createImpatientBilling(test)
      for (let after = 0, wasHit = true; wasHit; after++) {
        const user = await billing.user((await test.createUser()).id)
        await unconfirmed(user)
        const invoice = await newest(user)
        loseResponse(test, 'stripe', { after, how })
        const first = await invoice.void().catch((error: unknown) => error)
        wasHit = first instanceof ProviderUnavailable
        test.sandbox.trouble.clear()
        expect((await invoice.void()).voided, `call ${after}`).toBe(true)
        const subscription = await user.subscription('main')
        expect(subscription.providerStatus, `call ${after}`).toBe('incomplete_expired')
        expect(await countStoredOperations(test)).toBe(0)
      }
    },
  )
})

it('voiding an invoice is unsupported at Braintree, both in the types and at run time', async () => {
  const { user } = await start('braintree')
  await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
  await expect((await newest(user)).void()).rejects.toBeInstanceOf(Unsupported)
  const typed = user as unknown as BraintreeUser
  const [invoice] = await typed.invoicesIncludingPending()
  // @ts-expect-error not there for the compiler
  await expect(invoice?.void()).rejects.toMatchObject({ capability: 'invoiceActions' })
  expect(invoice && (await typed.refund(invoice)).status).toBe('voided')
})
