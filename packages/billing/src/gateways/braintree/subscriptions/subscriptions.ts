import type braintree from 'braintree'
import { Unsupported } from '../../../errors.ts'
import type { TaxTerms } from '../../../storage/taxes.ts'
import { toDecimal } from '../../../values/money.ts'
import { DEFAULT_NAME } from '../../../values/subscription-name.ts'
import { addTax, type BasisPoints } from '../../../values/tax.ts'
import type { Gateway, ProviderSubscription } from '../../contract/gateway.ts'
import { requireMethod, subscriptionsOf } from '../payments/customers.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { startOfDay } from '../sdk/days.ts'
import { codesOf, declined, isNotFound, requireSuccess } from '../sdk/errors.ts'
import { idOfOperation, idOfSubscription, partsOfId } from '../sdk/ids.ts'
import { couponsOn, discountsOfNew, discountUpdates, worthOfCoupons } from './coupons.ts'
import { endOfPaid, reachOfCredit } from './paid-for.ts'
import { toMinor } from './plan-credit.ts'
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
    return found ? describe(context, found) : null
  }
  return {
    async createSubscription(wanted) {
      const plan = await requirePlan(context, wanted.plan)
      return createOnce(context, {
        id: idOfSubscription(wanted.operation, wanted.name),
        planId: plan.id,
        price: taxedPrice(plan, wanted.tax),
        paymentMethodToken: await requireMethod(context, wanted.customerId),
        ...trial(wanted.trialDays ?? 0),
        ...(await discountsOfNew(context, plan, wanted)),
      })
    },
    findSubscription,
    async findByOperation({ id, name }) {
      const found = await findSubscription(idOfSubscription(id, name ?? DEFAULT_NAME))
      // One that was begun before ids had names.
      return found ?? findSubscription(idOfOperation(id))
    },
    async listSubscriptions(customerId) {
      return subscriptionsOf(await gateway.customer.find(customerId)).map((each) =>
        describe(context, each),
      )
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
    requirePaid: async ({ raw }) => requirePaid(raw as braintree.Subscription),
    // 3-D Secure happens in the browser, before there is a nonce.
    findPendingConfirmation: async () => null,
    setQuantity: () => Promise.reject(new Unsupported('Braintree has no quantities')),
    setTax: (id, tax, before) => setTax(context, id, tax, before),
    cancelAtPeriodEnd: (id) => cancelAtPeriodEnd(context, id),
    cancelNow: (id) => cancelNow(context, id),
    async resume(id) {
      requireSuccess(await gateway.subscription.update(id, NEVER_EXPIRES))
    },
  }
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
  if (current.price === price) return
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

export function inTrial(subscription: braintree.Subscription): boolean {
  return Boolean(subscription.trialPeriod) && subscription.currentBillingCycle === 0
}

const OVER: readonly string[] = ['Canceled', 'Expired']

/** Braintree will do nothing more with it, though access may go on for a while. */
export function isOver({ status }: braintree.Subscription): boolean {
  return OVER.includes(status)
}

export function describe(
  context: BraintreeContext,
  subscription: braintree.Subscription,
): ProviderSubscription {
  const { trialPeriod, firstBillingDate, transactions } = subscription
  return {
    id: subscription.id,
    customerId: transactions?.[0]?.customer?.id ?? null,
    plan: subscription.planId,
    status: subscription.status,
    isOver: isOver(subscription),
    quantity: 1,
    trialEndsAt: trialPeriod && firstBillingDate ? startOfDay(firstBillingDate) : null,
    endsAt: endOf(context, subscription),
    periodEndsAt: subscription.nextBillingDate ? startOfDay(subscription.nextBillingDate) : null,
    paidUntil: paidUntil(context, subscription),
    createdAt: new Date(subscription.createdAt),
    ...partsOfId(subscription.id),
    failedCharges: subscription.failureCount ?? 0,
    taxedPrice: toMinor(subscription.price, context.currency),
    lastChargeAt: transactions?.[0] ? new Date(transactions[0].createdAt) : null,
    raw: subscription,
  }
}

function paidUntil(context: BraintreeContext, subscription: braintree.Subscription): Date | null {
  const { status, firstBillingDate } = subscription
  if (inTrial(subscription)) return firstBillingDate ? startOfDay(firstBillingDate) : null
  if (status === 'Past Due') return null
  return endOfPaid(subscription, reachOfCredit(subscription, context))
}

/** The end of what is paid for, credit included; null while another charge will come. */
function endOf(context: BraintreeContext, subscription: braintree.Subscription): Date | null {
  const { status, neverExpires, numberOfBillingCycles, currentBillingCycle } = subscription
  if (status === 'Canceled') return trialEndOf(subscription) ?? cancelledAt(subscription)
  if (status === 'Expired') {
    const reach = reachOfCredit(subscription, context, 0)
    return endOfPaid(subscription, reach) ?? cancelledAt(subscription)
  }
  if (neverExpires || numberOfBillingCycles == null || currentBillingCycle === 0) return null
  const cycles = Math.max(0, numberOfBillingCycles - currentBillingCycle)
  const reach = reachOfCredit(subscription, context, cycles)
  return reach.cycles === cycles ? endOfPaid(subscription, reach) : null
}

/** Of one that `cancelAtPeriodEnd` ended in its trial: it has one cycle, which never began. */
function trialEndOf(subscription: braintree.Subscription): Date | null {
  const { neverExpires, numberOfBillingCycles, firstBillingDate } = subscription
  const isMarked = inTrial(subscription) && !neverExpires && numberOfBillingCycles === 1
  return isMarked && firstBillingDate ? startOfDay(firstBillingDate) : null
}

function cancelledAt({ statusHistory, status, updatedAt }: braintree.Subscription): Date {
  const change = (statusHistory ?? []).find((entry) => entry.status === status) as
    | { readonly timestamp?: string | Date }
    | undefined
  return new Date(change?.timestamp ?? updatedAt)
}
