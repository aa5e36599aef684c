import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { openPage, readAlert, readRowAmount, submit } from './page-forms.ts'
import { seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

/** Creates a past due renewal, whose invoice page is linked in e-mails. */
async function startPastDue() {
  const setup = await startStripeSandbox({ stripe: { dunning: { retryAfterDays: [3] } } })
  const { sandbox, stripe } = setup
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const { id } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const bad = await stripe.paymentMethods.attach('pm_card_chargeCustomerFail', {
    customer: customer.id,
  })
  await stripe.subscriptions.update(id, { default_payment_method: bad.id })
  await sandbox.clock.advance({ months: 1, hours: 2 })
  const subscription = async () =>
    await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })
  const invoice = (await subscription()).latest_invoice as Stripe.Invoice
  expect([invoice.status, (await subscription()).status]).toEqual(['open', 'past_due'])
  return { ...setup, customer, subscription, invoice, url: invoice.hosted_invoice_url ?? null }
}

describe('the page of an open Stripe invoice', () => {
  it('shows the amount due, and accepts a card that pays it', async () => {
    const { stripe, sandbox, customer, subscription, invoice, url } = await startPastDue()
    const page = await openPage(url)
    expect([page.status, readRowAmount(page, 'Amount due')]).toEqual([200, '$10.00'])
    expect(page.text).toContain('<select name="card">')

    const declined = await submit(url, { card: 'pm_card_chargeDeclined' })
    expect([declined.status, readAlert(declined)]).toEqual([402, 'Your card was declined.'])
    expect((await subscription()).status).toBe('past_due')

    const asked = await submit(url, { card: 'pm_card_threeDSecure2Required' })
    expect(asked.text).toContain('Your bank asks you')
    const failed = await submit(url, { card: 'pm_card_threeDSecure2Required', challenge: 'fail' })
    expect(readAlert(failed)).toContain('unable to authenticate')
    expect((await subscription()).status).toBe('past_due')

    const paid = await submit(url, {
      card: 'pm_card_threeDSecure2Required',
      challenge: 'complete',
    })
    expect(paid.location).toBe(new URL(url ?? '').pathname)
    expect((await openPage(url)).text).not.toContain('<form')
    expect([
      (await subscription()).status,
      (await stripe.invoices.retrieve(invoice.id)).status,
    ]).toEqual(['active', 'paid'])
    const taken = sandbox.stripe.charges(customer.id).filter(({ paid }) => paid)
    expect(taken).toHaveLength(2)
    // A repeated form pays once.
    expect((await submit(url, { card: 'pm_card_visa' })).status).toBe(303)
    expect(sandbox.stripe.charges(customer.id).filter(({ paid }) => paid)).toHaveLength(2)
  })

  it("accepts only the customer's own saved cards", async () => {
    const { stripe, customer, subscription, url } = await startPastDue()
    const { data } = await stripe.paymentMethods.list({ customer: customer.id, type: 'card' })
    const visa = data.find(({ card }) => card?.last4 === '4242')?.id ?? ''
    expect((await openPage(url)).text).toContain(visa)
    const stranger = await seedCustomer(stripe)
    const refused = await submit(url, { card: stranger.method.id })
    expect([refused.status, (await subscription()).status]).toEqual([400, 'past_due'])
    await submit(url, { card: visa })
    expect((await subscription()).status).toBe('active')
  })
})

it('the Stripe sandbox serves the page of a credit note at the URL in its pdf field', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const { latest_invoice } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const note = await stripe.creditNotes.create({
    invoice: String(latest_invoice),
    amount: 400,
    credit_amount: 400,
  })
  const page = await openPage(note.pdf)
  expect([page.status, readRowAmount(page, 'Total credited')]).toEqual([200, '$4.00'])
  expect(page.text).toContain(note.number)
})

const EVIL = 'https://evil.example'

it.each([
  ['another site', { origin: EVIL }, 403, 'open'],
  ['a page without an origin', { origin: 'null' }, 403, 'open'],
  ['a browser without an Origin header', { 'sec-fetch-site': 'cross-site' }, 403, 'open'],
  ['its own page', {}, 303, 'paid'],
])(
  'the Stripe sandbox accepts a form to pay an invoice only from its own page, tested with %s',
  async (_who, headers, status, invoiceStatus) => {
    const { stripe, invoice } = await startPastDue()
    const url = invoice.hosted_invoice_url ?? ''
    const own = Object.keys(headers).length === 0 ? { origin: new URL(url).origin } : headers
    const response = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ card: 'pm_card_visa' }),
      headers: own as Record<string, string>,
      redirect: 'manual',
    })
    expect(response.status).toBe(status)
    const text = await response.text()
    expect(text.includes('--allow-host evil.example')).toBe('origin' in own && own.origin === EVIL)
    expect(text.includes('without a valid Origin header')).toBe(
      status === 403 && !text.includes('--allow-host'),
    )
    expect((await stripe.invoices.retrieve(invoice.id ?? '')).status).toBe(invoiceStatus)
  },
)
