import type braintree from 'braintree'
import { toDecimal } from '../../core/values/money.ts'
import { DEFAULT_SUBSCRIPTION_NAME } from '../../core/values/subscription-name.ts'
import type { TaxTerms } from '../../core/values/tax.ts'
import { addTax, type BasisPoints } from '../../core/values/tax.ts'
import {
  type AddOnChanges,
  type AddOns,
  buildAddOnChanges,
  buildAddOnsWithTaxRate,
  buildNewSubscriptionAddOns,
  readAddOns,
} from '../../providers/braintree/add-ons.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import {
  hasBraintreeSubscriptionEnded,
  isInTrial,
  toProviderSubscription,
} from '../../providers/braintree/describe-subscription.ts'
import {
  listErrorCodes,
  nullIfMissing,
  requireSuccess,
  toPaymentFailed,
} from '../../providers/braintree/errors.ts'
import { findCustomer } from '../../providers/braintree/find-customer.ts'
import { encodeSubscriptionId } from '../../providers/braintree/ids.ts'
import { computeCreditDuration } from '../../providers/braintree/paid-for.ts'
import { type PlanWithAddOns, requirePlan } from '../../providers/braintree/plans.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { NewSubscription, ProviderSubscription } from '../../providers/subscription.ts'
import { listCustomerSubscriptions, requireDefaultMethod } from '../customers/braintree.ts'
import {
  buildDiscountUpdates,
  buildNewSubscriptionDiscounts,
  readCouponValues,
  recalculateCoupons,
} from '../promotion-codes/braintree-coupons.ts'

const ID_TAKEN = '81902'
const OVER_ALREADY = ['81905', '81901', '81910']

type Subscriptions = Pick<
  Gateway,
  | 'createSubscription'
  | 'findSubscription'
  | 'findByOperation'
  | 'listSubscriptions'
  | 'findCustomerId'
  | 'requirePaid'
  | 'setTax'
  | 'cancelAtPeriodEnd'
  | 'cancelNow'
  | 'resume'
>

export function createBraintreeSubscriptions(context: BraintreeContext): Subscriptions {
  const { gateway } = context
  const findSubscription = async (id: string) => {
    const found = await findBraintreeSubscription(context, id)
    return found ? toProviderSubscription(context, found) : null
  }
  return {
    async createSubscription(wanted) {
      const plan = await requirePlan(context, wanted.price)
      return createSubscriptionOnce(context, {
        ...(await buildNewSubscriptionRequest(context, plan, wanted)),
        id: encodeSubscriptionId(wanted.operation, wanted.name),
        paymentMethodToken: await requireDefaultMethod(context, wanted.customerId),
      })
    },
    findSubscription,
    findByOperation: ({ id, name }) =>
      findSubscription(encodeSubscriptionId(id, name ?? DEFAULT_SUBSCRIPTION_NAME)),
    async listSubscriptions(customerId) {
      const customer = await findCustomer(context, customerId)
      // Subscriptions of a deleted customer are found by their own ids.
      return customer
        ? listCustomerSubscriptions(customer).map((each) => toProviderSubscription(context, each))
        : []
    },
    findCustomerId: ({ raw }) => findCustomerId(context, raw as braintree.Subscription),
    requirePaid: async ({ raw }) => requirePaid(raw as braintree.Subscription),
    setTax: (id, tax, before) => setTax(context, id, tax, before),
    cancelAtPeriodEnd: (id) => cancelAtPeriodEnd(context, id),
    cancelNow: (id) => cancelNow(context, id),
    async resume(id) {
      requireSuccess(await gateway.subscription.update(id, NEVER_EXPIRES))
    },
  }
}

/** Finds the customer through the payment method. `null` if the method was deleted. */
async function findCustomerId(
  { gateway }: BraintreeContext,
  { paymentMethodToken }: braintree.Subscription,
): Promise<string | null> {
  return nullIfMissing(async () => {
    const method = (await gateway.paymentMethod.find(paymentMethodToken)) as { customerId?: string }
    return method.customerId ?? null
  })
}

/**
 * Builds the request for a new subscription, without the payment method. A preview uses the same
 * request.
 */
export async function buildNewSubscriptionRequest(
  context: BraintreeContext,
  plan: PlanWithAddOns,
  subscriptionTerms: Pick<NewSubscription, 'tax' | 'trialDays' | 'coupon' | 'items'>,
): Promise<Omit<braintree.SubscriptionCreateRequest, 'id'> & { readonly price: string }> {
  return {
    planId: plan.id,
    price: computePriceWithTax(plan, subscriptionTerms.tax),
    ...buildTrialParams(subscriptionTerms.trialDays ?? 0),
    ...(await buildNewSubscriptionDiscounts(context, plan, subscriptionTerms)),
    ...(await addOnsFor(context, plan, subscriptionTerms)),
  }
}

async function addOnsFor(
  context: BraintreeContext,
  plan: PlanWithAddOns,
  { items = [], tax }: Pick<NewSubscription, 'items' | 'tax'>,
): Promise<AddOnChanges> {
  const addOns: AddOns = items.length > 0 ? await readAddOns(context) : new Map()
  return buildAddOnChanges(
    plan.addOns,
    buildNewSubscriptionAddOns(plan, items, { addOns, tax }),
    plan.currency,
  )
}

