import { expect, it } from 'vitest'
import { ProviderUnavailable, type Subscription } from '../src/index.ts'
import { hasty, LOSSES, loseAnswer } from './lost-answers.ts'
import { START, start, takenFrom } from './support.ts'

const until = new Date(START.getTime() + 50 * 86_400_000)

type Deed = readonly [
  ask: (of: Subscription) => Promise<Subscription>,
  isDone: (of: Subscription) => unknown,
]

const DEEDS: readonly Deed[] = [
  [(of) => of.swapAtPeriodEnd('pro'), (of) => of.plannedPlan === 'pro'],
  [(of) => of.updateQuantity(2), (of) => of.quantity === 2 && of.plannedPlan === 'pro'],
  [(of) => of.applyCoupon('SPRING'), (of) => of.plannedPlan === 'pro'],
  [(of) => of.swapAtPeriodEnd('quarterly'), (of) => of.plannedPlan === 'quarterly'],
  [(of) => of.pause({ until }), (of) => of.paused()],
  [(of) => of.unpause(), (of) => !of.paused()],
  [(of) => of.cancelPlannedSwap(), (of) => of.plannedPlan === null],
  [(of) => of.swapAtPeriodEnd('quarterly'), (of) => of.plannedPlan === 'quarterly'],
  [(of) => of.swap('pro'), (of) => of.providerPlan === 'pro' && of.plannedPlan === null],
  [(of) => of.swapAtPeriodEnd('monthly'), (of) => of.plannedPlan === 'monthly'],
  [(of) => of.cancel(), (of) => of.cancelled() && of.plannedPlan === null],
]

it.each(LOSSES)('whichever answer is lost, a repeat finds what was done (%s)', async (how) => {
  const test = await start('stripe', { webhooks: false })
  const { user, sandbox, database } = test
  await user.newSubscription('main', 'monthly').create('pm_card_visa')
  const billing = hasty(test)
  const again = async () => (await billing.user(user.id)).subscription('main')
  for (const [at, [ask, isDone]] of DEEDS.entries()) {
    const before = sandbox.snapshot()
    const rows = await database.kysely.selectFrom('subscriptions').selectAll().execute()
    for (let call = 0, wasHit = true; wasHit; call++) {
      sandbox.restore(before)
      for (const { id, ...row } of rows) {
        await database.kysely.updateTable('subscriptions').set(row).where('id', '=', id).execute()
      }
      await database.kysely.deleteFrom('billing_operations').execute()
      const of = await again()
      loseAnswer(test, 'stripe', { after: call, how })
      const failed = await ask(of).then(
        () => null,
        (error: unknown) => error,
      )
      wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
      sandbox.trouble.clear()
      if (failed) {
        expect(failed).toBeInstanceOf(ProviderUnavailable)
        await ask(await again())
      }
      const name = `deed ${at}, call ${call}`
      expect(isDone(await user.subscription('main')), name).toBe(true)
      expect((await user.sync()).drift, name).toEqual([])
      const open = await database.kysely.selectFrom('billing_operations').selectAll().execute()
      expect(open, name).toEqual([])
    }
  }
  expect(takenFrom(test, user)).toBe(1000)
})
