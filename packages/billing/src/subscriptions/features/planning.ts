import { attempt, begin } from '../../consistency/operation.ts'
import { forgetPlans } from '../../consistency/plans/forget-plans.ts'
import { InvalidArgument, SubscriptionEnded } from '../../errors.ts'
import type { WantedItem } from '../../gateways/contract/item.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import { hasItems, wantedOf } from '../../gateways/contract/wanted-items.ts'
import type { Intent } from '../../storage/operations.ts'
import { awaitsFirstPayment } from '../../values/subscription-state.ts'
import { requireKnownPlan, requireProvider } from '../known-plans.ts'
import { planTerms } from '../planned-swap.ts'
import type { SubscriptionHaving, SubscriptionScope } from '../subscription-scope.ts'
import { type ItemWanted, requireItems } from './swapping.ts'

/** What a subscription is to become. */
export interface PlannedChange {
  /** The main price from then on. */
  readonly plan: string
  /** All prices from then on, the main one first. */
  readonly items: readonly WantedItem[]
  /** When. */
  readonly at: Date
}

type Scope = SubscriptionHaving<'schedules'>

/**
 * All prices from the next bill on. The target is on record before it is asked for; it says all of them, so a repeat after a
 * lost answer plans the same.
 */
export async function swapAtPeriodEnd(
  subscription: Scope,
  wanted: string | readonly ItemWanted[],
): Promise<void> {
  subscription.requireRunning()
  const choose = requireWanted(subscription, wanted)
  const { context, record } = subscription
  const { owner, provider, providerId: of } = record
  await subscription.change(
    async ({ found, locked, ask }) => {
      requirePlannable(subscription, found)
      const items = choose(found)
      // To what it is already: then nothing is to change.
      if (hasItems(found, items)) {
        if (found.planned) await ask((gateway) => requirePart(gateway, 'schedules').release(of))
        return
      }
      const intent: Intent = { owner, kind: 'plan', request: { provider, of, items } }
      const terms = await planTerms(subscription, items)
      const operation = await begin(context, locked, intent)
      const swap = { ...terms, items, at: 'period_end', operation: operation.id } as const
      await attempt(context, locked, operation, () =>
        ask((gateway) => requirePart(gateway, 'schedules').plan(of, swap)),
      )
    },
    // Off the record last: who gets no answer must find it there.
    { settle: (locked) => forgetPlans(context, locked, of) },
  )
}

export async function findPlannedSwap(subscription: Scope): Promise<PlannedChange | null> {
  if (subscription.isEnded()) return null
  const planned = (await subscription.find())?.planned
  const [main] = planned?.items ?? []
  if (!planned || !main) return null
  return { plan: main.price, items: planned.items, at: planned.at }
}

/** Nothing happens where nothing is planned. */
export async function cancelPlannedSwap(subscription: Scope): Promise<void> {
  const { context, record } = subscription
  await subscription.change(
    async ({ found, ask }) => {
      if (found.planned) await ask((gateway) => requirePart(gateway, 'schedules').release(found.id))
    },
    { settle: (locked) => forgetPlans(context, locked, record.providerId) },
  )
}

/** How to tell the prices by what there is. Checked before any call. */
function requireWanted(
  subscription: Scope,
  wanted: string | readonly ItemWanted[],
): (found: ProviderSubscription) => readonly WantedItem[] {
  const provider = requireProvider(subscription.context, subscription.record.provider)
  if (typeof wanted !== 'string') {
    const items = requireItems(subscription, wanted)
    if (items.length === 0) throw new InvalidArgument('Which plan to swap to?')
    for (const { price } of items) requireKnownPlan(provider, price)
    return () => items
  }
  if (wanted === '') throw new InvalidArgument('Which plan to swap to?')
  requireKnownPlan(provider, wanted)
  return (found) => {
    const [main, ...others] = wantedOf(found)
    const rest = others.filter(({ price }) => price !== wanted)
    return [{ price: wanted, quantity: main?.quantity ?? 1 }, ...rest]
  }
}

function requirePlannable({ context, record }: SubscriptionScope, found: ProviderSubscription) {
  const standing = context.options.providers.standing(record.provider, found.status)
  if (awaitsFirstPayment({ standing })) {
    throw new InvalidArgument('Its first payment is missing: there is no period yet')
  }
  if (found.isOver) throw new SubscriptionEnded('The subscription has ended: create a new one')
  if (found.endsAt !== null) {
    throw new InvalidArgument('It was cancelled, and no period follows: resume() first')
  }
}
