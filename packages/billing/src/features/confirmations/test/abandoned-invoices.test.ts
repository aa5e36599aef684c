import { describe, expect, it } from 'vitest'
import { type FlowTest, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import { type BillableUser, PaymentActionRequired } from '../../../index.ts'

const CHALLENGED = 'pm_card_authenticationRequired'

interface Waiting {
  readonly test: FlowTest
  readonly user: BillableUser
  /** The id of the payment to confirm, in a tab that stays open. */
  readonly payment: string
  /** Cents taken before. */
  readonly taken: number
  readonly warnings: readonly string[]
}

async function prepare(webhooks: boolean) {
  const warnings: string[] = []
  const logger = { error: () => undefined, warn: (line: string) => void warnings.push(line) }
  const test = await start('stripe', { webhooks, logger })
  return { test, user: test.user, warnings }
}

async function expectRequiredPayment(change: Promise<unknown>): Promise<string> {
  const error = await change.catch((failure: unknown) => failure)
  expect(error).toBeInstanceOf(PaymentActionRequired)
  return (error as PaymentActionRequired).payment.id
}

async function holdSwap(webhooks: boolean): Promise<Waiting> {
  const prepared = await prepare(webhooks)
  const { user } = prepared
  const main = await user.newSubscription('main', 'monthly').create('pm_card_visa')
  await user.updateCard(CHALLENGED)
  return { ...prepared, payment: await expectRequiredPayment(main.swap('yearly')), taken: 1000 }
}

async function holdSeatChange(webhooks: boolean): Promise<Waiting> {
  const prepared = await prepare(webhooks)
  const { user } = prepared
  const main = await user.newSubscription('main', 'monthly').create('pm_card_visa')
  await user.updateCard(CHALLENGED)
  return {
    ...prepared,
    payment: await expectRequiredPayment(main.updateQuantityAndInvoice(3)),
    taken: 1000,
  }
}

async function holdTrialEnd(webhooks: boolean): Promise<Waiting> {
  const prepared = await prepare(webhooks)
  const { user } = prepared
  const main = await user.newSubscription('main', 'monthly').trialDays(7).create('pm_card_visa')
  await user.updateCard(CHALLENGED)
  return { ...prepared, payment: await expectRequiredPayment(main.endTrial()), taken: 0 }
}

async function holdFirstPayment(webhooks: boolean): Promise<Waiting> {
  const prepared = await prepare(webhooks)
  const { user } = prepared
  const payment = await expectRequiredPayment(
    user.newSubscription('main', 'monthly').create(CHALLENGED),
  )
  return { ...prepared, payment, taken: 0 }
}

/** Cancels the subscription as the Stripe dashboard does. */
async function end({ test, user }: Waiting): Promise<void> {
  const { subscriptions } = await stripeSdk(test)
  await subscriptions.cancel((await user.subscription('main')).providerId)
}

async function openInvoices({ test, user }: Waiting): Promise<number> {
  const { invoices } = await stripeSdk(test)
  const { data } = await invoices.list({ customer: user.providerId ?? '', status: 'open' })
  return data.length
}

const CASES = [
  ['a swap', holdSwap],
  ['more seats', holdSeatChange],
  ['the end of a trial', holdTrialEnd],
  ['the first payment', holdFirstPayment],
] as const

describe.each(CASES)(
  "the unconfirmed payment for %s, after the subscription is ended in Stripe's dashboard (threat W6),",
  (_name, wait) => {
    it('can no longer be confirmed once the webhook about the end of the subscription is handled', async () => {
      const it = await wait(true)
      await end(it)
      await it.test.settle()
      expect(await openInvoices(it)).toBe(0)
      expect(() => it.test.sandbox.stripe.completeAuthentication(it.payment)).toThrow()
      await it.test.settle()
      expect(sumChargedCents(it.test, it.user)).toBe(it.taken)
      expect(await it.user.subscribed('main')).toBe(false)
      expect(it.warnings).toEqual([])
    })

    it('can no longer be confirmed after several processes have called sync() concurrently', async () => {
      const it = await wait(false)
      await end(it)
      const other = await it.test.another().user(it.user.id)
      await Promise.all([it.user.sync(), other.sync()])
      expect(await openInvoices(it)).toBe(0)
      expect(sumChargedCents(it.test, it.user)).toBe(it.taken)
    })

    it('is not refunded if the customer confirmed it before the subscription was ended, and one warning is logged', async () => {
      const it = await wait(false)
      await end(it)
      await it.test.advance({ seconds: 30 })
      it.test.sandbox.stripe.completeAuthentication(it.payment)
      await it.user.sync()
      await it.user.sync()
      expect(it.warnings).toEqual([expect.stringMatching(/^Invoice in_\w+ was paid after/)])
    })
  },
)

it('an open invoice for time that was already used can still be paid after the subscription ended', async () => {
  const { test, user } = await prepare(true)
  const main = await user.newSubscription('main', 'monthly').create('pm_card_visa')
  await user.updateCard(CHALLENGED)
  const { subscriptions } = await stripeSdk(test)
  const { items } = await subscriptions.retrieve(main.providerId)
  // The dashboard makes a change immediately, without waiting for the payment.
  const to = [{ id: items.data[0]?.id ?? '', price: 'yearly' }]
  await subscriptions.update(main.providerId, { items: to })
  await subscriptions.cancel(main.providerId)
  await test.settle()
  expect(await user.subscribed('main')).toBe(false)
  const { invoices } = await stripeSdk(test)
  const { data } = await invoices.list({ customer: user.providerId ?? '', status: 'open' })
  expect(data).toMatchObject([{ amount_due: 9000 }])
})
