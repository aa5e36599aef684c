import type braintree from 'braintree'
import { Unsupported } from '../../errors.ts'
import { toDecimal } from '../../money.ts'
import { addTax, type BasisPoints } from '../../tax.ts'
import type { Gateway, ProviderSubscription } from '../gateway.ts'
import { type BraintreeContext, idOfOperation, operationOfId } from './client.ts'
import { requireMethod, subscriptionsOf } from './customers.ts'
import { endOfDay, startOfDay } from './days.ts'
import { codesOf, isNotFound, requireSuccess } from './errors.ts'
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
  | 'isAwaiting'
  | 'abandon'
  | 'requirePaid'
  | 'findPendingConfirmation'
  | 'setQuantity'
  | 'setTax'
  | 'cancelAtPeriodEnd'
  | 'cancelNow'
  | 'resume'
>

export function braintreeSubscriptions(context: BraintreeContext): Subscriptions {
  const { gateway } = context
  const findSubscription = async (id: string) => {
    const found = await findRaw(context, id)
    return found ? describe(found) : null
  }
  return {
    async createSubscription(wanted) {
      const plan = await requirePlan(context, wanted.plan)
      return createOnce(context, {
        id: idOfOperation(wanted.operation),
        planId: plan.id,
        price: taxedPrice(plan, wanted.tax),
        paymentMethodToken: await requireMethod(context, wanted.customerId),
        ...trial(wanted.trialDays ?? 0),
        ...(wanted.coupon === null
          ? {}
          : { discounts: { add: [{ inheritedFromId: wanted.coupon }] } }),
      })
    },
    findSubscription,
    findByOperation: (operation) => findSubscription(idOfOperation(operation)),
    async listSubscriptions(customerId) {
      return subscriptionsOf(await gateway.customer.find(customerId)).map(describe)
    },
    async findOwner({ raw }) {
      const subscription = raw as braintree.Subscription
      const { customerId } = (await gateway.paymentMethod.find(
        subscription.paymentMethodToken,
      )) as { customerId?: string }
      return customerId ?? null
    },
    // A declined first payment leaves no subscription at Braintree.
    isAwaiting: async () => false,
    abandon: ({ id }) => cancelNow(context, id),
    requirePaid: async () => undefined,
    // 3-D Secure happens in the browser, before there is a nonce.
    findPendingConfirmation: async () => null,
    setQuantity: () => Promise.reject(new Unsupported('Braintree has no quantities')),
    async setTax(id, tax) {
      const current = await gateway.subscription.find(id)
      const plan = await requirePlan(context, current.planId)
      const price = taxedPrice(plan, tax)
      requireSuccess(await gateway.subscription.update(id, { planId: plan.id, price }))
    },
    cancelAtPeriodEnd: (id) => cancelAtPeriodEnd(context, id),
    cancelNow: (id) => cancelNow(context, id),
    async resume(id) {
      requireSuccess(await gateway.subscription.update(id, NEVER_EXPIRES))
    },
  }
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
  { gateway }: BraintreeContext,
  request: braintree.SubscriptionCreateRequest & { readonly id: string },
): Promise<ProviderSubscription> {
  const result = await gateway.subscription.create({ ...request })
  if (!result.success && codesOf(result).includes(ID_TAKEN)) {
    return describe(await gateway.subscription.find(request.id))
  }
  return describe(requireSuccess(result).subscription)
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

/** No cycle is paid for in a trial or when past due, and Braintree ends such a one only at once. */
async function cancelAtPeriodEnd(context: BraintreeContext, id: string): Promise<void> {
  const { gateway } = context
  const { currentBillingCycle, status } = await gateway.subscription.find(id)
  if (currentBillingCycle === 0 || status === 'Past Due') return cancelNow(context, id)
  requireSuccess(
    await gateway.subscription.update(id, {
      numberOfBillingCycles: currentBillingCycle,
      neverExpires: false,
    }),
  )
}

async function cancelNow({ gateway }: BraintreeContext, id: string): Promise<void> {
  const result = (await gateway.subscription.cancel(id)) as unknown as { success: boolean }
  if (!result.success && codesOf(result).some((code) => OVER_ALREADY.includes(code))) return
  requireSuccess(result)
}

export function inTrial(subscription: braintree.Subscription): boolean {
  return Boolean(subscription.trialPeriod) && subscription.currentBillingCycle === 0
}

export function describe(subscription: braintree.Subscription): ProviderSubscription {
  const { trialPeriod, firstBillingDate, transactions } = subscription
  return {
    id: subscription.id,
    customerId: transactions?.[0]?.customer?.id ?? null,
    plan: subscription.planId,
    status: subscription.status,
    quantity: 1,
    trialEndsAt: trialPeriod && firstBillingDate ? startOfDay(firstBillingDate) : null,
    endsAt: endOf(subscription),
    periodEndsAt: subscription.nextBillingDate ? startOfDay(subscription.nextBillingDate) : null,
    createdAt: new Date(subscription.createdAt),
    name: null,
    operation: operationOfId(subscription.id),
    failedCharges: subscription.failureCount ?? 0,
    raw: subscription,
  }
}

function endOf(subscription: braintree.Subscription): Date | null {
  const { status, neverExpires, numberOfBillingCycles, currentBillingCycle } = subscription
  const lastDay = subscription.paidThroughDate || subscription.billingPeriodEndDate
  if (status === 'Canceled') return cancelledAt(subscription)
  if (status === 'Expired') return lastDay ? endOfDay(lastDay) : cancelledAt(subscription)
  const isLastCycle =
    !neverExpires && numberOfBillingCycles != null && currentBillingCycle >= numberOfBillingCycles
  return isLastCycle && subscription.billingPeriodEndDate
    ? endOfDay(subscription.billingPeriodEndDate)
    : null
}

function cancelledAt({ statusHistory, status, updatedAt }: braintree.Subscription): Date {
  const change = (statusHistory ?? []).find((entry) => entry.status === status) as
    | { readonly timestamp?: string | Date }
    | undefined
  return new Date(change?.timestamp ?? updatedAt)
}
