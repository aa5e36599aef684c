import type Stripe from 'stripe'
import type { Gateway } from '../../providers/gateway.ts'
import type { WantedItem } from '../../providers/item.ts'
import { orNull, type StripeContext, toDate, toSeconds } from '../../providers/stripe/client.ts'
import { describe, retrieve, withAllItems } from '../../providers/stripe/describe-subscription.ts'
import { once } from '../../providers/stripe/once.ts'
import type { NewSubscription, StartTerms } from '../../providers/subscription.ts'
import { cancelAtPeriodEnd, cancelNow } from '../cancel/stripe.ts'
import { REPLACEMENT, withCode } from '../promotion-codes/stripe-replacement-codes.ts'
import { listRunning } from '../proration/stripe-running.ts'
import { movingEnd } from '../proration/stripe-withheld.ts'
import { ownRates } from '../swap/stripe-change-params.ts'
import { choiceParams, taxRates } from '../taxes/stripe-chosen-tax.ts'

type Subscriptions = Pick<
  Gateway,
  | 'createSubscription'
  | 'findSubscription'
  | 'findByOperation'
  | 'listSubscriptions'
  | 'findOwner'
  | 'cancelAtPeriodEnd'
  | 'cancelNow'
  | 'resume'
>

export function stripeSubscriptions(context: StripeContext): Subscriptions {
  const { stripe } = context
  const findTaxRates = taxRates(context)

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
      const params = createParams(wanted, await findTaxRates(wanted.tax))
      const find = () => findByOperation(wanted.operation, wanted.customerId)
      const made = await withCode(context, wanted, {
        make: (given) =>
          once(
            `${wanted.operation}:subscription${given === null ? '' : `:${given}`}`,
            (request) => stripe.subscriptions.create(withReplacementCode(params, given), request),
            find,
          ),
        find,
      })
      return describe(made)
    },
    async findSubscription(id) {
      return orNull(async () => describe(await retrieve(stripe, id)))
    },
    async findByOperation({ id }, customerId) {
      const found = await findByOperation(id, customerId)
      return found && describe(found)
    },
    listSubscriptions: async (customer) => (await listSubscriptions(customer)).map(describe),
    findOwner: async ({ customerId }) => customerId,
    cancelAtPeriodEnd: (id) => cancelAtPeriodEnd(context, id),
    cancelNow: (id, options) => cancelNow(context, id, options),
    async resume(id) {
      const current = await retrieve(stripe, id)
      const { cancel_at, cancel_at_period_end } = current
      if (cancel_at === null || cancel_at_period_end) {
        await stripe.subscriptions.update(id, { cancel_at_period_end: false })
        return
      }
      // cancel_at is a timestamp, not a flag, and Stripe prorates its removal.
      const details = { cancel_at: '' } as const
      const invoices = await listRunning(context, current)
      const more = await movingEnd(context, current, { details, invoices })
      await stripe.subscriptions.update(id, { ...details, ...more })
    },
  }
}

/** Builds the request for a new subscription. A preview uses the same parameters. */
export function createParams(
  wanted: NewSubscription,
  rates: readonly string[],
): Stripe.SubscriptionCreateParams {
  const { coupon, items = [], itemRates = {} } = wanted
  const terms = termsOf(wanted)
  return {
    customer: wanted.customerId,
    items: [
      {
        ...toItem({ price: wanted.plan, quantity: wanted.isMetered ? null : wanted.quantity }),
        ...ownRates(wanted.taxRates),
      },
      ...items.map((item) => ({ ...toItem(item), ...ownRates(itemRates[item.price]) })),
    ],
    ...(wanted.automaticTax ? { automatic_tax: { enabled: true } } : {}),
    metadata: {
      ...wanted.metadata,
      name: wanted.name,
      operation: wanted.operation,
      ...(items.length > 0 ? { main: wanted.plan } : {}),
      ...choiceParams(wanted.chosenTax),
      ...(coupon === null ? {} : { coupon }),
      ...(terms === null ? {} : { terms }),
    },
    // With a declined or unconfirmed first payment, an incomplete subscription remains and can be
    // inspected.
    payment_behavior: 'allow_incomplete',
    ...(coupon === null ? {} : { discounts: [discount(coupon)] }),
    ...(rates.length > 0 ? { default_tax_rates: [...rates] } : {}),
    ...(wanted.trialDays ? { trial_period_days: wanted.trialDays } : {}),
    ...(wanted.trialEndsAt ? { trial_end: toSeconds(new Date(wanted.trialEndsAt)) } : {}),
    ...startParams(wanted),
  }
}

function toItem({ price, quantity }: WantedItem): Stripe.SubscriptionCreateParams.Item {
  return quantity === null ? { price } : { price, quantity }
}

/**
 * Uses the replacement promotion code for the discount. The metadata still name the code that the
 * customer typed, by which a repeated call is recognized.
 */
function withReplacementCode(
  params: Stripe.SubscriptionCreateParams,
  given: string | null,
): Stripe.SubscriptionCreateParams {
  if (given === null) return params
  const metadata = { ...(params.metadata || {}), [REPLACEMENT]: given }
  return { ...params, metadata, discounts: [discount(given)] }
}

export function discount(code: string): { promotion_code: string } | { coupon: string } {
  return code.startsWith('promo_') ? { promotion_code: code } : { coupon: code }
}

/** Start parameters, which are the same for create() and for a hosted page. */
interface StartParams {
  billing_cycle_anchor?: number
  backdate_start_date?: number
  proration_behavior?: 'none'
  trial_settings?: { end_behavior: { missing_payment_method: 'cancel' } }
}

/** Returns the parameters for the start. A date may be text, because stored operations are JSON. */
export function startParams(
  wanted: StartTerms & Pick<NewSubscription, 'withoutCard'>,
): StartParams {
  const { anchorAt, backdateTo, prorate = true, withoutCard } = wanted
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
 * Writes the start terms for the metadata, because Stripe does not report them. `null` if there are
 * none.
 */
export function termsOf({ anchorAt, backdateTo, prorate = true }: StartTerms): string | null {
  if (!anchorAt && !backdateTo) return null
  const seconds = [anchorAt, backdateTo].map((date) => (date ? toSeconds(new Date(date)) : 'now'))
  return [...seconds, prorate ? 'prorated' : 'whole'].join(' ')
}

/** Reads the start terms that `termsOf()` has written. */
export function readTerms(written: string | undefined): StartTerms {
  const [anchor, start, paid] = (written ?? '').split(' ')
  const toTerm = (text: string | undefined) => (/^\d+$/.test(text ?? '') ? Number(text) : null)
  const [anchorAt, backdateTo] = [toTerm(anchor), toTerm(start)]
  return {
    ...(anchorAt === null ? {} : { anchorAt: toDate(anchorAt) }),
    ...(backdateTo === null ? {} : { backdateTo: toDate(backdateTo) }),
    ...(paid === 'whole' ? { prorate: false } : {}),
  }
}
