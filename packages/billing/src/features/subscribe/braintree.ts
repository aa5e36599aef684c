import type braintree from 'braintree'
import { toDecimal } from '../../core/values/money.ts'
import { DEFAULT_NAME } from '../../core/values/subscription-name.ts'
import type { TaxTerms } from '../../core/values/tax.ts'
import { addTax, type BasisPoints } from '../../core/values/tax.ts'
import {
  type AddOnChanges,
  type AddOns,
  addOnChanges,
  addOnsOfNew,
  readAddOns,
  withOtherTax,
} from '../../providers/braintree/add-ons.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { describe, inTrial, isOver } from '../../providers/braintree/describe-subscription.ts'
import { codesOf, declined, orNull, requireSuccess } from '../../providers/braintree/errors.ts'
import { findCustomer } from '../../providers/braintree/find-customer.ts'
import { idOfOperation, idOfSubscription } from '../../providers/braintree/ids.ts'
import { computeCreditReach } from '../../providers/braintree/paid-for.ts'
import { type Plan, requirePlan } from '../../providers/braintree/plans.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { NewSubscription, ProviderSubscription } from '../../providers/subscription.ts'
import { requireMethod, subscriptionsOf } from '../customers/braintree.ts'
import {
  couponsOn,
  discountsOfNew,
  discountUpdates,
  worthOfCoupons,
} from '../promotion-codes/braintree-coupons.ts'

const ID_TAKEN = '81902'
const OVER_ALREADY = ['81905', '81901', '81910']

type Subscriptions = Pick<
  Gateway,
  | 'createSubscription'
  | 'findSubscription'
  | 'findByOperation'
  | 'listSubscriptions'
  | 'findOwner'
  | 'requirePaid'
  | 'setTax'
  | 'cancelAtPeriodEnd'
  | 'cancelNow'
  | 'resume'
>

