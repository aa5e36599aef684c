import type Stripe from 'stripe'
import { InvalidArgument, UnknownPlan } from '../../../../errors.ts'
import type { WantedItem } from '../../../contract/item.ts'
import type { NewPlannedSwap, Schedules } from '../../../contract/parts/subscriptions/schedules.ts'
import { idOf, type StripeContext, toSeconds } from '../../sdk/client.ts'
import { isMissing, isRefusal } from '../../sdk/errors.ts'
import { mainParams } from '../change-params.ts'
import { idsOf, ratesParam, type TaxTarget, taxTarget } from '../chosen-tax.ts'
import { isMetered, mainItem } from '../describe.ts'
import { letGo } from '../held/held-change.ts'
import { haveOneRhythm, isSameRhythm } from '../periods/rhythm.ts'
import { retrieve } from '../retrieve.ts'
import { saidTax } from '../tax-rates.ts'
import { scheduleOf } from './planned.ts'

type Phase = Stripe.SubscriptionScheduleUpdateParams.Phase

/** What a phase takes over from an object. */
type Kept = Pick<Phase['items'][number], 'discounts' | 'tax_rates' | 'metadata'>

/**
 * Swaps at the end of the period, by a schedule of two phases: all as it is until then, and the new prices. What a phase does
 * not say, its subscription loses: so both say all of it. A day after the change the schedule lets go of the subscription,
 * because as long as it holds it nobody can cancel.
 */
export function stripeSchedules(context: StripeContext): { readonly schedules: Schedules } {
  const { stripe } = context
  const said = saidTax(context)

  async function release(id: string): Promise<void> {
    const schedule = scheduleOf(await retrieve(stripe, id))
    if (schedule) await stripe.subscriptionSchedules.release(schedule.id)
  }

  /** Those that are not there yet, in full; UnknownPlan before anything is begun. */
  async function findPrice(id: string, current?: Stripe.Subscription): Promise<Stripe.Price> {
    const there = current?.items.data.find(({ price }) => price.id === id)
    if (there) return there.price
    try {
      return await stripe.prices.retrieve(id)
    } catch (error) {
      if (!isMissing(error)) throw error
      const failure = { provider: 'stripe', providerCode: 'resource_missing' } as const
      throw new UnknownPlan(`Stripe has no price '${id}'`, { ...failure, cause: error })
    }
  }

  return {
    schedules: {
      async plan(id, swap) {
        const current = await letGo(context, await retrieve(stripe, id))
        const prices: Stripe.Price[] = []
        for (const { price } of swap.items) prices.push(await findPrice(price, current))
        const [main] = swap.items
        const tax = taxTarget(current, await said({ ...swap, plan: main?.price ?? '' }))
        const there = scheduleOf(current)
        // Nothing else may be said with it.
        const schedule =
          there ?? (await stripe.subscriptionSchedules.create({ from_subscription: id }))
        const at = swap.at === 'period_end' ? periodEnd(current) : toSeconds(swap.at)
        const next = { tax, isOtherRhythm: isOtherRhythm(current, prices[0]) }
        const start = schedule.current_phase?.start_date ?? current.start_date
        try {
          await stripe.subscriptionSchedules.update(schedule.id, {
            end_behavior: 'release',
            proration_behavior: 'none',
            ...(swap.operation === null ? {} : { metadata: { operation: swap.operation } }),
            phases: [
              presentPhase(current, start, at),
              nextPhase(current, { ...swap, items: countable(swap.items, prices) }, next),
            ],
          })
        } catch (error) {
          // What is refused leaves nothing behind that would hold the subscription.
          if (!there && isRefusal(error)) await release(id)
          if (isRefusal(error)) requireActive([...pricesOf(current), ...prices], error)
          throw error
        }
      },
      release,
      async haveOneRhythm(prices) {
        return haveOneRhythm(await Promise.all(prices.map((id) => findPrice(id))))
      },
      async findArchived(prices) {
        const found = await Promise.all(prices.map((id) => findPrice(id)))
        return found.find(({ active }) => !active)?.id ?? null
      },
    },
  }
}

function pricesOf({ items }: Stripe.Subscription): Stripe.Price[] {
  return items.data.map(({ price }) => price)
}

