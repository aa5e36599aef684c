import { describe, expect, it } from 'vitest'
import { extractPdfText } from '../../../../test/read-pdf.ts'
import { PROVIDERS, start, stripeSdk } from '../../../../test/support.ts'
import { InvalidArgument } from '../../../index.ts'

describe.each(PROVIDERS)('invoices at $provider', ({ provider, card, ten }) => {
  it('are listed completely, over all pages of the provider, or up to a limit', async () => {
    const test = await start(provider, {
      webhooks: false,
      prices: { monthly: { amount: 1000, months: 1 } },
    })
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create(card)
    await sandbox.clock.advance({ months: 520 })
    const all = await user.invoices()
    expect(all.length).toBeGreaterThan(510)
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    const times = all.map((invoice) => invoice.date().getTime())
    expect(times).toEqual([...times].sort((a, b) => b - a))
    const newest = await user.invoices({ limit: 3 })
    expect(newest.map(({ id }) => id)).toEqual(all.slice(0, 3).map(({ id }) => id))
    await expect(user.invoices({ limit: 0 })).rejects.toThrow(InvalidArgument)
  })

  it('are returned only by invoicesIncludingPending() while they are unpaid', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    await user.updateCard(card)
    if (provider === 'stripe') {
      sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
      await expect(user.invoiceFor('Setup', ten)).rejects.toThrow()
    } else {
      await user.invoiceFor('Setup', ten)
    }
    expect(await user.invoices()).toEqual([])
    const pending = await user.invoicesIncludingPending()
    expect(pending).toMatchObject([{ paid: false, lines: [{ description: 'Setup' }] }])
  })

  it('are returned neither by invoices() nor by invoicesIncludingPending() once they are void', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    await user.updateCard(card)
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    const failed = user.invoiceFor('Setup', ten, { voidOnFailure: true })
    await expect(failed).rejects.toThrow(/insufficient/i)
    expect(await user.invoicesIncludingPending()).toEqual([])
    if (provider === 'braintree') return
    const stripe = await stripeSdk(test)
    const { data } = await stripe.invoices.list({ customer: user.providerId ?? '' })
    expect(data.map(({ status }) => status)).toEqual(['void'])
  })
})

describe.each([
  { provider: 'stripe', first: 'pm_card_visa', second: 'pm_card_mastercard', ten: 1000 },
  {
    provider: 'braintree',
    first: 'fake-valid-visa-nonce',
    second: 'fake-valid-mastercard-nonce',
    ten: 10,
  },
] as const)('the payment method on receipts at $provider', ({ provider, first, second, ten }) => {
  const seller = { vendor: 'Example Ltd', product: 'Gold', locale: 'en' }

  it('is the card that was charged, even after another card was stored', async () => {
    const test = await start(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(first)
    await test.advance({ days: 3 })
    await user.updateCard(second)
    const [invoice] = await user.invoices()
    const used = await invoice?.paidWith()
    expect(used).toEqual([
      {
        kind: 'card',
        brand: expect.stringMatching(/^visa$/i),
        ...REST,
        lastFour: expect.any(String),
      },
    ])
    const label = `Visa •••• ${used?.[0]?.lastFour}`
    for (const [locale, words] of [
      ['en', 'Paid with'],
      ['de', 'Bezahlt mit'],
    ]) {
      const options = { ...seller, locale: locale ?? '' }
      const response = await user.downloadInvoice(invoice?.id ?? '', options)
      const text = extractPdfText(new Uint8Array(await response.arrayBuffer()))
      expect(text).toContain(`${words} ${label}`)
    }
    const without = await user.downloadInvoice(invoice?.id ?? '', { ...seller, paidWith: [] })
    const text = extractPdfText(new Uint8Array(await without.arrayBuffer()))
    expect(text).not.toContain('Paid with')
  })

  it('is empty for an unpaid invoice, whose PDF does not name one', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    await user.updateCard(first)
    if (provider === 'stripe') {
      sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
      await expect(user.invoiceFor('Setup', ten)).rejects.toThrow()
    } else {
      await user.invoiceFor('Setup', ten)
    }
    const [pending] = await user.invoicesIncludingPending()
    expect([pending?.paid, await pending?.paidWith()]).toEqual([false, []])
    const response = await user.downloadInvoice(pending?.id ?? '', seller)
    const text = extractPdfText(new Uint8Array(await response.arrayBuffer()))
    expect(text).not.toContain('Paid with')
  })
})

const REST = { email: null, bank: null }

describe('the payment method on receipts', () => {
  it('is the PayPal account at Braintree', async () => {
    const test = await start('braintree')
    await test.user.newSubscription('main', 'monthly').create('fake-paypal-billing-agreement-nonce')
    await test.advance({ days: 3 })
    const [invoice] = await test.user.invoices()
    expect(await invoice?.paidWith()).toEqual([
      {
        kind: 'paypal',
        brand: null,
        lastFour: null,
        email: expect.stringContaining('@'),
        bank: null,
      },
    ])
  })

  it('is empty for an invoice that was paid outside Stripe, or from credit', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    await user.updateCard('pm_card_visa')
    sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
    await expect(user.invoiceFor('Setup', 1000)).rejects.toThrow()
    const [open] = await user.invoicesIncludingPending()
    const marked = await open?.markPaid()
    expect([marked?.paid, await marked?.paidWith()]).toEqual([true, []])
    await user.creditBalance(5000)
    const free = await user.invoiceFor('Extra', 1000)
    expect([free.paid, free.amounts.amountDue.amount, await free.paidWith()]).toEqual([true, 0, []])
  })
})
