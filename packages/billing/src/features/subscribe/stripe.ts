import type Stripe from 'stripe'
import type { Gateway } from '../../providers/gateway.ts'
import type { RequestedItem } from '../../providers/item.ts'
import {
  nullIfMissing,
  type StripeContext,
  toDate,
  toSeconds,
} from '../../providers/stripe/client.ts'
import {
  retrieveSubscription,
  toProviderSubscription,
  withAllItems,
} from '../../providers/stripe/describe-subscription.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import type { NewSubscription, StartTerms } from '../../providers/subscription.ts'
import { cancelAtPeriodEnd, cancelNow } from '../cancel/stripe.ts'
import {
  callWithPromotionCode,
  REPLACEMENT_CODE_KEY,
} from '../promotion-codes/stripe-replacement-codes.ts'
import { listCurrentInvoices } from '../proration/stripe-running.ts'
import { buildEndChangeWithheldParams } from '../proration/stripe-withheld.ts'
import { buildItemTaxRatesParam } from '../swap/stripe-change-params.ts'
import { buildTaxChoiceMetadata, createTaxRateFinder } from '../taxes/stripe-chosen-tax.ts'

type Subscriptions = Pick<
  Gateway,
  | 'createSubscription'
  | 'findSubscription'
  | 'findByOperation'
  | 'listSubscriptions'
  | 'findCustomerId'
  | 'cancelAtPeriodEnd'
  | 'cancelNow'
  | 'resume'
>

export function createStripeSubscriptions(context: StripeContext): Subscriptions {
  const { stripe } = context
  const findTaxRates = createTaxRateFinder(context)

  async function listSubscriptions(customer: string): Promise<Stripe.Subscription[]> {
    const found: Stripe.Subscription[] = []
    const listed = stripe.subscriptions.list({
      customer,
      status: 'all',
      limit: 100,
      expand: ['data.schedule'],
    })
    for await (const each of listed) {
      found.push(await withAllItems(stripe, each))
    }
    return found.reverse()
  }

  async function findByOperation(
    operation: string,
    customer: string,
  ): Promise<Stripe.Subscription | null> {
    const all = await listSubscriptions(customer)
    return all.find(({ metadata }) => metadata.operation === operation) ?? null
  }

  return {
    async createSubscription(wanted) {
      const params = buildSubscriptionCreateParams(wanted, await findTaxRates(wanted.tax))
      const find = () => findByOperation(wanted.operation, wanted.customerId)
      const made = await callWithPromotionCode(context, wanted, {
        make: (given) =>
          createIdempotently(
            `${wanted.operation}:subscription${given === null ? '' : `:${given}`}`,
            (request) => stripe.subscriptions.create(withReplacementCode(params, given), request),
            find,
          ),
        find,
      })
      return toProviderSubscription(made)
    },
    async findSubscription(id) {
      return nullIfMissing(async () =>
        toProviderSubscription(await retrieveSubscription(stripe, id)),
      )
    },
    async findByOperation({ id }, customerId) {
      const found = await findByOperation(id, customerId)
      return found && toProviderSubscription(found)
    },
    listSubscriptions: async (customer) =>
      (await listSubscriptions(customer)).map(toProviderSubscription),
    findCustomerId: async ({ customerId }) => customerId,
    cancelAtPeriodEnd: (id) => cancelAtPeriodEnd(context, id),
    cancelNow: (id, options) => cancelNow(context, id, options),
    async resume(id) {
      const current = await retrieveSubscription(stripe, id)
      const { cancel_at, cancel_at_period_end } = current
      if (cancel_at === null || cancel_at_period_end) {
        await stripe.subscriptions.update(id, { cancel_at_period_end: false })
        return
      }
      // cancel_at is a timestamp, not a flag, and Stripe prorates its removal.
      const details = { cancel_at: '' } as const
      const invoices = await listCurrentInvoices(context, current)
      const more = await buildEndChangeWithheldParams(context, current, { details, invoices })
      await stripe.subscriptions.update(id, { ...details, ...more })
    },
  }
}