/** Asked once Stripe has refused: also the price of a customer who keeps one that nobody else can have any more. */
function requireActive(prices: readonly Stripe.Price[], cause: unknown): void {
  const archived = prices.find(({ active }) => !active)
  if (!archived) return
  throw new InvalidArgument(
    `'${archived.id}' was archived, and Stripe plans nothing with it: activate it until the swap is planned, or swap() now`,
    { cause },
  )
}

/** Of a metered price Stripe takes no quantity. */
function countable(
  items: readonly WantedItem[],
  prices: readonly Stripe.Price[],
): readonly WantedItem[] {
  const metered = prices.filter(isMetered).map(({ id }) => id)
  return items.map((item) => (metered.includes(item.price) ? { ...item, quantity: null } : item))
}

/** All as it is. */
function presentPhase(current: Stripe.Subscription, start: number, at: number): Phase {
  const isTrial = current.status === 'trialing' && current.trial_end !== null
  return {
    start_date: start,
    end_date: at,
    items: current.items.data.map((item) => ({
      price: item.price.id,
      ...countOf(item.quantity ?? null),
      ...keptOf(item),
    })),
    ...discountsOf(current),
    ...ratesIn('default_tax_rates', idsOf(current.default_tax_rates)),
    ...automaticTaxOf(current),
    ...(isTrial ? { trial_end: Math.min(current.trial_end ?? at, at) } : {}),
    proration_behavior: 'none',
  }
}

function nextPhase(
  current: Stripe.Subscription,
  { items }: NewPlannedSwap,
  { tax, isOtherRhythm }: { readonly tax: TaxTarget; readonly isOtherRhythm: boolean },
): Phase {
  const main = mainItem(current)
  return {
    items: items.map(({ price, quantity }, at) => {
      const old = current.items.data.find((item) => item.price.id === price)
      const kept = old ?? (at === 0 ? main : undefined)
      const own = tax.ofItem(price)
      return {
        price,
        ...countOf(quantity),
        ...(kept ? keptOf(kept) : {}),
        ...(own === undefined ? {} : { tax_rates: ratesParam(own) }),
      }
    }),
    ...discountsOf(current),
    ...ratesIn('default_tax_rates', tax.whole),
    automatic_tax: { enabled: tax.isAutomatic },
    ...mainParams(current, items),
    // Another rhythm begins then; the same one keeps the day of the month that it has.
    ...(isOtherRhythm ? { billing_cycle_anchor: 'phase_start' as const } : {}),
    duration: { interval: 'day', interval_count: 1 },
    proration_behavior: 'none',
  } as Phase
}

function isOtherRhythm(current: Stripe.Subscription, price: Stripe.Price | undefined): boolean {
  return !isSameRhythm(mainItem(current)?.price.recurring, price?.recurring)
}

function periodEnd({ items }: Stripe.Subscription): number {
  return Math.max(...items.data.map((item) => item.current_period_end))
}

function countOf(quantity: number | null): { quantity?: number } {
  return quantity === null ? {} : { quantity }
}

/** Discounts that are there already are named by their own ids: a coupon would begin anew. */
function discountsOf({ discounts }: Pick<Stripe.Subscription, 'discounts'>): Kept {
  const ids = discounts.map(idOf).flatMap((id) => id ?? [])
  return ids.length > 0 ? { discounts: ids.map((discount) => ({ discount })) } : {}
}

function keptOf(item: Stripe.SubscriptionItem): Kept {
  return {
    ...discountsOf(item),
    ...ratesIn('tax_rates', idsOf(item.tax_rates)),
    ...(Object.keys(item.metadata).length > 0 ? { metadata: item.metadata } : {}),
  }
}

/** The schedule would bring what it was when it was made. */
function automaticTaxOf({ automatic_tax: { enabled } }: Stripe.Subscription) {
  return { automatic_tax: { enabled } }
}

function ratesIn<Name extends string>(
  name: Name,
  ids: readonly string[],
): { [K in Name]?: string[] } {
  return (ids.length > 0 ? { [name]: [...ids] } : {}) as { [K in Name]?: string[] }
}
