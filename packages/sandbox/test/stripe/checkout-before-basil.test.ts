import { expect, it } from 'vitest'
import { ACACIA, BASIL, startVersions } from './old-versions.ts'
import { openPage, readAlert, readRowAmount, submit } from './page-forms.ts'
import { seedPrices } from './support.ts'

const ADA = { action: 'pay', email: 'ada@example.com', name: 'Ada' }
const DECLINED = 'pm_card_visa_chargeDeclined'

async function startCheckout(version: string, more: Readonly<Record<string, string>> = {}) {
  const setup = await startVersions()
  const { call, stripe, sandbox } = setup
  const { monthly } = await seedPrices(stripe)
  const made = await call(version, '/checkout/sessions', {
    mode: 'subscription',
    success_url: 'https://shop.example/done',
    'line_items[0][price]': monthly.id,
    'line_items[0][quantity]': '1',
    ...more,
  })
  const url = String(made.url)
  const pay = (card: string) => submit(url, { ...ADA, card })
  const session = () => stripe.checkout.sessions.retrieve(made.id)
  const types = () => sandbox.stripe.events().map(({ type }) => type)
  return { ...setup, made, url, pay, session, types }
}

it('before basil (a Stripe API version), Checkout creates the subscription with the first payment attempt, incomplete until one succeeds', async () => {
  const { made, url, pay, session, stripe, types } = await startCheckout(ACACIA)
  expect(made.subscription).toBeNull()
  const failed = await pay(DECLINED)
  expect([failed.status, readAlert(failed)]).toEqual([402, 'Your card was declined.'])
  const open = await session()
  expect(open).toMatchObject({ status: 'open', payment_status: 'unpaid' })
  const id = String(open.subscription)
  expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'incomplete' })
  const invoice = await stripe.invoices.retrieve(String(open.invoice))
  expect(invoice).toMatchObject({ status: 'open', total: 1000, attempt_count: 1 })
  const shown = await openPage(url)
  expect(readRowAmount(shown, 'Total')).toBe('$10.00')
  expect((await pay('pm_card_visa')).location).toBe('https://shop.example/done')
  expect(await session()).toMatchObject({
    status: 'complete',
    payment_status: 'paid',
    subscription: id,
    invoice: invoice.id,
  })
  const active = await stripe.subscriptions.retrieve(id)
  expect(active.status).toBe('active')
  expect(active.default_payment_method).toMatch(/^pm_/)
  expect((await stripe.subscriptions.list({ status: 'all' })).data).toHaveLength(1)
  expect((await stripe.customers.list()).data).toHaveLength(1)
  const seen = types()
  expect(seen.indexOf('customer.subscription.created')).toBeLessThan(
    seen.indexOf('invoice.payment_failed'),
  )
})

it('before basil (a Stripe API version), the first successful attempt in Checkout activates the subscription', async () => {
  const { pay, session, stripe, sandbox } = await startCheckout(ACACIA)
  await pay('pm_card_visa')
  const { subscription, ...paid } = await session()
  expect(paid).toMatchObject({ status: 'complete', payment_status: 'paid' })
  expect((await stripe.subscriptions.retrieve(String(subscription))).status).toBe('active')
  const [told] = sandbox.stripe.events('checkout.session.completed')
  expect(told?.data).toMatchObject({ object: { subscription } })
})

it('before basil (a Stripe API version), a session without a successful attempt leaves an incomplete subscription, which expires', async () => {
  const { pay, session, sandbox, stripe } = await startCheckout(ACACIA)
  await pay(DECLINED)
  const id = String((await session()).subscription)
  await sandbox.clock.advance({ hours: 25 })
  expect(await session()).toMatchObject({ status: 'expired' })
  expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'incomplete_expired' })
})

it('before basil (a Stripe API version), the first attempt in Checkout fixes the line items', async () => {
  const { url, pay, stripe, session } = await startCheckout(ACACIA, {
    allow_promotion_codes: 'true',
    'line_items[0][adjustable_quantity][enabled]': 'true',
  })
  const coupon = await stripe.coupons.create({ percent_off: 50 })
  await stripe.promotionCodes.create({
    promotion: { type: 'coupon', coupon: coupon.id },
    code: 'HALF',
    max_redemptions: 1,
  })
  await submit(url, { action: 'apply-code', code: 'HALF' })
  await pay(DECLINED)
  for (const change of [
    { action: 'remove-code' },
    { action: 'quantity', item: '0', quantity: '2' },
  ]) {
    expect(readAlert(await submit(url, change))).toContain('cannot be changed')
  }
  await pay('pm_card_visa')
  expect(await session()).toMatchObject({ status: 'complete', amount_total: 500 })
})

it('since basil (a Stripe API version), Checkout creates the subscription only after the payment', async () => {
  const { pay, session, stripe } = await startCheckout(BASIL)
  await pay(DECLINED)
  expect(await session()).toMatchObject({ status: 'open', subscription: null, invoice: null })
  expect((await stripe.subscriptions.list({ status: 'all' })).data).toEqual([])
  await pay('pm_card_visa')
  expect(await session()).toMatchObject({ status: 'complete', payment_status: 'paid' })
})

it('before basil (a Stripe API version), Checkout starts a trial as in later versions', async () => {
  const trial = { 'subscription_data[trial_period_days]': '7' }
  const { pay, session, stripe } = await startCheckout(ACACIA, trial)
  await pay('pm_card_visa')
  const { subscription } = await session()
  expect(await stripe.subscriptions.retrieve(String(subscription))).toMatchObject({
    status: 'trialing',
    default_payment_method: expect.stringMatching(/^pm_/),
  })
})
