import type Stripe from 'stripe'
import type { Gateway } from '../../providers/gateway.ts'
import type { RequestedItem } from '../../providers/item.ts'
import { type StripeContext, toDate, toSeconds } from '../../providers/stripe/client.ts'
import { retrieveSubscription } from '../../providers/stripe/describe-subscription.ts'
import { throwIfUnpaid } from '../confirmations/stripe.ts'
import { updateAndPay } from '../confirmations/stripe-pay-update.ts'
import {
  discardPendingUpdate,
  getPendingUpdateInvoice,
  isInvoiceAwaitingAuthentication,
  listPendingUpdateItems,
} from '../confirmations/stripe-pending-update.ts'
import { INVOICE_EXPAND_PARAM, readCompleteInvoice } from '../invoices/stripe.ts'
import type { ItemsChange, SubscriptionItems } from '../items/contract.ts'
import { removesPricesOrUnits, requireCreditedTimePaid } from '../proration/stripe-overdue.ts'
import {
  clampToPeriod,
  listCurrentInvoices,
  readCurrentPaidTime,
  requireWithinPeriod,
} from '../proration/stripe-running.ts'
import {
  addUpWithheldCredit,
  buildWithheldPreviewParams,
  buildWithheldUpdateParams,
  readWithheldCredit,
  type WithheldCredit,
} from '../proration/stripe-withheld.ts'
import {
  buildSubscriptionTaxParams,
  type ConfiguredTax,
  createConfiguredTaxReader,
  createTaxRateFinder,
  haveTaxRateIds,
  type ResolvedSubscriptionTax,
  resolveSubscriptionTax,
} from '../taxes/stripe-chosen-tax.ts'
import type { SwapPreview, SwapRequest } from './contract.ts'
import {
  buildItemUpdateParams,
  buildMainPriceMetadata,
  chooseProrationBehavior,
  findItemWithChangedPrice,
  hasStripeItems,
  isSamePriceList,
  replaceMainPriceItem,
  withoutMeteredQuantities,
} from './stripe-change-params.ts'
import { toSwapPreview } from './stripe-preview.ts'

type Swaps = Pick<Gateway, 'swap' | 'previewSwap'> & { readonly items: SubscriptionItems }

/** The wanted prices of a subscription, and everything else that changes with them. */
interface Change extends Omit<ItemsChange, 'tax' | 'before'> {
  readonly endsTrial: boolean
  /** Further parameters, for the update as well as for its preview. */
  readonly more: {
    readonly default_tax_rates?: Stripe.Emptyable<string[]>
    readonly cancel_at_period_end?: false
    readonly cancel_at?: ''
    readonly trial_end?: 'now'
  }
  /** The parameter that turns Stripe's automatic tax on or off. Empty if that does not change. */
  readonly automatic: Pick<Stripe.SubscriptionUpdateParams, 'automatic_tax'>
  readonly ratesOf: ResolvedSubscriptionTax['ofItem']
}

/**
 * Implements swaps for Stripe, which changes the existing subscription, even to another billing
 * interval.
 */