/**
 * Changes the tax. The net price stays the same, even if the plan's price has changed since.
 * Nothing is charged.
 */
async function setTax(
  context: BraintreeContext,
  id: string,
  tax: BasisPoints,
  taxTermsBefore: TaxTerms | null,
): Promise<void> {
  const { gateway } = context
  const current = await gateway.subscription.find(id)
  if (hasBraintreeSubscriptionEnded(current)) return
  const plan = await requirePlan(context, current.planId)
  const net = taxTermsBefore?.net ?? plan.price
  const price = computePriceWithTax({ ...plan, price: net }, tax)
  const { addOns: present = [] } = current
  const addOns: AddOns = present.length > 0 ? await readAddOns(context) : new Map()
  const wanted = buildAddOnsWithTaxRate(present, {
    ...context,
    addOns,
    before: taxTermsBefore,
    after: tax,
  })
  const changes = buildAddOnChanges(present, wanted, context.currency)
  if (current.price === price && !changes.addOns) return
  const coupons = recalculateCoupons(current, {
    ...context,
    before: taxTermsBefore,
    after: { net, tax },
    worth: await readCouponValues(context, current),
  })
  requireSuccess(
    await gateway.subscription.update(id, {
      price,
      ...buildDiscountUpdates(coupons),
      ...changes,
      options: { prorateCharges: false },
    }),
  )
}

/**
 * Throws PaymentFailed if a charge is past due. A charge at creation needs no check: if it is
 * declined, Braintree creates no subscription. The newest attempt is listed first.
 */
function requirePaid({ status, transactions }: braintree.Subscription): void {
  if (status !== 'Past Due') return
  throw toPaymentFailed(transactions?.[0] ?? {}, 'A charge is past due')
}

/**
 * Request fields for a Braintree subscription that renews without end. Braintree expects `null`
 * here, which its typings do not allow.
 */
export const NEVER_EXPIRES = {
  neverExpires: true,
  numberOfBillingCycles: null as unknown as number,
}

export async function findBraintreeSubscription(
  { gateway }: BraintreeContext,
  id: string,
): Promise<braintree.Subscription | null> {
  return nullIfMissing(() => gateway.subscription.find(id))
}

/**
 * Creates a subscription, and returns the existing one if the call is repeated. Braintree has no
 * idempotency keys for subscriptions, so the subscription id that we choose serves as the key.
 */
export async function createSubscriptionOnce(
  context: BraintreeContext,
  request: braintree.SubscriptionCreateRequest & { readonly id: string },
): Promise<ProviderSubscription> {
  const { gateway } = context
  const result = await gateway.subscription.create({ ...request })
  if (!result.success && listErrorCodes(result).includes(ID_TAKEN)) {
    return toProviderSubscription(context, await gateway.subscription.find(request.id))
  }
  return toProviderSubscription(context, requireSuccess(result).subscription)
}

/**
 * Returns the plan's price including tax. Each request must state it, because Braintree does not
 * take over the plan's price once a request overrides any part of the plan.
 */
export function computePriceWithTax({ price, currency }: PlanWithAddOns, tax: BasisPoints): string {
  return toDecimal({ amount: addTax(price, tax), currency })
}

/**
 * Returns the request fields for a trial of this many days. They are required even if there is no
 * trial, because otherwise the trial that the plan defines would apply.
 */
export function buildTrialParams(
  days: number,
): Pick<
  braintree.SubscriptionCreateRequest,
  'trialPeriod' | 'trialDuration' | 'trialDurationUnit'
> {
  if (days === 0) return { trialPeriod: false }
  return { trialPeriod: true, trialDuration: days, trialDurationUnit: 'day' }
}

/**
 * Cancels at the end of the current cycle, or after the later cycles that credit pays for. A trial
 * has no paid cycle, and Braintree can cancel it only immediately: before that, the number of
 * cycles is set to one, which marks that access lasts until the end of the trial. A past-due
 * subscription is not paid for, so it ends immediately.
 */
async function cancelAtPeriodEnd(context: BraintreeContext, id: string): Promise<void> {
  const { gateway } = context
  const current = await gateway.subscription.find(id)
  if (current.status === 'Past Due') return cancelNow(context, id)
  const isTrial = isInTrial(current)
  const cycles = isTrial
    ? 1
    : current.currentBillingCycle + computeCreditDuration(current, context).cycles
  if (current.neverExpires || current.numberOfBillingCycles !== cycles) {
    requireSuccess(
      await gateway.subscription.update(id, { numberOfBillingCycles: cycles, neverExpires: false }),
    )
  }
  if (isTrial) await cancelNow(context, id)
}

async function cancelNow({ gateway }: BraintreeContext, id: string): Promise<void> {
  const result = await gateway.subscription.cancel(id)
  if (!result.success && listErrorCodes(result).some((code) => OVER_ALREADY.includes(code))) return
  requireSuccess(result)
}
