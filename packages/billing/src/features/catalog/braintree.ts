import { fromDecimal } from '../../core/values/money.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import type { braintree } from '../../providers/sdk-types.ts'
import type { CatalogCoupon, CatalogPrice } from './contract.ts'

/**
 * Reads plans and discounts at Braintree. Leaves out the discount with which billing gives credit.
 */
export function braintreeCatalog(context: BraintreeContext): Pick<GatewayParts, 'catalog'> {
  const { gateway, planCredit } = context
  return {
    catalog: {
      async listPrices(limit) {
        const plans = await gateway.plan.all()
        return plans.slice(0, limit).map(describePlan)
      },
      async listCoupons(limit) {
        const discounts = (await gateway.discount.all()).filter(({ id }) => id !== planCredit)
        return discounts.slice(0, limit).map((each) => describeDiscount(each, context))
      },
    },
  }
}

type Plan = Awaited<ReturnType<BraintreeContext['gateway']['plan']['all']>>[number]

function describePlan(plan: Plan): CatalogPrice {
  const { id, name, price, currencyIsoCode, billingFrequency } = plan
  const length = plan.trialDuration ?? 0
  const days = plan.trialDurationUnit === 'month' ? length * 30 : length
  return {
    id,
    name: name || null,
    amount: fromDecimal(price ?? '0', currencyIsoCode.toLowerCase()),
    period: { unit: 'month', count: Number(billingFrequency) },
    trialDays: plan.trialPeriod && days > 0 ? days : null,
  }
}

function describeDiscount(
  { id, name, amount, neverExpires, numberOfBillingCycles }: braintree.Discount,
  { currency }: BraintreeContext,
): CatalogCoupon {
  const cycles = Number(numberOfBillingCycles ?? 1)
  return {
    id,
    name: name || null,
    percentOff: null,
    amountOff: fromDecimal(amount ?? '0', currency),
    lasts: neverExpires ? 'forever' : cycles === 1 ? 'once' : cycles,
    isValid: true,
  }
}
