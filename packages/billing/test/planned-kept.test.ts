import { describe, expect, it } from 'vitest'
import { InvalidArgument, PaymentFailed, ProviderUnavailable } from '../src/index.ts'
import { takeCheckpoint } from './checkpoint.ts'
import { hasty } from './lost-answers.ts'
import { type FlowTest, start, takenFrom } from './support.ts'

const PERIOD_END = new Date('2026-02-15T10:00:00Z')

/** On the dearer plan, and to be on the cheaper one with the next bill: as often as it is asked for. */
async function planning(plan = 'monthly') {
  const first = await start('stripe', { coupon: true, webhooks: false })
  const { stripe } = first.sandbox
  stripe.seedPrice({ id: 'seat', unitAmount: 500, interval: 'month', product: 'Seat' })
  const made = await first.user.newSubscription('main', 'pro').create('pm_card_visa')
  await made.swapAtPeriodEnd(plan)
  const goBack = await takeCheckpoint(first)
  return async () => {
    const test = await goBack()
    const user = await test.billing.user(first.user.id)
    return { ...test, user, of: await (await hasty(test).user(user.id)).subscription('main') }
  }
}

const planned = async (plan?: string) => (await planning(plan))()

/** The call that changes something, after so many others like it, does not reach the provider. */
function losing({ sandbox }: FlowTest, after: number): void {
  const { trouble } = sandbox
  if (after > 0) trouble.failNext(after, { slowMs: 0 }, 'stripe')
  trouble.failNext(1, '500', 'stripe')
}

async function open({ database }: FlowTest): Promise<unknown[]> {
  return database.kysely.selectFrom('billing_operations').selectAll().execute()
}

describe('a planned swap outlives a change that never arrives', () => {
  it.each([
    ['cancel', (of: Planned) => of.cancel()],
    ['swap', (of: Planned) => of.swap('quarterly')],
    ['cancelAt', (of: Planned) => of.cancelAt(new Date('2026-03-06T10:00:00Z'))],
  ] as const)('%s()', async (_name, ask) => {
    // Whichever call it is: reads are among them.
    const begin = await planning()
    for (let call = 0, wasHit = true; wasHit; call++) {
      const test = await begin()
      const { user, sandbox, of } = test
      losing(test, call)
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
      expect([found.plannedPlan, found.plannedAt], `call ${call}`).toEqual(expected)
      expect(await open(test), `call ${call}`).toEqual([])
      if (call > 20) throw new Error('It never ends')
    }
  })

  it('and the next bill is the smaller one', async () => {
    const test = await planned()
    const { user, sandbox, of } = test
    // Two reads, the release with its own, and the end: which does not arrive.
    for (let call = 0; (await user.subscription('main')).plannedPlan !== null; call++) {
      losing(test, call)
      await expect(of.cancel()).rejects.toThrow(ProviderUnavailable)
      sandbox.trouble.clear()
      if (sandbox.stripe.subscriptions(user.providerId ?? '')[0]?.schedule === null) break
    }
    await user.sync()
    await sandbox.clock.advance({ days: 32 })
    expect(takenFrom(test, user)).toBe(2500 + 1000)
  })

  it('whoever is declined hears so, and it is planned again later', async () => {
    const begin = await planning()
    for (let call = 4, isSeen = false; !isSeen; call++) {
      const test = await begin()
      const { user, sandbox, of } = test
      await user.subscription('main')
      sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
      losing(test, call)
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
      expect([found.providerPlan, found.plannedPlan], `call ${call}`).toEqual(['pro', 'monthly'])
      expect(await open(test)).toEqual([])
      if (call > 30) throw new Error('Nothing was lost between the decline and the plan')
    }
  })
})

describe('a planned swap has what the subscription has', () => {
  it.each([
    ['addPrice', (of: Planned) => of.addPrice('seat', 2)],
    ['updateQuantity', (of: Planned) => of.updateQuantity(3)],
    ['incrementQuantity', (of: Planned) => of.incrementQuantity(2)],
  ] as const)('whichever call of %s() does not arrive', async (_name, ask) => {
    const begin = await planning()
    for (let call = 0, wasHit = true; wasHit; call++) {
      const test = await begin()
      const { user, sandbox, of } = test
      losing(test, call)
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
  })

  it('a coupon too', async () => {
    const begin = await planning()
    for (let call = 0, wasHit = true; wasHit; call++) {
      const test = await begin()
      const { user, sandbox, of } = test
      losing(test, call)
      await of.applyCoupon('SPRING').catch(() => undefined)
      wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
      sandbox.trouble.clear()
      await user.sync()
      const isThere = (await (await user.subscription('main')).discounts()).length > 0
      await sandbox.clock.advance({ days: 32 })
      expect(takenFrom(test, user), `call ${call}`).toBe(2500 + 1000 - (isThere ? 300 : 0))
      if (call > 20) throw new Error('It never ends')
    }
  })

  it('what cannot be billed with it is refused before anything is charged', async () => {
    const test = await planned('yearly')
    const { user, of } = test
    for (let i = 0; i < 2; i++) {
      await expect(of.addPriceAndInvoice('seat', 2)).rejects.toThrow(InvalidArgument)
    }
    const found = await user.subscription('main')
    expect([takenFrom(test, user), found.items().length, found.plannedPlan]).toEqual([
      2500,
      1,
      'yearly',
    ])
    expect(await open(test)).toEqual([])
    // What says nothing of a price that is not there is none of that.
    await of.updateQuantity(2)
    await of.cancelPlannedSwap()
    await of.addPriceAndInvoice('seat', 2)
    // With the second one of the plan, for the whole period.
    expect(takenFrom(test, user)).toBe(2500 + 2500 + 2 * 500)
  })
})

type Planned = Awaited<ReturnType<typeof planned>>['of']
