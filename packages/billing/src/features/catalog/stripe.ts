import type Stripe from 'stripe'
import { money } from '../../core/values/money.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import { listAll, type StripeContext } from '../../providers/stripe/client.ts'
import type { CatalogCoupon, CatalogPrice } from './contract.ts'

/** Reads prices and coupons at Stripe. Archived prices and those for single payments are left out. */
export function stripeCatalog({ stripe }: StripeContext): Pick<GatewayParts, 'catalog'> {
  return {
    catalog: {
      async listPrices(limit) {
        const query: Stripe.PriceListParams = {
          active: true,
          type: 'recurring',
          limit: Math.min(limit, 100),
          expand: ['data.product'],
        }
        const found = await listAll(stripe.prices.list(query), limit)
        return found.flatMap((price) => describePrice(price) ?? [])
      },
      async listCoupons(limit) {
        const found = stripe.coupons.list({ limit: Math.min(limit, 100) })
        return (await listAll(found, limit)).map(describeCoupon)
      },
    },
  }
}

function describePrice(price: Stripe.Price): CatalogPrice | null {
  const { id, nickname, product, unit_amount, currency, recurring } = price
  if (!recurring) return null
  const ofProduct = typeof product === 'object' && !('deleted' in product) ? product.name : null
  return {
    id,
    name: nickname ?? ofProduct,
    amount:
      unit_amount === null || price.billing_scheme === 'tiered'
        ? null
        : money(unit_amount, currency),
    period: {
      unit: recurring.interval as CatalogPrice['period']['unit'],
      count: recurring.interval_count,
    },
    trialDays: recurring.trial_period_days ?? null,
  }
}

function describeCoupon(coupon: Stripe.Coupon): CatalogCoupon {
  const { id, name, percent_off, amount_off, currency, duration, duration_in_months } = coupon
  return {
    id,
    name,
    percentOff: percent_off,
    amountOff: amount_off === null || currency === null ? null : money(amount_off, currency),
    lasts: duration_in_months ?? (duration === 'forever' ? 'forever' : 'once'),
    isValid: coupon.valid,
  }
}
