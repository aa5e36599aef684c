import type { PriceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { formatFixedPoint } from '../wire/decimals.ts'
import { formatDecimal } from '../wire/money.ts'
import type { PricePart } from './tiers.ts'

/**
 * Returns the description of an invoice line, as Stripe writes it: `3 × Gold (at $10.00 / month)`,
 * `500 × Calls (Tier 2 at $0.005 / month)`.
 */
export function describeInvoiceLine(
  work: UnitOfWork,
  price: PriceRow,
  part: PricePart,
  currency: string,
): string {
  const name = work.find('product', price.product)?.name ?? price.id
  const tier = part.tier === null ? '' : `Tier ${part.tier} `
  const size = price.transform_quantity ? ` per ${price.transform_quantity.divide_by}` : ''
  const amount = formatDecimal(part.unitAmount, currency)
  return `${formatFixedPoint(part.quantity)} × ${name} (${tier}at ${amount}${size} / ${intervalOf(price)})`
}

function intervalOf(price: PriceRow): string {
  const count = price.recurring?.interval_count ?? 1
  const interval = price.recurring?.interval ?? ''
  return count === 1 ? interval : `every ${count} ${interval}s`
}
