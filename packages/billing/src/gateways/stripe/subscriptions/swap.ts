import type Stripe from 'stripe'
import type { Gateway } from '../../contract/gateway.ts'
import type { WantedItem } from '../../contract/item.ts'
import type { ItemsChange, SubscriptionItems } from '../../contract/parts/subscriptions/items.ts'
import type { Swap, SwapPreview } from '../../contract/swap.ts'
import { completeInvoice, INVOICE_DETAILS } from '../payments/invoices.ts'
import { type StripeContext, toDate, toSeconds } from '../sdk/client.ts'
import {
  countable,
  hasItems,
  isWanted,
  itemParams,
  itemsWithPlan,
  mainParams,
  prorationBehavior,
  replacedItem,
} from './change-params.ts'
import { haveIds, type SaidTax, type TaxTarget, taxOfWhole, taxTarget } from './chosen-tax.ts'
import { throwUnpaid } from './confirmations.ts'
import { heldInvoice, heldItems, isAsked, letGo } from './held/held-change.ts'
import { payUpdate } from './held/pay-update.ts'
import { requireNothingOwed, takesAway } from './periods/overdue.ts'
import { requireWithinPeriod, withinPeriod } from './periods/proration-date.ts'
import { listRunning, readRunning } from './periods/running.ts'
import { readWithheld, sumOf, toAdded, toShown, type Withheld } from './periods/withheld.ts'
import { previewOf } from './preview.ts'
import { retrieve } from './retrieve.ts'
import { saidTax, taxRates } from './tax-rates.ts'

type Swaps = Pick<Gateway, 'swap' | 'previewSwap'> & { readonly items: SubscriptionItems }

/** Prices that a subscription is to have, and what else changes with them. */
interface Change extends Omit<ItemsChange, 'tax' | 'before'> {
  readonly endsTrial: boolean
  /** What comes with it, in an update and in its preview. */
  readonly more: {
    readonly default_tax_rates?: Stripe.Emptyable<string[]>
    readonly cancel_at_period_end?: false
    readonly cancel_at?: ''
    readonly trial_end?: 'now'
  }
  /** Whether Stripe works out the tax from now on, where that changes. */
  readonly automatic: Pick<Stripe.SubscriptionUpdateParams, 'automatic_tax'>
  readonly ratesOf: TaxTarget['ofItem']
}

