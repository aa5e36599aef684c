import type braintree from 'braintree'
import { isBillingError } from '../../../error-codes.ts'
import type { Gateway } from '../../contract/gateway.ts'
import type { ProviderMethod } from '../../contract/parts/pages/payment-methods.ts'
import { describeMethod } from '../payments/describe-method.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { isNotFound } from '../sdk/errors.ts'
import { hasCyclesLeft } from './plan-credit.ts'
import { type Plan, requirePlan } from './plans.ts'

/** Terms of a subscription that runs, less what its plan brings along. */
export function braintreeTerms(context: BraintreeContext): Pick<Gateway, 'findTerms'> {
  return {
    async findTerms({ raw }) {
      const subscription = raw as braintree.Subscription
      const plan = await findPlan(context, subscription.planId)
      const coupons = (subscription.discounts ?? []).filter(({ id }) => id !== context.planCredit)
      const own = coupons.find(({ id }) => !plan?.discounts.some((each) => each.id === id))
      return {
        coupon: own?.id ?? null,
        discounts: coupons.filter(hasCyclesLeft).map(({ id }) => id),
        trialDays: trialDaysOf(subscription),
        included: (plan?.addOns ?? []).map(({ id }) => id),
        method: await findMethod(context, subscription),
      }
    },
  }
}

/** Months are a trial of the plan, which nobody asks for here. */
function trialDaysOf(subscription: braintree.Subscription): number | null {
  const { trialPeriod, trialDuration, trialDurationUnit } = subscription
  return trialPeriod && trialDurationUnit === 'day' ? (trialDuration ?? null) : null
}

/** Null for one that was deleted: its subscriptions run on. */
async function findPlan(context: BraintreeContext, id: string): Promise<Plan | null> {
  try {
    return await requirePlan(context, id)
  } catch (error) {
    if (isBillingError(error, 'unknown_plan')) return null
    throw error
  }
}

async function findMethod(
  { gateway }: BraintreeContext,
  { paymentMethodToken }: braintree.Subscription,
): Promise<ProviderMethod | null> {
  try {
    return describeMethod(await gateway.paymentMethod.find(paymentMethodToken), true)
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}
