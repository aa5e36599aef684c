import { fromDecimal } from '../../core/values/money.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import type { braintree } from '../../providers/sdk-types.ts'
import type { CatalogCoupon, CatalogPage, CatalogPrice, CatalogRange } from './contract.ts'
import { createUnknownCursorError } from './read-catalog.ts'

/**
 * Reads plans and discounts at Braintree, which returns each list as a whole. Leaves out the
 * discount with which billing gives credit.
 */
export function createBraintreeCatalog(context: BraintreeContext): Pick<GatewayParts, 'catalog'> {
  const { gateway, planCredit } = context
  return {
    catalog: {
      async listPrices(range) {
        const plans = await gateway.plan.all()
        return pageOf(plans.map(describePlan), range)
      },
      async listCoupons(range) {
        const discounts = (await gateway.discount.all()).filter(({ id }) => id !== planCredit)
        return pageOf(
          discounts.map((each) => describeDiscount(each, context)),
          range,
        )
      },
      listPromotionCodes: async () => ({ entries: [], next: null }),
    },
  }
}

function pageOf<Entry extends { readonly id: string }>(
  all: readonly Entry[],
  { limit, after }: CatalogRange,
): CatalogPage<Entry> {
  const before = after === null ? -1 : all.findIndex(({ id }) => id === after)
  if (after !== null && before === -1) throw createUnknownCursorError(after)
  const entries = all.slice(before + 1, before + 1 + limit)
  const hasMore = before + 1 + limit < all.length
  return { entries, next: hasMore ? (entries.at(-1)?.id ?? null) : null }
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
