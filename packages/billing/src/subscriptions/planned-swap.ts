import { attempt, begin, finish } from '../consistency/operation.ts'
import { plan as resumePlan } from '../consistency/operations/plan.ts'
import type { LockedOwner } from '../consistency/owner-lock.ts'
import type { KeptPlan } from '../consistency/plans/decide-plan.ts'
import { forgetPlans } from '../consistency/plans/forget-plans.ts'
import { planKept } from '../consistency/plans/plan-kept.ts'
import type { BillingContext } from '../context.ts'
import { InvalidArgument, isFinal } from '../errors.ts'
import type { WantedItem } from '../gateways/contract/item.ts'
import type {
  NewPlannedSwap,
  PlannedSwap,
} from '../gateways/contract/parts/subscriptions/schedules.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import { wantedOf } from '../gateways/contract/wanted-items.ts'
import { PaymentActionRequired } from '../payment-errors.ts'
import type { Operation } from '../storage/operations.ts'
import type { ChangeAtProvider, Current } from './change.ts'
import type { SubscriptionScope } from './subscription-scope.ts'

/**
 * What becomes of a planned swap when something else is done with the subscription.
 * - `keeps`: nothing.
 * - `drops`: it is forgotten, since it would undo what is asked for now.
 * - `carries`: it goes on, with the same change in it.
 * - `refuses`: the day that it was planned for would move: InvalidArgument, before anything is changed.
 */
export type PlanRule = 'keeps' | 'drops' | 'carries' | 'refuses'

export const PLAN_RULES = {
  swap: 'drops',
  cancel: 'drops',
  cancelAt: 'drops',
  items: 'carries',
  discounts: 'carries',
  tax: 'carries',
  trial: 'refuses',
  // It ends with the subscription. Nobody can resume one for which something is planned: who cancels has dropped it.
  cancelNow: 'keeps',
  payNow: 'keeps',
  pause: 'keeps',
  unpause: 'keeps',
} as const satisfies Readonly<Record<string, PlanRule>>

/** The prices of a planned swap, with a change in them; `plan` is the main price that there is now. */
export type Carry = (planned: readonly WantedItem[], plan: string) => readonly WantedItem[]

/** What a change means for the prices. Nothing, where it is about something else. */
export interface PriceChange {
  /** For those that are planned. */
  readonly carry: Carry
  /** All that there are once it is made. */
  readonly targetOf: (found: ProviderSubscription) => readonly WantedItem[]
}

export const SAME_PRICES: PriceChange = { carry: (planned) => planned, targetOf: wantedOf }

interface Asked {
  readonly subscription: SubscriptionScope
  readonly current: Current
  readonly change: ChangeAtProvider
  readonly prices: PriceChange
}

/** The change, and what the rule says of a planned swap. Where nothing is planned, the change alone. */
export function mindingPlan(
  subscription: SubscriptionScope,
  what: keyof typeof PLAN_RULES,
  change: ChangeAtProvider,
  prices: PriceChange = SAME_PRICES,
): ChangeAtProvider {
  return async (current) => {
    const asked = { subscription, current, change, prices }
    if (current.found.isScheduled) await RULES[PLAN_RULES[what]](asked)
    else await change(current)
  }
}

const RULES: Readonly<Record<PlanRule, (asked: Asked) => Promise<void>>> = {
  keeps: ({ change, current }) => change(current),

  // What is released is on record until the change is made: whoever comes after a crash or a lost answer plans it again.
  async drops(asked) {
    const { subscription, current, change } = asked
    const { context } = subscription
    const { found, locked, ask } = current
    const release = () => ask((gateway) => requirePart(gateway, 'schedules').release(found.id))
    if (found.planned) await requireTarget(asked)
    const operation = found.planned ? await keep(asked, found.planned, 'restore') : null
    try {
      await release()
      await change(current)
    } catch (error) {
      // Whoever is declined keeps what they had. Whoever is asked to confirm keeps it until then.
      if (operation && isFinal(error)) await settle(context, locked, operation)
      throw error
    }
    if (operation) await forgetPlans(context, locked, found.id)
  },

  // In this order a repeat finds both: what is planned is planned until the end.
  async carries(asked) {
    const { subscription, current, change, prices } = asked
    const { context } = subscription
    const { found, locked } = current
    const { planned } = found
    if (!planned) return change(current)
    const items = prices.carry(planned.items, found.plan)
    await requireOneRhythm(current, planned.items, items)
    await requireOffered(current, items)
    const operation = await keep(asked, { ...planned, items }, 'carry')
    try {
      await change(current)
    } catch (error) {
      // Whoever is asked to confirm may have the change later, or now; whoever is declined has not.
      if (error instanceof PaymentActionRequired) await settle(context, locked, operation)
      else if (isFinal(error)) await finish(context, locked, operation)
      throw error
    }
    await attempt(context, locked, operation, () => planKept(locked, operation))
    await forgetPlans(context, locked, found.id)
  },

  async refuses({ current, change }) {
    if (current.found.planned) {
      throw new InvalidArgument('Its prices are to change on that day: cancelPlannedSwap() first')
    }
    await change(current)
  },
}

