import type Stripe from 'stripe'
import { InvalidArgument, UnknownPrice } from '../../core/errors/errors.ts'
import type { RequestedItem } from '../../providers/item.ts'
import { getReferencedId, type StripeContext, toSeconds } from '../../providers/stripe/client.ts'
import {
  findMainItem,
  getExpandedSchedule,
  isMeteredPrice,
  retrieveSubscription,
} from '../../providers/stripe/describe-subscription.ts'
import { isMissingObjectError, isStripeRefusal } from '../../providers/stripe/errors.ts'
import { discardPendingUpdate } from '../confirmations/stripe-pending-update.ts'
import { haveSameInterval, isSameInterval } from '../proration/stripe-running.ts'
import { buildMainPriceMetadata } from '../swap/stripe-change-params.ts'
import {
  buildTaxRatesParam,
  createConfiguredTaxReader,
  listTaxRateIds,
  type ResolvedSubscriptionTax,
  resolveSubscriptionTax,
} from '../taxes/stripe-chosen-tax.ts'
import type { NewPlannedSwap, SubscriptionSchedules } from './contract.ts'

type Phase = Stripe.SubscriptionScheduleUpdateParams.Phase

/** Properties that a phase copies from a subscription or item. */
type CopiedProperties = Pick<Phase['items'][number], 'discounts' | 'tax_rates' | 'metadata'>

/**
 * Implements planned swaps for Stripe by a subscription schedule with two phases: the present state
 * until the swap, and the new prices after it. Both phases state all properties of the
 * subscription, because Stripe removes those that a phase omits. The schedule releases the
 * subscription one day after the swap, because a subscription with a schedule cannot be cancelled.
 */