/** Stripe changes everything in place, whatever its rhythm. */
export function stripeSwaps(context: StripeContext): Swaps {
  const { stripe } = context
  const findTaxRates = taxRates(context)
  const said = saidTax(context)

  /** A swap also resumes, and may end the trial. */
  async function changeOfSwap(current: Stripe.Subscription, swap: Swap): Promise<Change> {
    const target = taxTarget(current, await said(swap))
    const { automatic_tax, ...rates } = taxOfWhole(current, target)
    const endsTrial = swap.skipTrial && current.status === 'trialing'
    return {
      ...swap,
      wanted: await countable(stripe, current, swap.items ?? itemsWithPlan(current, swap.plan)),
      endsTrial,
      automatic: automatic_tax ? { automatic_tax } : {},
      ratesOf: target.ofItem,
      more: {
        ...rates,
        // One that is to end has no next invoice; the swap takes that back.
        ...(isCancelling(current) ? undoCancel(current) : {}),
        ...(endsTrial ? { trial_end: 'now' as const } : {}),
      },
    }
  }

  /** Nothing comes after the end, so what is changed before it is billed at once. */
  async function changeOfItems(current: Stripe.Subscription, change: ItemsChange): Promise<Change> {
    const invoiceNow = change.invoiceNow || isCancelling(current)
    const { tax, ...rest } = change
    const wanted = await countable(stripe, current, change.wanted)
    const ratesOf = ratesOfAdded(current, {
      rates: change.itemRates,
      percentage: await findTaxRates(tax),
    })
    return { ...rest, wanted, invoiceNow, endsTrial: false, automatic: {}, ratesOf, more: {} }
  }

  function detailsOf(current: Stripe.Subscription, change: Change, at: Date) {
    const isTrial = current.status === 'trialing'
    const items = itemParams(current, change.wanted, change.ratesOf)
    return {
      items: items as Stripe.InvoiceCreatePreviewParams.SubscriptionDetails.Item[],
      ...change.more,
      ...(change.prorate && !isTrial ? { proration_date: toSeconds(at) } : {}),
    }
  }

  /**
   * What Stripe would credit although its money has gone back.
   * @throws PaymentOverdue where what it would credit was never paid.
   */
  async function withheldOf(
    current: Stripe.Subscription,
    change: Change,
    { now, at }: { readonly now: Date; readonly at: Date },
  ): Promise<Withheld[]> {
    const isLess = takesAway(current, change.wanted)
    const movesEnd = change.more.cancel_at !== undefined
    if (!change.prorate || !(isLess || movesEnd)) return []
    const invoices = await listRunning(context, current)
    if (isLess) requireNothingOwed(current, invoices, now)
    const details = detailsOf(current, change, at)
    const record = await readRunning(context, current, { invoices, movesEnd })
    return readWithheld(context, current, record, { details, ...change.automatic, movesEnd })
  }

  async function apply(current: Stripe.Subscription, change: Change, now: Date): Promise<void> {
    const { wanted, prorate, prorationDate } = change
    const at = prorationDate && prorate ? requireWithinPeriod(current, prorationDate) : null
    const shownAt = at ?? withinPeriod(current, now)
    const withheld = await withheldOf(current, change, { now, at: shownAt })
    const params: Stripe.SubscriptionUpdateParams = {
      items: itemParams(current, wanted, change.ratesOf),
      ...change.automatic,
      proration_behavior: prorationBehavior(change),
      ...mainParams(current, wanted),
      ...change.more,
      ...(at || withheld.length > 0 ? { proration_date: toSeconds(shownAt) } : {}),
      ...toAdded(withheld),
    }
    await payUpdate(context, current, params, now)
  }

  async function preview(
    current: Stripe.Subscription,
    change: Change,
    at: Date,
  ): Promise<SwapPreview> {
    const { wanted, prorate, endsTrial } = change
    const now = withinPeriod(current, change.prorationDate ?? at)
    const withheld = await withheldOf(current, change, { now: at, at: now })
    const isTrial = current.status === 'trialing'
    const invoice = await stripe.invoices.createPreview({
      subscription: current.id,
      expand: INVOICE_DETAILS,
      ...change.automatic,
      subscription_details: {
        ...detailsOf(current, change, now),
        proration_behavior: prorationBehavior(change),
      },
      ...toShown(withheld),
    })
    const billsDifference = change.invoiceNow && prorate && !isTrial && !hasItems(current, wanted)
    const immediately = endsTrial || billsDifference || (await startsPeriod(current, wanted))
    return previewOf(await completeInvoice(context, invoice), {
      immediately,
      date: immediately ? at : toDate(invoice.period_end),
      prorationDate: now,
      withheld: sumOf(withheld),
    })
  }

  /** Another rhythm starts a new period, and so does the first price of a free subscription. */
  async function startsPeriod(
    current: Stripe.Subscription,
    wanted: readonly WantedItem[],
  ): Promise<boolean> {
    if (current.status === 'trialing') return false
    const known = current.items.data.map(({ price }) => price)
    const priceOf = async (id: string) =>
      known.find((price) => price.id === id) ?? (await stripe.prices.retrieve(id))
    const old = replacedItem(current, wanted)?.price.recurring
    const { recurring } = await priceOf(wanted[0]?.price ?? '')
    const isSameRhythm =
      !old ||
      (old.interval === recurring?.interval && old.interval_count === recurring.interval_count)
    if (!isSameRhythm) return true
    if (!known.every(isFree)) return false
    const prices = await Promise.all(wanted.map(({ price }) => priceOf(price)))
    return !prices.every(isFree)
  }

  /** A repeat of what the bank asks about asks again; anything else takes its place. */
  async function carryOut(
    id: string,
    now: Date,
    toChange: (current: Stripe.Subscription) => Change | Promise<Change>,
    isDone: (current: Stripe.Subscription, change: Change) => boolean,
  ): Promise<void> {
    const found = await retrieve(stripe, id)
    const held = heldInvoice(found)
    if (held !== null) {
      const { wanted, endsTrial } = await toChange(found)
      const isSame =
        isWanted(heldItems(found), wanted) && endsTrial === (found.status === 'trialing')
      if (isSame && (await isAsked(context, held, found.customer))) await throwUnpaid(stripe, held)
    }
    const current = await letGo(context, found)
    const change = await toChange(current)
    if (isDone(current, change)) return
    await apply(current, change, now)
  }

  return {
    swap: (id, wanted, now) =>
      carryOut(
        id,
        now,
        (current) => changeOfSwap(current, wanted),
        (current, { wanted: items, endsTrial }) =>
          hasItems(current, items) && !isCancelling(current) && !endsTrial,
      ),
    async previewSwap(id, wanted, at) {
      const current = await retrieve(stripe, id)
      return preview(current, await changeOfSwap(current, wanted), at)
    },
    items: {
      change: (id, wanted, now) =>
        carryOut(
          id,
          now,
          (current) => changeOfItems(current, wanted),
          (current, change) => hasItems(current, change.wanted),
        ),
      async preview(id, wanted, at) {
        const current = await retrieve(stripe, id)
        return preview(current, await changeOfItems(current, wanted), at)
      },
    },
  }
}

/** The tax of what is there stays. What is added has the same, or rates of its own; where Stripe works it out there are none. */
function ratesOfAdded(current: Stripe.Subscription, said: SaidTax): TaxTarget['ofItem'] {
  const { whole, ofItem } = taxTarget(current, said)
  const isWhole = haveIds(current.default_tax_rates, whole)
  return (added) => {
    const isThere = current.items.data.some(({ price }) => price.id === added)
    if (isThere || current.automatic_tax.enabled) return undefined
    const own = ofItem(added) ?? []
    return own.length > 0 || isWhole ? own : whole
  }
}

function isCancelling(current: Stripe.Subscription): boolean {
  return current.cancel_at_period_end || current.cancel_at !== null
}

function undoCancel(
  current: Stripe.Subscription,
): { readonly cancel_at_period_end: false } | { readonly cancel_at: '' } {
  return current.cancel_at_period_end ? { cancel_at_period_end: false } : { cancel_at: '' }
}

function isFree({ unit_amount }: Stripe.Price): boolean {
  return unit_amount === 0
}
