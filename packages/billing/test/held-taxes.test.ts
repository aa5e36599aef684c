import { describe, expect, it } from 'vitest'
import { PaymentActionRequired, PaymentFailed } from '../src/index.ts'
import type { StartBillingOptions } from '../src/testing/index.ts'
import { hasty, LOSSES, loseAnswer } from './lost-answers.ts'
import { type FlowTest, start, stripeSdk, takenFrom } from './support.ts'

const CHALLENGED = 'pm_card_authenticationRequired'

/** What the bank asks for. */
async function asked(change: Promise<unknown>): Promise<string> {
  const error = await change.catch((failure: unknown) => failure)
  expect(error).toBeInstanceOf(PaymentActionRequired)
  return (error as PaymentActionRequired).payment.id
}

/** All that a swap may touch, as Stripe has it. */
async function allAt({ test, user }: Pick<FlowTest, 'user'> & { readonly test: FlowTest }) {
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

/** Taxed with 5 percent, and with 20 once somebody has moved; the yearly plan always with 20 where prices have rates. */
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

describe.each(['rates', 'percentage'] as const)('a held swap with another tax, by %s', (kind) => {
  const started = async () => {
    const it = await challengedTax(kind)
    const before = await allAt(it)
    it.move()
    const payment = await asked(it.subscription.swap('yearly'))
    return { ...it, before, payment }
  }

  it.each<[string, (it: Awaited<ReturnType<typeof started>>) => Promise<unknown>]>([
    ['lapses', ({ test }) => test.advance({ days: 1 })],
    [
      'lapses, which sync() finds',
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
  ])('leaves nothing behind when it %s', async (_how, end) => {
    const it = await started()
    await end(it)
    await it.test.settle()
    expect(await allAt(it)).toEqual(it.before)
    const taken = takenFrom(it.test, it.user)
    await it.user.updateCard('pm_card_visa')
    await it.test.advance({ months: 1, hours: 2 })
    expect(takenFrom(it.test, it.user) - taken).toBe(1050)
  })

  it('leaves nothing behind when it is given up for an end', async () => {
    const it = await started()
    await it.subscription.cancel()
    expect(await allAt(it)).toEqual({ ...it.before, ends: [true, expect.anything(), null] })
  })

  it.each<[string, (it: Awaited<ReturnType<typeof started>>) => Promise<unknown>]>([
    ['cancel', ({ subscription }) => subscription.cancel()],
    ['cancelNow', ({ subscription }) => subscription.cancelNow()],
    ['swap', ({ subscription }) => subscription.swap('pro')],
  ])('stands not in the way of %s() when the old rate cannot be put back', async (_how, act) => {
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
    expect((await allAt(it)).metadata).toEqual(it.before.metadata)
  })

  it('is there as a whole with the yes', async () => {
    const it = await started()
    const invoice = it.test.sandbox.stripe
      .invoices(it.user.providerId ?? '')
      .find(({ status }) => status === 'open')
    it.test.sandbox.stripe.completeAuthentication(it.payment)
    await it.test.settle()
    const now = await allAt(it)
    expect(now.metadata).toEqual(it.before.metadata)
    expect(now.items).toMatchObject([{ price: 'yearly' }])
    expect([now.whole, now.items?.map(({ rates }) => rates)]).not.toEqual([
      it.before.whole,
      it.before.items?.map(({ rates }) => rates),
    ])
    expect(takenFrom(it.test, it.user)).toBe(1050 + Number(invoice?.total))
  })

  it('cannot wait on the last day of a period, whose bill would have the new tax', async () => {
    const it = await challengedTax(kind)
    await it.test.advance({ days: 30, hours: 12 })
    const before = await allAt(it)
    it.move()
    await expect(it.subscription.swap('yearly')).rejects.toThrow(PaymentFailed)
    expect(await allAt(it)).toEqual(before)
  })
})

it.each(LOSSES)('nothing is left of a swap of which an answer was lost: %s', async (how) => {
  // Without webhooks, whose handling asks Stripe as well: the answer that is lost has to be one of the swap.
  const it = await challengedTax('rates', { webhooks: false })
  const { test, user, subscription } = it
  it.move()
  const before = await allAt(it)
  for (let call = 0, wasHit = true; wasHit && call < 30; call++) {
    const other = await (await hasty(test).user(user.id)).subscription('main')
    loseAnswer(test, 'stripe', { after: call, how })
    const failed = await other.swap('yearly').catch((error: unknown) => error)
    wasHit = test.sandbox.trouble.takeCallTrouble('stripe') === null
    test.sandbox.trouble.clear()
    expect(failed, `call ${call}`).toBeInstanceOf(Error)
    await asked(subscription.swap('yearly'))
    await subscription.swap('monthly')
    expect(await allAt(it), `call ${call}`).toEqual({ ...before, items: expect.anything() })
    await user.sync()
    expect((await allAt(it)).metadata).toEqual(before.metadata)
  }
  expect(takenFrom(test, user)).toBe(1050)
})