export function createStripeSchedules(context: StripeContext): {
  readonly schedules: SubscriptionSchedules
} {
  const { stripe } = context
  const said = createConfiguredTaxReader(context)

  async function release(id: string): Promise<void> {
    const schedule = getExpandedSchedule(await retrieveSubscription(stripe, id))
    if (schedule) await stripe.subscriptionSchedules.release(schedule.id)
  }

  /**
   * Reads a price, unless the subscription has it. Throws UnknownPrice before anything is changed.
   */
  async function findPrice(id: string, current?: Stripe.Subscription): Promise<Stripe.Price> {
    const there = current?.items.data.find(({ price }) => price.id === id)
    if (there) return there.price
    try {
      return await stripe.prices.retrieve(id)
    } catch (error) {
      if (!isMissingObjectError(error)) throw error
      const failure = { provider: 'stripe', providerCode: 'resource_missing' } as const
      throw new UnknownPrice(`Stripe has no price '${id}'`, { ...failure, cause: error })
    }
  }

  return {
    schedules: {
      async plan(id, swap) {
        const current = await discardPendingUpdate(context, await retrieveSubscription(stripe, id))
        const prices: Stripe.Price[] = []
        for (const { price } of swap.items) prices.push(await findPrice(price, current))
        const [main] = swap.items
        const tax = resolveSubscriptionTax(
          current,
          await said({ ...swap, price: main?.price ?? '' }),
        )
        const there = getExpandedSchedule(current)
        // Stripe accepts no other parameter beside from_subscription.
        const schedule =
          there ?? (await stripe.subscriptionSchedules.create({ from_subscription: id }))
        const at = swap.at === 'period_end' ? periodEnd(current) : toSeconds(swap.at)
        const next = { tax, isOtherInterval: isOtherInterval(current, prices[0]) }
        const start = schedule.current_phase?.start_date ?? current.start_date
        try {
          await stripe.subscriptionSchedules.update(schedule.id, {
            end_behavior: 'release',
            proration_behavior: 'none',
            ...(swap.operation === null ? {} : { metadata: { operation: swap.operation } }),
            phases: [
              presentPhase(current, start, at),
              nextPhase(
                current,
                { ...swap, items: withoutMeteredQuantities(swap.items, prices) },
                next,
              ),
            ],
          })
        } catch (error) {
          // A new schedule that was rejected must not stay attached to the subscription.
          if (!there && isStripeRefusal(error)) await release(id)
          if (isStripeRefusal(error)) requireActive([...pricesOf(current), ...prices], error)
          throw error
        }
      },
      release,
      async haveSameInterval(prices) {
        return haveSameInterval(await Promise.all(prices.map((id) => findPrice(id))))
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

/**
 * Explains a rejection by Stripe that was caused by an archived price, which may also be one that
 * the customer still has.
 */
function requireActive(prices: readonly Stripe.Price[], cause: unknown): void {
  const archived = prices.find(({ active }) => !active)
  if (!archived) return
  throw new InvalidArgument(
    `'${archived.id}' is archived, so Stripe cannot plan a swap with it: activate it until the swap is planned, or swap() now`,
    { cause },
  )
}

/** Removes the quantity of metered prices, for which Stripe accepts none. */
function withoutMeteredQuantities(
  items: readonly RequestedItem[],
  prices: readonly Stripe.Price[],
): readonly RequestedItem[] {
  const metered = prices.filter(isMeteredPrice).map(({ id }) => id)
  return items.map((item) => (metered.includes(item.price) ? { ...item, quantity: null } : item))
}

/** Returns the phase that repeats the present state of the subscription. */
function presentPhase(current: Stripe.Subscription, start: number, at: number): Phase {
  const isTrial = current.status === 'trialing' && current.trial_end !== null
  return {
    start_date: start,
    end_date: at,
    items: current.items.data.map((item) => ({
      price: item.price.id,
      ...toQuantityParam(item.quantity ?? null),
      ...copyItemProperties(item),
    })),
    ...discountsOf(current),
    ...toRatesParam('default_tax_rates', listTaxRateIds(current.default_tax_rates)),
    ...automaticTaxOf(current),
    ...(isTrial ? { trial_end: Math.min(current.trial_end ?? at, at) } : {}),
    proration_behavior: 'none',
  }
}

function nextPhase(
  current: Stripe.Subscription,
  { items }: NewPlannedSwap,
  {
    tax,
    isOtherInterval,
  }: { readonly tax: ResolvedSubscriptionTax; readonly isOtherInterval: boolean },
): Phase {
  const main = findMainItem(current)
  return {
    items: items.map(({ price, quantity }, at) => {
      const old = current.items.data.find((item) => item.price.id === price)
      const kept = old ?? (at === 0 ? main : undefined)
      const own = tax.ofItem(price)
      return {
        price,
        ...toQuantityParam(quantity),
        ...(kept ? copyItemProperties(kept) : {}),
        ...(own === undefined ? {} : { tax_rates: buildTaxRatesParam(own) }),
      }
    }),
    ...discountsOf(current),
    ...toRatesParam('default_tax_rates', tax.whole),
    automatic_tax: { enabled: tax.isAutomatic },
    ...buildMainPriceMetadata(current, items),
    // A different billing interval starts on that day; the same interval keeps its day of the
    // month.
    ...(isOtherInterval ? { billing_cycle_anchor: 'phase_start' as const } : {}),
    duration: { interval: 'day', interval_count: 1 },
    proration_behavior: 'none',
  } as Phase
}

function isOtherInterval(current: Stripe.Subscription, price: Stripe.Price | undefined): boolean {
  return !isSameInterval(findMainItem(current)?.price.recurring, price?.recurring)
}

function periodEnd({ items }: Stripe.Subscription): number {
  return Math.max(...items.data.map((item) => item.current_period_end))
}

function toQuantityParam(quantity: number | null): { quantity?: number } {
  return quantity === null ? {} : { quantity }
}

/**
 * Returns the existing discounts by their own ids. Passing their coupons instead would start each
 * discount anew.
 */
function discountsOf({ discounts }: Pick<Stripe.Subscription, 'discounts'>): CopiedProperties {
  const ids = discounts.map(getReferencedId).flatMap((id) => id ?? [])
  return ids.length > 0 ? { discounts: ids.map((discount) => ({ discount })) } : {}
}

function copyItemProperties(item: Stripe.SubscriptionItem): CopiedProperties {
  return {
    ...discountsOf(item),
    ...toRatesParam('tax_rates', listTaxRateIds(item.tax_rates)),
    ...(Object.keys(item.metadata).length > 0 ? { metadata: item.metadata } : {}),
  }
}

/**
 * Returns the current setting for automatic tax. Without it, the schedule would restore the setting
 * from the time when the schedule was created.
 */
function automaticTaxOf({ automatic_tax: { enabled } }: Stripe.Subscription) {
  return { automatic_tax: { enabled } }
}

function toRatesParam<Name extends string>(
  name: Name,
  ids: readonly string[],
): { [K in Name]?: string[] } {
  return (ids.length > 0 ? { [name]: [...ids] } : {}) as { [K in Name]?: string[] }
}
