import type Stripe from 'stripe'
import type { Gateway } from '../../contract/gateway.ts'
import type { WantedItem } from '../../contract/item.ts'
import type { Quantities } from '../../contract/parts/subscriptions/quantities.ts'
import type { NewSubscription } from '../../contract/subscription.ts'
import { type StripeContext, toSeconds } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'
import { cancelAtPeriodEnd, cancelNow } from './cancel.ts'
import { ownRates } from './change-params.ts'
import { choiceParams } from './chosen-tax.ts'
import { withCode } from './codes/given-back.ts'
import { GIVEN_BACK } from './codes/owed.ts'
import { describe, mainItem } from './describe.ts'
import { listRunning } from './periods/running.ts'
import { movingEnd } from './periods/withheld.ts'
import { retrieve, withAllItems } from './retrieve.ts'
import { startParams, termsOf } from './start.ts'
import { taxRates } from './tax-rates.ts'

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
> & { readonly quantities: Quantities }

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
            (request) => stripe.subscriptions.create(inPlace(params, given), request),
            find,
          ),
        find,
      })
      return describe(made)
    },
    async findSubscription(id) {
      try {
        return describe(await retrieve(stripe, id))
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },
    async findByOperation({ id }, customerId) {
      const found = await findByOperation(id, customerId)
      return found && describe(found)
    },
    listSubscriptions: async (customer) => (await listSubscriptions(customer)).map(describe),
    findOwner: async ({ customerId }) => customerId,
    quantities: {
      async set(id, quantity) {
        const main = mainItem(await retrieve(stripe, id))
        if (!main) throw new Error('The subscription has no item')
        await stripe.subscriptions.update(id, {
          items: [{ id: main.id, quantity }],
          payment_behavior: 'error_if_incomplete',
        })
      },
    },
    cancelAtPeriodEnd: (id) => cancelAtPeriodEnd(context, id),
    cancelNow: (id, options) => cancelNow(context, id, options),
    async resume(id) {
      const current = await retrieve(stripe, id)
      const { cancel_at, cancel_at_period_end } = current
      if (cancel_at === null || cancel_at_period_end) {
        await stripe.subscriptions.update(id, { cancel_at_period_end: false })
        return
      }
      // An end on a date is not a flag but a timestamp, whose removal Stripe prorates.
      const details = { cancel_at: '' } as const
      const invoices = await listRunning(context, current)
      const more = await movingEnd(context, current, { details, invoices })
      await stripe.subscriptions.update(id, { ...details, ...more })
    },
  }
}

/** What a preview of it is made of, too. */
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
      name: wanted.name,
      operation: wanted.operation,
      ...(items.length > 0 ? { main: wanted.plan } : {}),
      ...choiceParams(wanted.chosenTax),
      ...(coupon === null ? {} : { coupon }),
      ...(terms === null ? {} : { terms }),
    },
    // A declined or unconfirmed first payment leaves an incomplete subscription that can be looked at.
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

/** It says which code was typed all the same: that is what the same again is known by. */
function inPlace(
  params: Stripe.SubscriptionCreateParams,
  given: string | null,
): Stripe.SubscriptionCreateParams {
  if (given === null) return params
  const metadata = { ...(params.metadata || {}), [GIVEN_BACK]: given }
  return { ...params, metadata, discounts: [discount(given)] }
}

export function discount(code: string): { promotion_code: string } | { coupon: string } {
  return code.startsWith('promo_') ? { promotion_code: code } : { coupon: code }
}
