import type Stripe from 'stripe'
import { money } from '../../core/values/money.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import { type StripeContext, toDate } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import { countRemainingUses } from '../promotion-codes/stripe.ts'
import type {
  CatalogCoupon,
  CatalogPage,
  CatalogPrice,
  CatalogPromotionCode,
  CatalogRange,
} from './contract.ts'
import { createUnknownCursorError } from './read-catalog.ts'

/** Reads the catalog at Stripe. Archived prices and those for single payments are left out. */
export function createStripeCatalog({ stripe }: StripeContext): Pick<GatewayParts, 'catalog'> {
  return {
    catalog: {
      listPrices: (range) =>
        readPage(range, describePrice, (page) =>
          stripe.prices.list({
            ...page,
            active: true,
            type: 'recurring',
            expand: ['data.product'],
          }),
        ),
      listCoupons: (range) => readPage(range, describeCoupon, (page) => stripe.coupons.list(page)),
      listPromotionCodes: (range) =>
        readPage(range, describePromotionCode, (page) =>
          stripe.promotionCodes.list({ ...page, expand: ['data.promotion.coupon'] }),
        ),
    },
  }
}

async function readPage<Entry extends { readonly id: string }, Described>(
  { limit, after }: CatalogRange,
  describe: (entry: Entry) => Described | null,
  list: (page: Stripe.PaginationParams) => Promise<Stripe.ApiList<Entry>>,
): Promise<CatalogPage<Described>> {
  try {
    const { data, has_more: hasMore } = await list({
      limit,
      ...(after !== null && { starting_after: after }),
    })
    return {
      entries: data.flatMap((entry) => describe(entry) ?? []),
      next: hasMore ? (data.at(-1)?.id ?? null) : null,
    }
  } catch (error) {
    if (after !== null && isMissingObjectError(error)) throw createUnknownCursorError(after)
    throw error
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

function describePromotionCode(found: Stripe.PromotionCode): CatalogPromotionCode | null {
  const { id, code, active, promotion, expires_at: expiresAt } = found
  const { coupon } = promotion
  if (!coupon) return null
  const limits = typeof coupon === 'string' ? [found] : [found, coupon]
  return {
    id,
    code,
    coupon: typeof coupon === 'string' ? coupon : coupon.id,
    isActive: active && (typeof coupon === 'string' || coupon.valid),
    expiresAt: expiresAt === null ? null : toDate(expiresAt),
    left: countRemainingUses(limits),
  }
}
