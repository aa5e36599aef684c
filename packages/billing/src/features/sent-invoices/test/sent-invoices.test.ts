import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { type FlowTest, start } from '../../../../test/support.ts'
import {
  InvalidArgument,
  type Invoice,
  money,
  NoCustomer,
  ProviderRejected,
  Unsupported,
} from '../../../index.ts'

const PRICE = money(250_000, 'usd')

function countSentEvents({ sandbox }: FlowTest): number {
  return sandbox.stripe.events('invoice.sent').length
}

function countCustomerInvoices({ sandbox, user }: FlowTest): number {
  return sandbox.stripe.invoices(user.providerId ?? '').length
}

async function countStoredOperations({ database }: FlowTest): Promise<number> {
  return (await database.kysely.selectFrom('billing_operations').select('id').execute()).length
}

/** Pays on the hosted page with a card, as the customer. */
async function payOnPage({ paymentUrl }: Invoice): Promise<void> {
  const body = new URLSearchParams({ card: 'pm_card_visa' })
  const response = await fetch(paymentUrl ?? '', { method: 'POST', body, redirect: 'manual' })
  expect(response.status).toBe(303)
}

describe('an invoice that is sent by mail', () => {
  it('is due in 30 days by default, and needs no card', async () => {
    const test = await start('stripe')
    const { user } = test
    const invoice = await user.sendInvoice('Consulting', PRICE)
    expect([invoice.paid, invoice.total()]).toEqual([false, '$2,500.00'])
    expect(invoice.dueAt).toEqual(new Date('2026-02-14T10:00:00Z'))
    expect(invoice.paymentUrl).toContain(invoice.id)
    expect([countSentEvents(test), await countStoredOperations(test)]).toEqual([1, 0])
    expect(test.sandbox.stripe.charges(user.providerId ?? '')).toEqual([])
    expect(await user.invoices()).toEqual([])
    expect((await user.invoicesIncludingPending()).map(({ id }) => id)).toEqual([invoice.id])
  })

  it('is created and sent once per idempotency key, and the key is rejected for another amount', async () => {
    const test = await start('stripe')
    const { user } = test
    const options = { daysUntilDue: 14, idempotencyKey: 'order-1' }
    const [first, second] = await Promise.all([
      user.sendInvoice('Consulting', PRICE, options),
      user.sendInvoice('Consulting', PRICE, options),
    ])
    expect(second.id).toBe(first.id)
    expect([countCustomerInvoices(test), countSentEvents(test)]).toEqual([1, 1])
    const other = user.sendInvoice('Consulting', money(1000, 'usd'), options)
    await expect(other).rejects.toThrow(ProviderRejected)
    expect(await countStoredOperations(test)).toBe(0)
  })

  it('cannot have the idempotency key of an invoice that was charged immediately', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.updateCard('pm_card_visa')
    await user.sendInvoice('Consulting', PRICE, { idempotencyKey: 'order-1' })
    const charged = user.invoiceFor('Consulting', PRICE, { idempotencyKey: 'order-1' })
    await expect(charged).rejects.toThrow(ProviderRejected)
    expect(test.sandbox.stripe.charges(user.providerId ?? '')).toEqual([])
  })

  it('can be paid by the customer on its payment page, and then emits invoice.paid once', async () => {
    const told: string[] = []
    const on = {
      'invoice.paid': ({ data }: { data: { invoice: { id: string } } }) =>
        void told.push(data.invoice.id),
    }
    const test = await start('stripe', { on })
    const invoice = await test.user.sendInvoice('Consulting', PRICE)
    await payOnPage(invoice)
    await test.settle()
    expect((await test.user.findInvoice(invoice.id))?.paid).toBe(true)
    expect(told).toEqual([invoice.id])
    expect((await invoice.markPaid()).paid).toBe(true)
    await test.settle()
    expect(told).toEqual([invoice.id])
  })

  it('can be marked as paid after a bank transfer, and nothing is charged then', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    await user.updateCard('pm_card_visa')
    const invoice = await user.sendInvoice('Consulting', PRICE)
    expect((await invoice.markPaid()).paid).toBe(true)
    expect((await invoice.markPaid()).paid).toBe(true)
    expect((await invoice.pay()).paid).toBe(true)
    expect(sandbox.stripe.charges(user.providerId ?? '')).toEqual([])
    expect((await user.invoices()).map(({ id }) => id)).toEqual([invoice.id])
  })

  it('is reported as overdue after its due date, and can still be paid', async () => {
    const overdue: string[] = []
    const handlers = {
      handleInvoiceOverdue: ({ data }: { data: { object: { id?: string } } }) =>
        void overdue.push(String(data.object.id)),
    }
    const test = await start('stripe', { handlers })
    const invoice = await test.user.sendInvoice('Consulting', PRICE, { daysUntilDue: 7 })
    await test.advance({ days: 6 })
    expect(overdue).toEqual([])
    await test.advance({ days: 2 })
    expect(overdue).toEqual([invoice.id])
    await payOnPage(invoice)
    expect((await test.user.findInvoice(invoice.id))?.paid).toBe(true)
  })

  it('cannot be marked as paid after it was voided', async () => {
    const { user } = await start('stripe')
    const invoice = await user.sendInvoice('Consulting', PRICE)
    await invoice.void()
    await expect(invoice.markPaid()).rejects.toThrow(ProviderRejected)
  })

  it('cannot be seen by other users, and cannot be marked as paid by an owner who transferred the customer to another user (threat M1)', async () => {
    const test = await start('stripe')
    const invoice = await test.user.sendInvoice('Consulting', PRICE)
    const eve = await test.createUser({ email: 'eve@example.com' })
    expect(await eve.findInvoice(invoice.id)).toBeNull()
    await test.user.transferTo(eve)
    await expect(invoice.markPaid()).rejects.toThrow(NoCustomer)
    expect((await eve.findInvoice(invoice.id))?.paid).toBe(false)
  })

  it('is rejected before any request if its number of days until due is not a positive whole number', async () => {
    const test = await start('stripe')
    for (const daysUntilDue of [0, -1, 1.5, Number.NaN]) {
      const asked = test.user.sendInvoice('Consulting', PRICE, { daysUntilDue })
      await expect(asked).rejects.toThrow(InvalidArgument)
    }
    expect(test.sandbox.stripe.customers()).toEqual([])
  })

  it('is unsupported at Braintree, before any request', async () => {
    const test = await start('braintree')
    await expect(test.user.sendInvoice('Consulting', PRICE)).rejects.toThrow(Unsupported)
    expect(test.sandbox.braintree.customers()).toEqual([])
  })

  it.each(LOSSES.flatMap((how) => [1, 2, 3, 4, 5, 6].map((after) => ({ how, after }))))(
    'is created and sent once when a response is lost after $after requests (kind of failure: $how)',
    async ({ how, after }) => {
      const test = await start('stripe')
      await test.user.updateCard('pm_card_visa')
      const user = await createImpatientBilling(test).user(test.user.id)
      const send = () => user.sendInvoice('Consulting', PRICE)
      loseResponse(test, 'stripe', { after, how })
      const first = await send().catch(() => null)
      const invoice = first ?? (await send())
      expect((await user.findInvoice(invoice.id))?.total()).toBe('$2,500.00')
      expect([
        countCustomerInvoices(test),
        countSentEvents(test),
        await countStoredOperations(test),
      ]).toEqual([1, 1, 0])
    },
  )
})
