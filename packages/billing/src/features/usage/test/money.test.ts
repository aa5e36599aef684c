import { describe, expect, it } from 'vitest'
import { extractPdfText } from '../../../../test/read-pdf.ts'
import { sumChargedCents } from '../../../../test/support.ts'
import { renderInvoice } from '../../../index.ts'
import { createTieredTerms, PRICING_CASES } from './priced.ts'
import { type MeteredTest, type PriceTerms, startWithMeter } from './support.ts'

const GRADUATED = createTieredTerms('graduated').stripe

async function subscribe(test: MeteredTest, terms: PriceTerms) {
  const price = await test.price(terms)
  await test.user.newSubscription('main', 'monthly').meteredPrice(price).create()
  return { price, subscription: await test.user.subscription('main') }
}

describe('metered usage at Stripe', () => {
  it.each(PRICING_CASES)(
    'costs the right amount on the next invoice: $what, $cents cents',
    async ({ stripe: terms, used, cents }) => {
      const test = await startWithMeter()
      const { user, billing, sandbox } = test
      const { price, subscription } = await subscribe(test, terms)
      expect(sumChargedCents(test, user)).toBe(1000)
      await sandbox.clock.advance({ days: 10 })
      for (const value of used) await subscription.reportUsage({ price, value })
      await billing.process()
      const preview = await subscription.preview({ quantity: 1 })
      const shown = preview.lines.filter(({ kind }) => kind === 'usage')
      expect(shown.length).toBeGreaterThan(0)
      expect(shown.reduce((sum, { amount }) => sum + amount.amount, 0)).toBe(cents)
      expect(preview.total.amount).toBe(1000 + cents)
      await sandbox.clock.advanceTo(new Date('2026-02-15T11:00:00Z'))
      expect(sumChargedCents(test, user)).toBe(2000 + cents)
      const [invoice] = await user.invoices()
      const lines = invoice?.lines.filter(({ isUsage }) => isUsage) ?? []
      expect(lines.map(({ description }) => description)).toEqual(
        shown.map(({ description }) => description),
      )
      expect(lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(cents)
      const total = used.reduce<number>((sum, value) => sum + Number(value), 0)
      expect(lines.reduce((sum, { quantity }) => sum + (quantity ?? 0), 0)).toBe(total)
    },
  )

  it('has an invoice whose PDF shows a line for each tier, with quantity and unit price', async () => {
    const test = await startWithMeter()
    const { user, billing, sandbox } = test
    const { price, subscription } = await subscribe(test, GRADUATED)
    await subscription.reportUsage({ price, value: '1100.5' })
    await billing.process()
    await sandbox.clock.advanceTo(new Date('2026-02-15T11:00:00Z'))
    const [invoice] = await user.invoices()
    expect(
      invoice?.lines.map(({ quantity, unitAmount, isUsage = false }) => [
        quantity,
        unitAmount,
        isUsage,
      ]),
    ).toEqual([
      [100, '0', true],
      [900, '0.5', true],
      [100.5, '0.25', true],
      [1, '1000', false],
    ])
    if (!invoice) return
    const pdf = await renderInvoice(invoice.data, { vendor: 'Acme', product: 'Calls' })
    const text = extractPdfText(pdf)
    expect(text).toContain('900 × Calls (Tier 2 at $0.005 / month)')
    expect(text).toContain('100.5 × Calls (Tier 3 at $0.0025 / month)')
    expect(text).not.toContain('900 × 900')
  })

  it('is billed with the last invoice of a subscription that ends', async () => {
    const test = await startWithMeter()
    const { user, billing, sandbox } = test
    const { price, subscription } = await subscribe(test, { unit_amount: 5 })
    await subscription.cancel()
    await sandbox.clock.advance({ days: 20 })
    await subscription.reportUsage({ price, value: 80 })
    await billing.process()
    await sandbox.clock.advance({ months: 1 })
    await test.settle()
    expect(sumChargedCents(test, user)).toBe(1000 + 400)
    await user.sync()
    expect(await user.subscribed('main')).toBe(false)
  })

  it('is billed immediately by cancelNow() with the `invoiceNow` option', async () => {
    const test = await startWithMeter()
    const { user, sandbox } = test
    const { price, subscription } = await subscribe(test, { unit_amount: 5 })
    await subscription.reportUsage({ price, value: 80 })
    await sandbox.clock.advance({ days: 3 })
    await subscription.cancelNow({ invoiceNow: true })
    expect(sumChargedCents(test, user)).toBe(1000 + 400)
  })

  it.each([
    ['flexible', 2 * 100 + 5 * 10],
    ['classic', 5 * 10],
  ] as const)(
    'in Stripe’s billing mode %s costs %i cents after a swap of its price',
    async (mode, cents) => {
      const test = await startWithMeter()
      const { user, billing, sandbox, stripe } = test
      const cheap = await test.price({ unit_amount: 2 })
      const dear = await test.price({ unit_amount: 5 })
      await stripe.subscriptions.create({
        customer: user.providerId ?? '',
        items: [{ price: 'monthly' }, { price: cheap }],
        metadata: { name: 'main', main: 'monthly' },
        billing_mode: { type: mode },
      })
      await user.sync()
      const subscription = await user.subscription('main')
      await subscription.reportUsage({ price: cheap, value: 100 })
      await billing.process()
      await sandbox.clock.advance({ days: 10 })
      const preview = await subscription.preview({ replace: cheap, by: dear })
      const swapped = await subscription.swapItem(cheap, dear)
      expect(swapped.findItem(dear)).toMatchObject({ quantity: null })
      await swapped.reportUsage({ price: dear, value: 10 })
      await billing.process()
      await sandbox.clock.advanceTo(new Date('2026-02-15T11:00:00Z'))
      expect(sumChargedCents(test, user)).toBe(2000 + cents)
      expect(preview.total.amount).toBe(1000 + cents - 50)
      const ofUsage = preview.lines.filter(({ kind }) => kind === 'usage')
      expect(ofUsage.reduce((sum, { amount }) => sum + amount.amount, 0)).toBe(cents - 50)
    },
  )
})

describe('a metered price at Stripe', () => {
  it('can be the main price of a subscription, which then costs nothing in advance', async () => {
    const test = await startWithMeter()
    const { user, billing, sandbox } = test
    const plan = await test.price({ unit_amount: 7 })
    const make = () => user.newSubscription('main', plan).meteredPrice(plan).create()
    const made = await make()
    expect(made.items()).toEqual([{ price: plan, quantity: 1, isMain: true }])
    expect((await make()).providerId).toBe(made.providerId)
    expect([made.active(), sumChargedCents(test, user)]).toEqual([true, 0])
    await made.reportUsage({ price: plan, value: 10 })
    await billing.process()
    await sandbox.clock.advanceTo(new Date('2026-02-15T11:00:00Z'))
    expect(sumChargedCents(test, user)).toBe(70)
  })

  it('is added to a subscription once, and can be removed', async () => {
    const test = await startWithMeter()
    const { user, billing, sandbox } = test
    const price = await test.price({ unit_amount: 7 })
    const made = await user.newSubscription('main', 'monthly').create()
    await made.addMeteredPrice(price)
    const subscription = await (await user.subscription('main')).addMeteredPrice(price)
    expect(subscription.items()).toEqual([
      { price: 'monthly', quantity: 1, isMain: true },
      { price, quantity: null, isMain: false },
    ])
    await expect(subscription.addPrice(price, 2)).rejects.toThrow(
      `The subscription already has '${price}', which is billed by usage and has no quantity`,
    )
    await expect(subscription.addMeteredPrice('monthly')).rejects.toThrow(
      "The subscription already has 1 of 'monthly', which is not billed by usage",
    )
    await subscription.reportUsage({ price, value: 3 })
    await billing.process()
    await sandbox.clock.advance({ days: 1 })
    const without = await subscription.removePrice(price)
    expect(without.hasPrice(price)).toBe(false)
    await sandbox.clock.advanceTo(new Date('2026-02-15T11:00:00Z'))
    // Usage until then is billed, in the flexible billing mode.
    expect(sumChargedCents(test, user)).toBe(2000 + 21)
  })

  it('can be sold on a hosted page, without a quantity', async () => {
    const test = await startWithMeter()
    const { user, sandbox, billing } = test
    const price = await test.price({ unit_amount: 7 })
    const page = await user
      .newSubscription('main', 'monthly')
      .meteredPrice(price)
      .checkout({ successPath: '/done' })
    sandbox.stripe.completeCheckout(page.id)
    await user.completeCheckout(page.id)
    const subscription = await user.subscription('main')
    expect(subscription.findItem(price)).toMatchObject({ quantity: null })
    await subscription.reportUsage({ price, value: 3 })
    await billing.process()
    await sandbox.clock.advanceTo(new Date('2026-02-15T11:00:00Z'))
    expect(sumChargedCents(test, user)).toBe(2000 + 21)
  })
})