export function createStripeSwaps(context: StripeContext): Swaps {
  const { stripe } = context
  const findTaxRates = createTaxRateFinder(context)
  const said = createConfiguredTaxReader(context)

  /** Builds the change of a swap, which also resumes the subscription and may end the trial. */
  async function changeOfSwap(current: Stripe.Subscription, swap: SwapRequest): Promise<Change> {
    const target = resolveSubscriptionTax(current, await said(swap))
    const { automatic_tax, ...rates } = buildSubscriptionTaxParams(current, target)
    const endsTrial = swap.skipTrial && current.status === 'trialing'
    return {
      ...swap,
      wanted: await withoutMeteredQuantities(
        stripe,
        current,
        swap.items ?? replaceMainPriceItem(current, swap.price),
      ),
      endsTrial,
      automatic: automatic_tax ? { automatic_tax } : {},
      ratesOf: target.ofItem,
      more: {
        ...rates,
        // A cancelled subscription has no next invoice, so the swap undoes the cancellation.
        ...(isCancelling(current) ? undoCancel(current) : {}),
        ...(endsTrial ? { trial_end: 'now' as const } : {}),
      },
    }
  }

  /**
   * Builds a change of the additional prices. If the subscription is cancelled, the change is
   * billed immediately, because no later invoice follows.
   */
  async function changeOfItems(current: Stripe.Subscription, change: ItemsChange): Promise<Change> {
    const invoiceNow = change.invoiceNow || isCancelling(current)
    const { tax, ...rest } = change
    const wanted = await withoutMeteredQuantities(stripe, current, change.wanted)
    const ratesOf = findAddedPriceRates(current, {
      rates: change.itemRates,
      percentage: await findTaxRates(tax),
    })
    return { ...rest, wanted, invoiceNow, endsTrial: false, automatic: {}, ratesOf, more: {} }
  }

  function detailsOf(current: Stripe.Subscription, change: Change, at: Date) {
    const isTrial = current.status === 'trialing'
    const items = buildItemUpdateParams(current, change.wanted, change.ratesOf)
    return {
      items: items as Stripe.InvoiceCreatePreviewParams.SubscriptionDetails.Item[],
      ...change.more,
      ...(change.prorate && !isTrial ? { proration_date: toSeconds(at) } : {}),
    }
  }

  /**
   * Returns credit that Stripe would give although the money was refunded.
   * @throws {PaymentOverdue} if the period that Stripe would credit was never paid.
   */
  async function withheldOf(
    current: Stripe.Subscription,
    change: Change,
    { now, at }: { readonly now: Date; readonly at: Date },
  ): Promise<WithheldCredit[]> {
    const isLess = removesPricesOrUnits(current, change.wanted)
    const movesEnd = change.more.cancel_at !== undefined
    if (!change.prorate || !(isLess || movesEnd)) return []
    const invoices = await listCurrentInvoices(context, current)
    if (isLess) requireCreditedTimePaid(current, invoices, now)
    const details = detailsOf(current, change, at)
    const record = await readCurrentPaidTime(context, current, { invoices, movesEnd })
    return readWithheldCredit(context, current, record, { details, ...change.automatic, movesEnd })
  }

  async function apply(current: Stripe.Subscription, change: Change, now: Date): Promise<void> {
    const { wanted, prorate, prorationDate } = change
    const at = prorationDate && prorate ? requireWithinPeriod(current, prorationDate) : null
    const shownAt = at ?? clampToPeriod(current, now)
    const withheld = await withheldOf(current, change, { now, at: shownAt })
    const params: Stripe.SubscriptionUpdateParams = {
      items: buildItemUpdateParams(current, wanted, change.ratesOf),
      ...change.automatic,
      proration_behavior: chooseProrationBehavior(change),
      ...buildMainPriceMetadata(current, wanted),
      ...change.more,
      ...(at || withheld.length > 0 ? { proration_date: toSeconds(shownAt) } : {}),
      ...buildWithheldUpdateParams(withheld),
    }
    await updateAndPay(context, current, params, now)
  }

  async function preview(
    current: Stripe.Subscription,
    change: Change,
    at: Date,
  ): Promise<SwapPreview> {
    const { wanted, prorate, endsTrial } = change
    const now = clampToPeriod(current, change.prorationDate ?? at)
    const withheld = await withheldOf(current, change, { now: at, at: now })
    const isTrial = current.status === 'trialing'
    const invoice = await stripe.invoices.createPreview({
      subscription: current.id,
      expand: INVOICE_EXPAND_PARAM,
      ...change.automatic,
      subscription_details: {
        ...detailsOf(current, change, now),
        proration_behavior: chooseProrationBehavior(change),
      },
      ...buildWithheldPreviewParams(withheld),
    })
    const billsDifference =
      change.invoiceNow && prorate && !isTrial && !hasStripeItems(current, wanted)
    const immediately = endsTrial || billsDifference || (await startsPeriod(current, wanted))
    return toSwapPreview(await readCompleteInvoice(context, invoice), {
      immediately,
      date: immediately ? at : toDate(invoice.period_end),
      prorationDate: now,
      withheld: addUpWithheldCredit(withheld),
    })
  }

  /**
   * Whether the change starts a new billing period: if the billing interval changes, or if a free
   * subscription gets its first price that is not free. Never during a trial.
   */
  async function startsPeriod(
    current: Stripe.Subscription,
    wanted: readonly RequestedItem[],
  ): Promise<boolean> {
    if (current.status === 'trialing') return false
    const known = current.items.data.map(({ price }) => price)
    const priceOf = async (id: string) =>
      known.find((price) => price.id === id) ?? (await stripe.prices.retrieve(id))
    const old = findItemWithChangedPrice(current, wanted)?.price.recurring
    const { recurring } = await priceOf(wanted[0]?.price ?? '')
    const isSameInterval =
      !old ||
      (old.interval === recurring?.interval && old.interval_count === recurring.interval_count)
    if (!isSameInterval) return true
    if (!known.every(isFree)) return false
    const prices = await Promise.all(wanted.map(({ price }) => priceOf(price)))
    return !prices.every(isFree)
  }

  /**
   * Makes the change. If the same change already waits for the customer's confirmation, throws the
   * same payment again; any other change replaces it.
   */
  async function carryOut(
    id: string,
    now: Date,
    toChange: (current: Stripe.Subscription) => Change | Promise<Change>,
    isDone: (current: Stripe.Subscription, change: Change) => boolean,
  ): Promise<void> {
    const found = await retrieveSubscription(stripe, id)
    const held = getPendingUpdateInvoice(found)
    if (held !== null) {
      const { wanted, endsTrial } = await toChange(found)
      const isSame =
        isSamePriceList(listPendingUpdateItems(found), wanted) &&
        endsTrial === (found.status === 'trialing')
      if (isSame && (await isInvoiceAwaitingAuthentication(context, held, found.customer)))
        await throwIfUnpaid(stripe, held)
    }
    const current = await discardPendingUpdate(context, found)
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
          hasStripeItems(current, items) && !isCancelling(current) && !endsTrial,
      ),
    async previewSwap(id, wanted, at) {
      const current = await retrieveSubscription(stripe, id)
      return preview(current, await changeOfSwap(current, wanted), at)
    },
    items: {
      change: (id, wanted, now) =>
        carryOut(
          id,
          now,
          (current) => changeOfItems(current, wanted),
          (current, change) => hasStripeItems(current, change.wanted),
        ),
      async preview(id, wanted, at) {
        const current = await retrieveSubscription(stripe, id)
        return preview(current, await changeOfItems(current, wanted), at)
      },
    },
  }
}

/**
 * Returns the tax rates of an added price: its own, or those of the subscription. Present prices
 * keep their tax. With automatic tax there are no rates.
 */
function findAddedPriceRates(
  current: Stripe.Subscription,
  said: ConfiguredTax,
): ResolvedSubscriptionTax['ofItem'] {
  const { whole, ofItem } = resolveSubscriptionTax(current, said)
  const isWhole = haveTaxRateIds(current.default_tax_rates, whole)
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