/** Builds Stripe's parameters for a new subscription. A preview uses the same parameters. */
export function buildSubscriptionCreateParams(
  subscriptionToCreate: NewSubscription,
  rates: readonly string[],
): Stripe.SubscriptionCreateParams {
  const { coupon, items = [], itemRates = {} } = subscriptionToCreate
  const terms = formatStartTerms(subscriptionToCreate)
  return {
    customer: subscriptionToCreate.customerId,
    items: [
      {
        ...toItem({
          price: subscriptionToCreate.price,
          quantity: subscriptionToCreate.isMetered ? null : subscriptionToCreate.quantity,
        }),
        ...buildItemTaxRatesParam(subscriptionToCreate.taxRates),
      },
      ...items.map((item) => ({
        ...toItem(item),
        ...buildItemTaxRatesParam(itemRates[item.price]),
      })),
    ],
    ...(subscriptionToCreate.automaticTax ? { automatic_tax: { enabled: true } } : {}),
    metadata: {
      ...subscriptionToCreate.metadata,
      name: subscriptionToCreate.name,
      operation: subscriptionToCreate.operation,
      ...(items.length > 0 ? { main: subscriptionToCreate.price } : {}),
      ...buildTaxChoiceMetadata(subscriptionToCreate.chosenTax),
      ...(coupon === null ? {} : { coupon }),
      ...(terms === null ? {} : { terms }),
    },
    // With a declined or unconfirmed first payment, an incomplete subscription remains and can be
    // inspected.
    payment_behavior: 'allow_incomplete',
    ...(coupon === null ? {} : { discounts: [toDiscountParam(coupon)] }),
    ...(rates.length > 0 ? { default_tax_rates: [...rates] } : {}),
    ...(subscriptionToCreate.trialDays
      ? { trial_period_days: subscriptionToCreate.trialDays }
      : {}),
    ...(subscriptionToCreate.trialEndsAt
      ? { trial_end: toSeconds(new Date(subscriptionToCreate.trialEndsAt)) }
      : {}),
    ...buildStartParams(subscriptionToCreate),
  }
}

function toItem({ price, quantity }: RequestedItem): Stripe.SubscriptionCreateParams.Item {
  return quantity === null ? { price } : { price, quantity }
}

/**
 * Uses the replacement promotion code for the discount. The metadata still name the code that the
 * customer typed, by which a repeated call is recognized.
 */
function withReplacementCode(
  params: Stripe.SubscriptionCreateParams,
  replacementCodeId: string | null,
): Stripe.SubscriptionCreateParams {
  if (replacementCodeId === null) return params
  const metadata = { ...(params.metadata || {}), [REPLACEMENT_CODE_KEY]: replacementCodeId }
  return { ...params, metadata, discounts: [toDiscountParam(replacementCodeId)] }
}

export function toDiscountParam(code: string): { promotion_code: string } | { coupon: string } {
  return code.startsWith('promo_') ? { promotion_code: code } : { coupon: code }
}

/** Start parameters, which are the same for create() and for a hosted page. */
interface StartParams {
  billing_cycle_anchor?: number
  backdate_start_date?: number
  proration_behavior?: 'none'
  trial_settings?: { end_behavior: { missing_payment_method: 'cancel' } }
}

/**
 * Returns Stripe's parameters for the start of a new subscription: trial, anchor date and
 * backdating. A date may be text, because stored operations are JSON.
 */
export function buildStartParams(
  requestedStartTerms: StartTerms & Pick<NewSubscription, 'withoutCard'>,
): StartParams {
  const { anchorAt, backdateTo, prorate = true, withoutCard } = requestedStartTerms
  return {
    ...(anchorAt ? { billing_cycle_anchor: toSeconds(new Date(anchorAt)) } : {}),
    ...(backdateTo ? { backdate_start_date: toSeconds(new Date(backdateTo)) } : {}),
    ...((anchorAt || backdateTo) && !prorate ? { proration_behavior: 'none' } : {}),
    // Without a card, the end of the trial ends the subscription, so that nothing is owed.
    ...(withoutCard
      ? { trial_settings: { end_behavior: { missing_payment_method: 'cancel' } } }
      : {}),
  }
}

/**
 * Formats the start terms (anchor date, backdating, proration) for the subscription's metadata,
 * because Stripe does not report them later. `null` if there are none.
 */
export function formatStartTerms({
  anchorAt,
  backdateTo,
  prorate = true,
}: StartTerms): string | null {
  if (!anchorAt && !backdateTo) return null
  const seconds = [anchorAt, backdateTo].map((date) => (date ? toSeconds(new Date(date)) : 'now'))
  return [...seconds, prorate ? 'prorated' : 'whole'].join(' ')
}

/** Parses the start terms that `formatStartTerms()` has written to the subscription's metadata. */
export function parseStartTerms(written: string | undefined): StartTerms {
  const [anchor, start, paid] = (written ?? '').split(' ')
  const toTerm = (text: string | undefined) => (/^\d+$/.test(text ?? '') ? Number(text) : null)
  const [anchorAt, backdateTo] = [toTerm(anchor), toTerm(start)]
  return {
    ...(anchorAt === null ? {} : { anchorAt: toDate(anchorAt) }),
    ...(backdateTo === null ? {} : { backdateTo: toDate(backdateTo) }),
    ...(paid === 'whole' ? { prorate: false } : {}),
  }
}