/** Puts a plan on record before the first call, with all that is needed to plan it. */
async function keep(
  { subscription, current: { found, locked }, prices }: Asked,
  { items, at }: Pick<PlannedSwap, 'items' | 'at'>,
  to: KeptPlan['to'],
): Promise<Operation> {
  const { context, record } = subscription
  const request: KeptPlan = {
    provider: record.provider,
    of: found.id,
    to,
    items,
    at: at.getTime(),
    ...(await planTerms(subscription, items)),
    by: found.planned?.operation ?? null,
    before: wantedOf(found),
    after: prices.targetOf(found),
  }
  return begin(context, locked, { owner: record.owner, kind: 'plan', request })
}

/** Does at once what is done after a crash. If it fails, it stays on record: the caller hears of their own failure. */
async function settle(
  context: BillingContext,
  locked: LockedOwner,
  operation: Operation,
): Promise<void> {
  await resumePlan(context, locked, { ...operation, kind: 'plan' }).catch(() => undefined)
}

/** Before anything is changed: a provider refuses a plan of prices that are not billed together. */
async function requireOneRhythm(
  { ask }: Current,
  planned: readonly WantedItem[],
  items: readonly WantedItem[],
): Promise<void> {
  const [main] = items
  const added = items.filter(({ price }) => !planned.some((item) => item.price === price))
  if (!main || added.length === 0) return
  const prices = [main, ...added].map(({ price }) => price)
  if (await ask((gateway) => requirePart(gateway, 'schedules').haveOneRhythm(prices))) return
  throw new InvalidArgument(
    `It is to become '${main.price}', which is billed in another rhythm: cancelPlannedSwap() first, or add it after`,
  )
}

/** Before anything is changed: what is planned has to be planned again afterwards, with what there is now before it. */
async function requireOffered(current: Current, items: readonly WantedItem[]): Promise<void> {
  const archived = await findArchived(current, [...wantedOf(current.found), ...items])
  if (archived === null) return
  throw new InvalidArgument(
    `'${archived}' is no longer offered, so what is planned could not be planned again: cancelPlannedSwap() first`,
  )
}

/** Before anything is released: a swap that cannot be made costs nobody their plan, which may be one that cannot be made again. */
async function requireTarget({ current, prices }: Asked): Promise<void> {
  const there = wantedOf(current.found)
  const added = prices
    .targetOf(current.found)
    .filter(({ price }) => !there.some((item) => item.price === price))
  const archived = await findArchived(current, added)
  if (archived === null) return
  throw new InvalidArgument(
    `'${archived}' is no longer offered, so nothing can be swapped to it. What is planned stays`,
  )
}

async function findArchived(
  { ask }: Current,
  items: readonly WantedItem[],
): Promise<string | null> {
  if (items.length === 0) return null
  const prices = [...new Set(items.map(({ price }) => price))]
  return ask(
    async (gateway) => (await requirePart(gateway, 'schedules').findArchived?.(prices)) ?? null,
  )
}

/** What the application says of the tax of the new prices. */
export async function planTerms(
  subscription: SubscriptionScope,
  items: readonly WantedItem[],
): Promise<Pick<NewPlannedSwap, 'tax' | 'keepsTax' | 'automaticTax' | 'taxRates' | 'itemRates'>> {
  const [main = subscription.record.providerPlan, ...others] = items.map(({ price }) => price)
  return subscription.tax(main, others)
}
