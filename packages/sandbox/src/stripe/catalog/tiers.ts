import type Stripe from 'stripe'
import type { PriceRow, PriceTier } from '../state/rows.ts'
import { multiplyFixedPoint, UNITS_PER_ONE } from '../wire/decimals.ts'
import { createInvalidRequestFault, createNegativeNumberFault } from '../wire/errors.ts'

type TierParams = Stripe.PriceCreateParams.Tier

/**
 * The part of a price's cost that becomes one invoice line: a quantity at a unit amount, or the
 * flat amount of a tier.
 */
export interface PricePart {
  /** Quantity as a fixed-point number (see `wire/decimals.ts`). */
  readonly quantity: bigint
  /** Amount in minor units with decimals: the amount per unit, or the flat amount of the tier. */
  readonly unitAmount: string
  readonly amount: number
  /** Number of the tier, starting at 1. `null` for a price without tiers. */
  readonly tier: number | null
}

export function isMeteredPriceRow(price: Pick<PriceRow, 'recurring'>): boolean {
  return price.recurring?.usage_type === 'metered'
}

/**
 * Reads and validates the tiers of a price. `within` is the name of the parameter that holds the
 * tiers, for error messages.
 */
export function readTiers(tiers: readonly TierParams[], within = 'tiers'): PriceTier[] {
  if (tiers.length === 0)
    throw createInvalidRequestFault('`tiers` must have at least one tier.', within)
  let below = 0
  return tiers.map((tier, at) => {
    const path = `${within}[${at}]`
    const last = at === tiers.length - 1
    const upTo = tier.up_to === 'inf' ? null : Number(tier.up_to)
    if ((upTo === null) !== last) {
      throw createInvalidRequestFault(
        last
          ? 'The last tier must have `up_to` set to `inf`, so there is a price for every quantity.'
          : 'Only the last tier may have `up_to` set to `inf`.',
        `${path}[up_to]`,
      )
    }
    if (upTo !== null && upTo <= below) {
      throw createInvalidRequestFault(
        'The `up_to` of a tier must be greater than that of the tier before it.',
        `${path}[up_to]`,
      )
    }
    below = upTo ?? below
    const flat = readAmount(tier, 'flat_amount', path)
    const unit = readAmount(tier, 'unit_amount', path)
    if (flat === null && unit === null) {
      throw createInvalidRequestFault(
        'Each tier needs a `unit_amount` or a `flat_amount`.',
        `${path}[unit_amount]`,
        'parameter_missing',
      )
    }
    return {
      flat_amount: parseWholeNumber(flat),
      flat_amount_decimal: flat,
      unit_amount: parseWholeNumber(unit),
      unit_amount_decimal: unit,
      up_to: upTo,
    }
  })
}

function readAmount(
  tier: TierParams,
  name: 'flat_amount' | 'unit_amount',
  path: string,
): string | null {
  const [cents, decimal] = [tier[name], tier[`${name}_decimal`]]
  if (cents !== undefined && decimal !== undefined) {
    throw createInvalidRequestFault(
      `You may only specify one of these parameters: ${name}, ${name}_decimal.`,
      `${path}[${name}]`,
    )
  }
  const text = cents ?? decimal
  if (text === undefined) return null
  if (Number(text) < 0) {
    throw createNegativeNumberFault(`${path}[${name}]`)
  }
  return String(text)
}

function parseWholeNumber(decimal: string | null): number | null {
  return decimal !== null && /^\d+(?:\.0+)?$/.test(decimal) ? Number(decimal) : null
}

/**
 * Splits the cost of a quantity into the parts that become invoice lines. Graduated tiers are
 * filled one after the other; with volume tiers, the total quantity selects one tier. The flat
 * amount of the first tier is due even for a quantity of zero.
 */
export function splitIntoParts(price: PriceRow, quantity: bigint, currency: string): PricePart[] {
  const { unit, tiers } = findTermsInCurrency(price, currency)
  if (tiers) {
    return price.tiers_mode === 'volume'
      ? volumeParts(tiers, quantity)
      : graduatedParts(tiers, quantity)
  }
  const amount = multiplyFixedPoint(convertToPackages(price, quantity), unit)
  return [{ quantity, unitAmount: unit, amount, tier: null }]
}

/** Returns the cost of a whole number of units of a price, in minor units. */
export function computeCost(price: PriceRow, quantity: number, currency: string): number {
  return sumParts(splitIntoParts(price, BigInt(quantity) * UNITS_PER_ONE, currency))
}

export function sumParts(parts: readonly PricePart[]): number {
  return parts.reduce((sum, part) => sum + part.amount, 0)
}

function findTermsInCurrency(
  price: PriceRow,
  currency: string,
): { unit: string; tiers: PriceTier[] | null } {
  const own = currency === price.currency
  const option = own ? undefined : price.$?.currencyOptions?.[currency]
  const unit = own ? price.unit_amount_decimal : option?.unit_amount_decimal
  const tiers = own ? price.$?.tiers : option?.tiers
  return { unit: unit ?? '0', tiers: tiers ?? null }
}

/**
 * Applies `transform_quantity`: converts units to packages. When rounding up, a started package
 * counts as a whole one.
 */
function convertToPackages(price: PriceRow, quantity: bigint): bigint {
  const transform = price.transform_quantity
  if (!transform) return quantity
  const size = BigInt(transform.divide_by) * UNITS_PER_ONE
  const full = quantity / size
  return (transform.round === 'up' && full * size < quantity ? full + 1n : full) * UNITS_PER_ONE
}

function graduatedParts(tiers: readonly PriceTier[], quantity: bigint): PricePart[] {
  const parts: PricePart[] = []
  let below = 0n
  for (const [at, tier] of tiers.entries()) {
    if (at > 0 && quantity <= below) break
    const top = tier.up_to === null ? quantity : BigInt(tier.up_to) * UNITS_PER_ONE
    const inside = (quantity < top ? quantity : top) - below
    parts.push(...tierParts(tier, at, inside))
    below = top
  }
  return parts
}

function volumeParts(tiers: readonly PriceTier[], quantity: bigint): PricePart[] {
  const at = tiers.findIndex(
    (tier) => tier.up_to === null || quantity <= BigInt(tier.up_to) * UNITS_PER_ONE,
  )
  const tier = tiers[at]
  return tier ? tierParts(tier, at, quantity) : []
}

/** Returns separate lines for a tier's unit amount and its flat amount. */
function tierParts(tier: PriceTier, at: number, quantity: bigint): PricePart[] {
  const { unit_amount_decimal: unit, flat_amount_decimal: flat } = tier
  const parts: PricePart[] = []
  if (unit !== null) {
    const amount = multiplyFixedPoint(quantity, unit)
    parts.push({ quantity, unitAmount: unit, amount, tier: at + 1 })
  }
  if (flat !== null) {
    parts.push({
      quantity: 0n,
      unitAmount: flat,
      amount: multiplyFixedPoint(UNITS_PER_ONE, flat),
      tier: at + 1,
    })
  }
  return parts
}
