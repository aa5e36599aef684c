import type braintree from 'braintree'
import { toDecimal } from '../../../values/money.ts'
import { DEFAULT_NAME } from '../../../values/subscription-name.ts'
import type { TaxTerms } from '../../../values/tax.ts'
import { addTax, type BasisPoints } from '../../../values/tax.ts'
import type { Gateway } from '../../contract/gateway.ts'
import type { NewSubscription, ProviderSubscription } from '../../contract/subscription.ts'
import { requireMethod, subscriptionsOf } from '../payments/customers.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { codesOf, declined, isNotFound, requireSuccess } from '../sdk/errors.ts'
import { findCustomer } from '../sdk/find-customer.ts'
import { idOfOperation, idOfSubscription } from '../sdk/ids.ts'
import {
  type AddOnChanges,
  type AddOns,
  addOnChanges,
  addOnsOfNew,
  readAddOns,
  retaxed,
} from './add-ons.ts'
import { couponsOn, discountsOfNew, discountUpdates, worthOfCoupons } from './coupons.ts'
import { describe, inTrial, isOver } from './describe.ts'
import { reachOfCredit } from './paid-for.ts'
import { type Plan, requirePlan } from './plans.ts'

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
      // One that was begun before ids had names.
      return found ?? findSubscription(idOfOperation(id))
    },
    async listSubscriptions(customerId) {
      const customer = await findCustomer(context, customerId)
      // Those of a customer who was deleted are found by their own ids.
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

/** The payment method says so. Null where it is gone. */
async function findOwner(
  { gateway }: BraintreeContext,
  { paymentMethodToken }: braintree.Subscription,
): Promise<string | null> {
  try {
    const method = (await gateway.paymentMethod.find(paymentMethodToken)) as { customerId?: string }
    return method.customerId ?? null
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** What is asked for, whoever pays. A preview of it is made of the same. */
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

/** The price without the tax stays what it is, whatever the plan costs by now. Nothing is charged. */
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
  const wanted = retaxed(present, { ...context, addOns, before, after: tax })
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

/** Only a later charge can be missing; the newest attempt at it comes first. */
function requirePaid({ status, transactions }: braintree.Subscription): void {
  if (status !== 'Past Due') return
  throw declined(transactions?.[0] ?? {}, 'A charge is past due')
}

/** Null is what Braintree wants here, and what its typings do not know. */
export const NEVER_EXPIRES = {
  neverExpires: true,
  numberOfBillingCycles: null as unknown as number,
}

export async function findRaw(
  { gateway }: BraintreeContext,
  id: string,
): Promise<braintree.Subscription | null> {
  try {
    return await gateway.subscription.find(id)
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** Braintree knows no idempotency keys for subscriptions; the id we choose is one. */
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

/** Price is not inherited when anything about it is said, and it holds the tax. */
export function taxedPrice({ price, currency }: Plan, tax: BasisPoints): string {
  return toDecimal({ amount: addTax(price, tax), currency })
}

/** Said explicitly: a trial defined with the plan would apply otherwise. */
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
 * After the running cycle and those that credit pays. In a trial no cycle is paid for, and Braintree
 * cancels only at once: one cycle is set first, as the sign that access stays to the trial's end. Past
 * due nothing is paid for at all.
 */
async function cancelAtPeriodEnd(context: BraintreeContext, id: string): Promise<void> {
  const { gateway } = context
  const current = await gateway.subscription.find(id)
  if (current.status === 'Past Due') return cancelNow(context, id)
  const isTrial = inTrial(current)
  const cycles = isTrial ? 1 : current.currentBillingCycle + reachOfCredit(current, context).cycles
  if (current.neverExpires || current.numberOfBillingCycles !== cycles) {
    requireSuccess(
      await gateway.subscription.update(id, { numberOfBillingCycles: cycles, neverExpires: false }),
    )
  }
  if (isTrial) await cancelNow(context, id)
}

async function cancelNow({ gateway }: BraintreeContext, id: string): Promise<void> {
  const result = (await gateway.subscription.cancel(id)) as unknown as { success: boolean }
  if (!result.success && codesOf(result).some((code) => OVER_ALREADY.includes(code))) return
  requireSuccess(result)
}
