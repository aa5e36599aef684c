import { expect, it } from 'vitest'
import { start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'

const CARD = 'pm_card_visa'
const YEAR_END = new Date('2027-01-15T10:00:00Z')

/** 100.00 a year for the plan, and 5.00 a month for a seat. */
async function startMixed({ webhooks = false } = {}) {
  const test = await start('stripe', { webhooks })
  test.sandbox.stripe.seedPrice({
    id: 'seat',
    unitAmount: 500,
    interval: 'month',
    product: 'Extras',
  })
  const made = await test.user.newSubscription('main', 'yearly').price('seat').create(CARD)
  return { ...test, made }
}

it('a yearly plan with monthly seats lasts until the end of the paid year when it is cancelled', async () => {
  const { made, ...test } = await startMixed()
  const { user } = test
  const paid = sumChargedCents(test, user)
  const cancelled = await made.cancel()
  expect([cancelled.endsAt, cancelled.onGracePeriod()]).toEqual([YEAR_END, true])
  expect((await cancelled.cancel()).endsAt).toEqual(YEAR_END)
  expect(await cancelled.upcomingInvoice()).toMatchObject({ total: { amount: 500 } })

  await test.advance({ days: 364 })
  expect([await user.subscribed('main'), sumChargedCents(test, user)]).toEqual([
    true,
    paid + 11 * 500,
  ])
  await test.advance({ days: 2 })
  expect([await user.subscribed('main'), sumChargedCents(test, user)]).toEqual([
    false,
    paid + 11 * 500,
  ])
})

it('a yearly plan with monthly seats continues after resume() and after swap()', async () => {
  const { made } = await startMixed()
  const resumed = await (await made.cancel()).resume()
  expect([resumed.endsAt, resumed.recurring()]).toEqual([null, true])
  const swapped = await (await resumed.cancel()).addPrice('pro')
  expect(swapped.endsAt).toEqual(YEAR_END)
  expect((await swapped.swap('monthly')).endsAt).toBeNull()
})

it('a yearly plan with monthly seats ends with its first billing period to end if it is cancelled in the Stripe dashboard', async () => {
  const { made, ...test } = await startMixed({ webhooks: true })
  const { user } = test
  const stripe = await stripeSdk(test)
  await stripe.subscriptions.update(made.providerId, { cancel_at_period_end: true })
  await test.settle()
  const found = await user.subscription('main')
  expect(found.endsAt).toEqual(new Date('2026-02-15T10:00:00Z'))
  expect((await found.resume()).endsAt).toBeNull()
})
