import type braintree from 'braintree'
import { isBillingError } from '../../core/errors/error-codes.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { describeBraintreePaymentMethod } from '../../providers/braintree/describe-method.ts'
import { nullIfMissing } from '../../providers/braintree/errors.ts'
import { hasCyclesLeft } from '../../providers/braintree/plan-credit.ts'
import { type PlanWithAddOns, requirePlan } from '../../providers/braintree/plans.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { ProviderPaymentMethod } from '../../providers/payment-method.ts'

/**
 * Implements reading the agreed terms of a Braintree subscription (coupon, trial, payment method
 * and others). Add-ons that its plan includes are left out.
 */
export function createBraintreeAgreedTerms(context: BraintreeContext): Pick<Gateway, 'findTerms'> {
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

/**
 * Returns the length of a trial in days. `null` for a trial in months, which was not requested but
 * defined with the plan.
 */
function trialDaysOf(subscription: braintree.Subscription): number | null {
  const { trialPeriod, trialDuration, trialDurationUnit } = subscription
  return trialPeriod && trialDurationUnit === 'day' ? (trialDuration ?? null) : null
}

/** Finds a plan. `null` if the plan was deleted, which does not end its subscriptions. */
async function findPlan(context: BraintreeContext, id: string): Promise<PlanWithAddOns | null> {
  try {
    return await requirePlan(context, id)
  } catch (error) {
    if (isBillingError(error, 'unknown_price')) return null
    throw error
  }
}

async function findMethod(
  { gateway }: BraintreeContext,
  { paymentMethodToken }: braintree.Subscription,
): Promise<ProviderPaymentMethod | null> {
  return nullIfMissing(async () =>
    describeBraintreePaymentMethod(await gateway.paymentMethod.find(paymentMethodToken), true),
  )
}