export function braintreeSubscriptions(context: BraintreeContext): Subscriptions {
  const { gateway } = context
  const findSubscription = async (id: string) => {
    const found = await findRaw(context, id)
    return found ? describe(context, found) : null
  }
  return {
    async createSubscription(wanted) {
      const plan = await requirePlan(context, wanted.plan)
      return createOnce(context, {
        ...(await requestOfNew(context, plan, wanted)),
        id: idOfSubscription(wanted.operation, wanted.name),
        paymentMethodToken: await requireMethod(context, wanted.customerId),
      })
    },
    findSubscription,
    async findByOperation({ id, name }) {
      const found = await findSubscription(idOfSubscription(id, name ?? DEFAULT_NAME))
      // Subscriptions that were begun by earlier versions have an id without the name.
      return found ?? findSubscription(idOfOperation(id))
    },
    async listSubscriptions(customerId) {
      const customer = await findCustomer(context, customerId)
      // Subscriptions of a deleted customer are found by their own ids.
      return customer ? subscriptionsOf(customer).map((each) => describe(context, each)) : []
    },
    findOwner: ({ raw }) => findOwner(context, raw as braintree.Subscription),
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
async function findOwner(
  { gateway }: BraintreeContext,
  { paymentMethodToken }: braintree.Subscription,
): Promise<string | null> {
  return orNull(async () => {
    const method = (await gateway.paymentMethod.find(paymentMethodToken)) as { customerId?: string }
    return method.customerId ?? null
  })
}

/** Builds the request for a new subscription without the payer. A preview uses the same request. */
export async function requestOfNew(
  context: BraintreeContext,
  plan: Plan,
  wanted: Pick<NewSubscription, 'tax' | 'trialDays' | 'coupon' | 'items'>,
): Promise<Omit<braintree.SubscriptionCreateRequest, 'id'> & { readonly price: string }> {
  return {
    planId: plan.id,
    price: taxedPrice(plan, wanted.tax),
    ...trial(wanted.trialDays ?? 0),
    ...(await discountsOfNew(context, plan, wanted)),
    ...(await addOnsFor(context, plan, wanted)),
  }
}

async function addOnsFor(
  context: BraintreeContext,
  plan: Plan,
  { items = [], tax }: Pick<NewSubscription, 'items' | 'tax'>,
): Promise<AddOnChanges> {
  const addOns: AddOns = items.length > 0 ? await readAddOns(context) : new Map()
  return addOnChanges(plan.addOns, addOnsOfNew(plan, items, { addOns, tax }), plan.currency)
}

/**
 * Changes the tax. The net price stays the same even if the plan has a new price by now. Nothing is
 * charged.
 */
async function setTax(
  context: BraintreeContext,
  id: string,
  tax: BasisPoints,
  before: TaxTerms | null,
): Promise<void> {
  const { gateway } = context
  const current = await gateway.subscription.find(id)
  if (isOver(current)) return
  const plan = await requirePlan(context, current.planId)
  const net = before?.net ?? plan.price
  const price = taxedPrice({ ...plan, price: net }, tax)
  const { addOns: present = [] } = current
  const addOns: AddOns = present.length > 0 ? await readAddOns(context) : new Map()
  const wanted = withOtherTax(present, { ...context, addOns, before, after: tax })
  const changes = addOnChanges(present, wanted, context.currency)
  if (current.price === price && !changes.addOns) return
  const coupons = couponsOn(current, {
    ...context,
    before,
    after: { net, tax },
    worth: await worthOfCoupons(context, current),
  })
  requireSuccess(
    await gateway.subscription.update(id, {
      price,
      ...discountUpdates(coupons),
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
  throw declined(transactions?.[0] ?? {}, 'A charge is past due')
}

/** Braintree expects `null` here, which its typings do not allow. */
export const NEVER_EXPIRES = {
  neverExpires: true,
  numberOfBillingCycles: null as unknown as number,
}

export async function findRaw(
  { gateway }: BraintreeContext,
  id: string,
): Promise<braintree.Subscription | null> {
  return orNull(() => gateway.subscription.find(id))
}

/**
 * Creates the subscription once. Braintree has no idempotency keys for subscriptions, so our own id
 * serves as the key.
 */
export async function createOnce(
  context: BraintreeContext,
  request: braintree.SubscriptionCreateRequest & { readonly id: string },
): Promise<ProviderSubscription> {
  const { gateway } = context
  const result = await gateway.subscription.create({ ...request })
  if (!result.success && codesOf(result).includes(ID_TAKEN)) {
    return describe(context, await gateway.subscription.find(request.id))
  }
  return describe(context, requireSuccess(result).subscription)
}

/**
 * Returns the price including tax. Braintree does not inherit the plan's price once a request
 * overrides any part of it.
 */
export function taxedPrice({ price, currency }: Plan, tax: BasisPoints): string {
  return toDecimal({ amount: addTax(price, tax), currency })
}

/**
 * States the trial explicitly, because otherwise a trial that is defined with the plan would apply.
 */
export function trial(
  days: number,
): Pick<
  braintree.SubscriptionCreateRequest,
  'trialPeriod' | 'trialDuration' | 'trialDurationUnit'
> {
  if (days === 0) return { trialPeriod: false }
  return { trialPeriod: true, trialDuration: days, trialDurationUnit: 'day' }
}

/**
 * Cancels after the current cycle and the cycles that credit pays for. During a trial no cycle is
 * paid for, and Braintree cancels only immediately: setting one cycle first marks that access lasts
 * until the end of the trial. A past-due subscription has nothing paid for, so it ends immediately.
 */
async function cancelAtPeriodEnd(context: BraintreeContext, id: string): Promise<void> {
  const { gateway } = context
  const current = await gateway.subscription.find(id)
  if (current.status === 'Past Due') return cancelNow(context, id)
  const isTrial = inTrial(current)
  const cycles = isTrial
    ? 1
    : current.currentBillingCycle + computeCreditReach(current, context).cycles
  if (current.neverExpires || current.numberOfBillingCycles !== cycles) {
    requireSuccess(
      await gateway.subscription.update(id, { numberOfBillingCycles: cycles, neverExpires: false }),
    )
  }
  if (isTrial) await cancelNow(context, id)
}

async function cancelNow({ gateway }: BraintreeContext, id: string): Promise<void> {
  const result = await gateway.subscription.cancel(id)
  if (!result.success && codesOf(result).some((code) => OVER_ALREADY.includes(code))) return
  requireSuccess(result)
}
