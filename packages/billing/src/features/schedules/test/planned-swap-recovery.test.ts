import { describe, expect, it } from 'vitest'
import { takeCheckpoint } from '../../../../test/checkpoint.ts'
import { createImpatientBilling } from '../../../../test/lost-answers.ts'
import { type FlowTest, start, sumChargedCents } from '../../../../test/support.ts'
import { InvalidArgument, PaymentFailed, ProviderUnavailable } from '../../../index.ts'

const PERIOD_END = new Date('2026-02-15T10:00:00Z')

/**
 * Subscribes to `pro` with a swap to `plan` at the end of the period. Returns a function that
 * restores this state.
 */
async function preparePlan(plan = 'monthly') {
  const first = await start('stripe', { coupon: true, webhooks: false })
  const { stripe } = first.sandbox
  stripe.seedPrice({ id: 'seat', unitAmount: 500, interval: 'month', product: 'Seat' })
  const made = await first.user.newSubscription('main', 'pro').create('pm_card_visa')
  await made.swapAtPeriodEnd(plan)
  const restoreCheckpoint = await takeCheckpoint(first)
  return async () => {
    const test = await restoreCheckpoint()
    const user = await test.billing.user(first.user.id)
    return {
      ...test,
      user,
      of: await (await createImpatientBilling(test).user(user.id)).subscription('main'),
    }
  }
}

const planned = async (plan?: string) => (await preparePlan(plan))()

/** Makes one call to Stripe fail, after `after` calls that succeed. */
function failCall({ sandbox }: FlowTest, after: number): void {
  const { trouble } = sandbox
  if (after > 0) trouble.failNext(after, { slowMs: 0 }, 'stripe')
  trouble.failNext(1, '500', 'stripe')
}

async function open({ database }: FlowTest): Promise<unknown[]> {
  return database.kysely.selectFrom('billing_operations').selectAll().execute()
}

describe('a planned swap, when the request for another change does not reach Stripe,', () => {
  it.each([
    ['cancel', (of: Planned) => of.cancel()],
    ['swap', (of: Planned) => of.swap('quarterly')],
    ['cancelAt', (of: Planned) => of.cancelAt(new Date('2026-03-06T10:00:00Z'))],
  ] as const)('is kept if the other change, made by %s(), had no effect', async (_name, ask) => {
    // Every call of the change fails once, including reads.
    const begin = await preparePlan()
    for (let call = 0, wasHit = true; wasHit; call++) {
      const test = await begin()
      const { user, sandbox, of } = test
      failCall(test, call)
      const failed = await ask(of).then(
        () => null,
        (error: unknown) => error,
      )
      wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
      sandbox.trouble.clear()
      if (failed) expect(failed, `call ${call}`).toBeInstanceOf(ProviderUnavailable)
      await user.sync()
      const found = await user.subscription('main')
      const isDone = found.cancelled() || found.providerPlan === 'quarterly'
      const expected = isDone ? [null, null] : ['monthly', PERIOD_END]
      expect([found.plannedPrice, found.plannedAt], `call ${call}`).toEqual(expected)
      expect(await open(test), `call ${call}`).toEqual([])
      if (call > 20) throw new Error('It never ends')
    }
  })

  it('still applies to the next invoice', async () => {
    const test = await planned()
    const { user, sandbox, of } = test
    // Fails one call after another, until the failed one is the cancellation that follows the
    // release.
    for (let call = 0; (await user.subscription('main')).plannedPrice !== null; call++) {
      failCall(test, call)
      await expect(of.cancel()).rejects.toThrow(ProviderUnavailable)
      sandbox.trouble.clear()
      if (sandbox.stripe.subscriptions(user.providerId ?? '')[0]?.schedule === null) break
    }
    await user.sync()
    await sandbox.clock.advance({ days: 32 })
    expect(sumChargedCents(test, user)).toBe(2500 + 1000)
  })

  it('is planned again later if the payment for the other change was declined, and the caller gets the error about the decline', async () => {
    const begin = await preparePlan()
    for (let call = 4, isSeen = false; !isSeen; call++) {
      const test = await begin()
      const { user, sandbox, of } = test
      await user.subscription('main')
      sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
      failCall(test, call)
      const error = await of.swapAndInvoice('yearly').catch((thrown: unknown) => thrown)
      sandbox.trouble.clear()
      if (error instanceof PaymentFailed) {
        const [{ schedule } = { schedule: null }] = sandbox.stripe.subscriptions(
          user.providerId ?? '',
        )
        isSeen = schedule === null
      }
      await user.sync()
      const found = await user.subscription('main')
      expect([found.providerPlan, found.plannedPrice], `call ${call}`).toEqual(['pro', 'monthly'])
      expect(await open(test)).toEqual([])
      if (call > 30) throw new Error('Nothing was lost between the decline and the plan')
    }
  })
})

describe('a planned swap, when another change of the subscription fails halfway,', () => {
  it.each([
    ['addPrice', (of: Planned) => of.addPrice('seat', 2)],
    ['updateQuantity', (of: Planned) => of.updateQuantity(3)],
    ['incrementQuantity', (of: Planned) => of.incrementQuantity(2)],
  ] as const)(
    'includes the changed prices, whichever request of %s() fails',
    async (_name, ask) => {
      const begin = await preparePlan()
      for (let call = 0, wasHit = true; wasHit; call++) {
        const test = await begin()
        const { user, sandbox, of } = test
        failCall(test, call)
        await ask(of).catch((error: unknown) => expect(error).toBeInstanceOf(ProviderUnavailable))
        wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
        sandbox.trouble.clear()
        await user.sync()
        const found = await user.subscription('main')
        const [main, ...others] = found.items().map(({ price, quantity }) => ({ price, quantity }))
        const items = [{ price: 'monthly', quantity: main?.quantity }, ...others]
        expect((await found.plannedSwap())?.items, `call ${call}`).toEqual(items)
        if (call > 20) throw new Error('It never ends')
      }
    },
  )

  it('includes the new coupon, whichever request of applyCoupon() fails', async () => {
    const begin = await preparePlan()
    for (let call = 0, wasHit = true; wasHit; call++) {
      const test = await begin()
      const { user, sandbox, of } = test
      failCall(test, call)
      await of.applyCoupon('SPRING').catch(() => undefined)
      wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
      sandbox.trouble.clear()
      await user.sync()
      const isThere = (await (await user.subscription('main')).discounts()).length > 0
      await sandbox.clock.advance({ days: 32 })
      expect(sumChargedCents(test, user), `call ${call}`).toBe(2500 + 1000 - (isThere ? 300 : 0))
      if (call > 20) throw new Error('It never ends')
    }
  })

  it('makes adding a price with another billing interval fail before anything is charged', async () => {
    const test = await planned('yearly')
    const { user, of } = test
    for (let i = 0; i < 2; i++) {
      await expect(of.addPriceAndInvoice('seat', 2)).rejects.toThrow(InvalidArgument)
    }
    const found = await user.subscription('main')
    expect([sumChargedCents(test, user), found.items().length, found.plannedPrice]).toEqual([
      2500,
      1,
      'yearly',
    ])
    expect(await open(test)).toEqual([])
    // updateQuantity(2) has no price of another interval, so it is allowed.
    await of.updateQuantity(2)
    await of.cancelPlannedSwap()
    await of.addPriceAndInvoice('seat', 2)
    // Includes the second unit of the main price, for the whole period.
    expect(sumChargedCents(test, user)).toBe(2500 + 2500 + 2 * 500)
  })
})

type Planned = Awaited<ReturnType<typeof planned>>['of']
