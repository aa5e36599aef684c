import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { type FlowTest, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import { PaymentActionRequired, PaymentFailed } from '../../../index.ts'
import type { StartBillingOptions } from '../../../testing/index.ts'

const CHALLENGED = 'pm_card_authenticationRequired'

/** The id of the payment that a change asks the customer to authenticate. */
async function expectRequiredPayment(change: Promise<unknown>): Promise<string> {
  const error = await change.catch((failure: unknown) => failure)
  expect(error).toBeInstanceOf(PaymentActionRequired)
  return (error as PaymentActionRequired).payment.id
}

/** Reads everything at Stripe that a swap can change. */
async function readStripeState({
  test,
  user,
}: Pick<FlowTest, 'user'> & { readonly test: FlowTest }) {
  const stripe = await stripeSdk(test)
  const { data } = await stripe.subscriptions.list({
    customer: user.providerId ?? '',
    status: 'all',
  })
  const [found] = data
  const ids = (rates: readonly { id: string }[] | null | undefined) =>
    (rates ?? []).map(({ id }) => id)
  return {
    metadata: found?.metadata,
    automatic: found?.automatic_tax.enabled,
    whole: ids(found?.default_tax_rates),
    items: found?.items.data.map(({ id, price, quantity, tax_rates }) => ({
      ...{ id, price: price.id, quantity },
      rates: ids(tax_rates),
    })),
    ends: [found?.cancel_at_period_end, found?.cancel_at, found?.trial_end],
  }
}

/**
 * A subscription taxed at 5 %, and at 20 % after `move()`. With `rates`, the yearly plan is always
 * taxed at 20 %.
 */
async function challengedTax(kind: 'rates' | 'percentage', more: StartBillingOptions = {}) {
  let hasMoved = false
  const ids: Record<string, string> = {}
  const test = await start('stripe', {
    ...more,
    ...(kind === 'percentage'
      ? { taxPercentage: () => (hasMoved ? 20 : 5) }
      : {
          tax: {
            rates: (_row: unknown, price: string) => [
              ids[price === 'yearly' || hasMoved ? 'high' : 'low'] ?? '',
            ],
          },
        }),
  })
  const stripe = await stripeSdk(test)
  for (const [name, percentage] of [
    ['low', 5],
    ['high', 20],
  ] as const) {
    const made = await stripe.taxRates.create({ display_name: 'Tax', percentage, inclusive: false })
    ids[name] = made.id
  }
  const { user } = test
  await user.newSubscription('main', 'monthly').create('pm_card_visa')
  await user.updateCard(CHALLENGED)
  const subscription = await user.subscription('main')
  return {
    ...{ test, user, subscription },
    move() {
      hasMoved = true
    },
  }
}

describe.each(['rates', 'percentage'] as const)(
  'a swap that waits for authentication and also changes the tax (tax by %s)',
  (kind) => {
    const started = async () => {
      const it = await challengedTax(kind)
      const before = await readStripeState(it)
      it.move()
      const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
      return { ...it, before, payment }
    }

    it.each<[string, (it: Awaited<ReturnType<typeof started>>) => Promise<unknown>]>([
      ['expires unpaid', ({ test }) => test.advance({ days: 1 })],
      [
        'expires unpaid and sync() notices it',
        async ({ test, user }) => {
          await test.sandbox.clock.advance({ days: 1 })
          await user.sync()
        },
      ],
      [
        'is voided',
        async ({ user }) => {
          const [open] = await user.invoicesIncludingPending()
          await (await user.findInvoice(open?.id ?? ''))?.void()
        },
      ],
    ])('leaves the previous plan and tax unchanged when it %s', async (_how, end) => {
      const it = await started()
      await end(it)
      await it.test.settle()
      expect(await readStripeState(it)).toEqual(it.before)
      const taken = sumChargedCents(it.test, it.user)
      await it.user.updateCard('pm_card_visa')
      await it.test.advance({ months: 1, hours: 2 })
      expect(sumChargedCents(it.test, it.user) - taken).toBe(1050)
    })

    it('leaves the previous plan and tax unchanged when the subscription is cancelled instead', async () => {
      const it = await started()
      await it.subscription.cancel()
      expect(await readStripeState(it)).toEqual({
        ...it.before,
        ends: [true, expect.anything(), null],
      })
    })

    it.each<[string, (it: Awaited<ReturnType<typeof started>>) => Promise<unknown>]>([
      ['cancel', ({ subscription }) => subscription.cancel()],
      ['cancelNow', ({ subscription }) => subscription.cancelNow()],
      ['swap', ({ subscription }) => subscription.swap('pro')],
    ])('does not block %s() if the previous tax rate cannot be restored', async (_how, act) => {
      const it = await started()
      const stripe = await stripeSdk(it.test)
      const { whole, items = [] } = it.before
      for (const id of [...whole, ...items.flatMap(({ rates }) => rates)]) {
        await stripe.taxRates.update(id, { active: false })
      }
      await it.test.sandbox.clock.advance({ days: 1 })
      await it.user.updateCard('pm_card_visa')
      await act(it)
      await it.test.settle()
      expect((await readStripeState(it)).metadata).toEqual(it.before.metadata)
    })

    it('applies the new plan and the new tax once the customer authenticates', async () => {
      const it = await started()
      const invoice = it.test.sandbox.stripe
        .invoices(it.user.providerId ?? '')
        .find(({ status }) => status === 'open')
      it.test.sandbox.stripe.completeAuthentication(it.payment)
      await it.test.settle()
      const now = await readStripeState(it)
      expect(now.metadata).toEqual(it.before.metadata)
      expect(now.items).toMatchObject([{ price: 'yearly' }])
      expect([now.whole, now.items?.map(({ rates }) => rates)]).not.toEqual([
        it.before.whole,
        it.before.items?.map(({ rates }) => rates),
      ])
      expect(sumChargedCents(it.test, it.user)).toBe(1050 + Number(invoice?.total))
    })

    it('is refused on the last day of a period, because the next invoice would already have the new tax', async () => {
      const it = await challengedTax(kind)
      await it.test.advance({ days: 30, hours: 12 })
      const before = await readStripeState(it)
      it.move()
      await expect(it.subscription.swap('yearly')).rejects.toThrow(PaymentFailed)
      expect(await readStripeState(it)).toEqual(before)
    })
  },
)

it.each(LOSSES)(
  'a swap that waits for authentication leaves the previous tax in force when a response is lost (kind of failure: %s)',
  async (how) => {
    // Without webhooks, whose handlers call Stripe too: the lost response has to be one of the swap.
    const it = await challengedTax('rates', { webhooks: false })
    const { test, user, subscription } = it
    it.move()
    const before = await readStripeState(it)
    for (let call = 0, wasHit = true; wasHit && call < 30; call++) {
      const other = await (await createImpatientBilling(test).user(user.id)).subscription('main')
      loseResponse(test, 'stripe', { after: call, how })
      const failed = await other.swap('yearly').catch((error: unknown) => error)
      wasHit = test.sandbox.trouble.takeCallTrouble('stripe') === null
      test.sandbox.trouble.clear()
      expect(failed, `call ${call}`).toBeInstanceOf(Error)
      await expectRequiredPayment(subscription.swap('yearly'))
      await subscription.swap('monthly')
      expect(await readStripeState(it), `call ${call}`).toEqual({
        ...before,
        items: expect.anything(),
      })
      await user.sync()
      expect((await readStripeState(it)).metadata).toEqual(before.metadata)
    }
    expect(sumChargedCents(test, user)).toBe(1050)
  },
)
