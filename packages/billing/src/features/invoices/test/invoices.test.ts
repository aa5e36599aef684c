import { describe, expect, it } from 'vitest'
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
