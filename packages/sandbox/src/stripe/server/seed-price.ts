import type Stripe from 'stripe'
import { createPrice } from '../catalog/prices.ts'
import { createProduct } from '../catalog/products.ts'
import { createMeter } from '../resources/meters.ts'
import { renderRow } from '../state/render.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { SeedPrice } from './handle.ts'

/** Creates a price with an id of the caller's choice, and its product and meter if they are new. */
export function seedPrice(work: UnitOfWork, seed: SeedPrice): WireObject {
  const { id, product = `prod_${id}`, currency = 'usd', interval, intervalCount = 1 } = seed
  if (!work.find('product', product)) {
    const made = createProduct(work, { id: product, name: seed.product ?? id })
    work.emit('product.created', 'product', made)
  }
  const usage = seed.meter === undefined ? {} : usageOf(meterOf(work, seed.meter))
  const price = createPrice(work, {
    id,
    currency,
    product,
    ...costOf(seed),
    ...(interval ? { recurring: { interval, interval_count: intervalCount, ...usage } } : {}),
  })
  return renderRow('price', price, work.tables)
}

function costOf(seed: SeedPrice): Partial<Stripe.PriceCreateParams> {
  const { unitAmount, tiers, tiersMode = 'graduated', packageSize } = seed
  if (tiers) {
    return {
      billing_scheme: 'tiered',
      tiers_mode: tiersMode,
      tiers: tiers.map(({ upTo, unitAmount: unit, flatAmount: flat }) => ({
        up_to: upTo ?? 'inf',
        ...(unit === undefined ? {} : { unit_amount_decimal: decimal(unit) }),
        ...(flat === undefined ? {} : { flat_amount_decimal: decimal(flat) }),
      })),
    }
  }
  return {
    ...(typeof unitAmount === 'number'
      ? { unit_amount: unitAmount }
      : unitAmount === undefined
        ? {}
        : { unit_amount_decimal: decimal(unitAmount) }),
    ...(packageSize === undefined
      ? {}
      : { transform_quantity: { divide_by: packageSize, round: 'up' } }),
  }
}

/** The SDK's type is a class of its own; the sandbox reads its text. */
function decimal(amount: number | string): Stripe.Decimal {
  return String(amount) as unknown as Stripe.Decimal
}

function meterOf(work: UnitOfWork, eventName: string): string {
  const found = work
    .findBy('billing.meter', 'event_name', eventName)
    .find(({ status }) => status === 'active')
  return (found ?? createMeter(work, { eventName })).id
}

function usageOf(meter: string) {
  return { usage_type: 'metered' as const, meter }
}
