import {
  DECIMAL_ONE,
  type Decimal,
  formatDecimal,
  multiplyAndRound,
  parseDecimal,
} from './decimal.ts'

/** The price of one tier of usage. */
export interface UsageTier {
  /** The last unit of the tier, inclusive. `null` for the last tier. */
  readonly upTo: number | null
  /** Price of each unit, in the currency's smallest unit. As text it may have up to 12 decimals. */
  readonly unitAmount?: number | string
  /**
   * Flat price of the tier, in the currency's smallest unit. Charged if at least one unit falls
   * into the tier; the flat price of the first tier is always charged.
   */
  readonly flatAmount?: number | string
}

/** The price of usage that billing counts itself: per unit, per package, or in tiers. */
export type MeteredPrice = {
  /** Text on the invoice. @default the name of the price */
  readonly description?: string
  /** Number of units that are free in each billing period. @default 0 */
  readonly included?: number
} & (
  | {
      /**
       * Price per unit, or per package, in the currency's smallest unit. As text it may have up to
       * 12 decimals.
       */
      readonly unitAmount: number | string
      /** Number of units per package. A package that was started is charged in full. */
      readonly packageSize?: number
    }
  | {
      /** The tiers in ascending order. The last one has `upTo: null`. */
      readonly tiers: readonly UsageTier[]
      /**
       * `graduated`: the units in each tier are charged at that tier's price. `volume`: all units
       * are charged at the price of the tier that the total reaches.
       */
      readonly mode: 'graduated' | 'volume'
    }
)

/** A line of priced usage. */
export interface PricedUsage {
  /** Number of units, or of packages, as decimal text. */
  readonly quantity: string
  /**
   * Price of one unit, or flat price of the tier, in the currency's smallest unit as decimal text.
   */
  readonly unitAmount: string
  /** The line's amount, rounded to the smallest unit, half away from zero. */
  readonly amount: number
  /** Number of the tier, counted from 1. `null` if the price has no tiers. */
  readonly tier: number | null
}

/** Prices the usage of a billing period, as invoice lines. Negative usage costs nothing. */
export function calculateUsagePrice(price: MeteredPrice, usedQuantity: string): PricedUsage[] {
  const billed = parseDecimal(usedQuantity) - BigInt(price.included ?? 0) * DECIMAL_ONE
  const quantity = billed < 0n ? 0n : billed
  if (!hasTiers(price)) {
    const count =
      price.packageSize === undefined ? quantity : countPackages(quantity, price.packageSize)
    return [toPricedLine(count, price.unitAmount, null)]
  }
  return price.mode === 'volume'
    ? priceVolumeTier(price.tiers, quantity)
    : priceGraduatedTiers(price.tiers, quantity)
}

type TieredPrice = Extract<MeteredPrice, { readonly tiers: unknown }>

function hasTiers(price: MeteredPrice): price is TieredPrice {
  return 'tiers' in price && price.tiers !== undefined
}

/** Adds up the amounts of the lines. */
export function sumPricedUsage(lines: readonly PricedUsage[]): number {
  return lines.reduce((sum, { amount }) => sum + amount, 0)
}

function countPackages(quantity: Decimal, size: number): Decimal {
  const whole = BigInt(size) * DECIMAL_ONE
  return ((quantity + whole - 1n) / whole) * DECIMAL_ONE
}

function priceGraduatedTiers(tiers: readonly UsageTier[], quantity: Decimal): PricedUsage[] {
  const lines: PricedUsage[] = []
  let below = 0n
  for (const [at, tier] of tiers.entries()) {
    if (at > 0 && quantity <= below) break
    const top = tier.upTo === null ? quantity : BigInt(tier.upTo) * DECIMAL_ONE
    lines.push(...priceWithinTier(tier, at, (quantity < top ? quantity : top) - below))
    below = top
  }
  return lines
}

function priceVolumeTier(tiers: readonly UsageTier[], quantity: Decimal): PricedUsage[] {
  const at = tiers.findIndex(({ upTo }) => upTo === null || quantity <= BigInt(upTo) * DECIMAL_ONE)
  const tier = tiers[at]
  return tier ? priceWithinTier(tier, at, quantity) : []
}

function priceWithinTier(
  { unitAmount, flatAmount }: UsageTier,
  at: number,
  inside: Decimal,
): PricedUsage[] {
  return [
    ...(unitAmount === undefined ? [] : [toPricedLine(inside, unitAmount, at + 1)]),
    ...(flatAmount === undefined ? [] : [toPricedLine(DECIMAL_ONE, flatAmount, at + 1)]),
  ]
}

function toPricedLine(quantity: Decimal, unit: number | string, tier: number | null): PricedUsage {
  const unitAmount = formatDecimal(parseDecimal(unit))
  const amount = multiplyAndRound(quantity, parseDecimal(unit))
  return { quantity: formatDecimal(quantity), unitAmount, amount, tier }
}

/**
 * Describes what is wrong with a price, for the check of the options at start-up. `null` if the
 * price is valid.
 */
export function findPriceFault(price: MeteredPrice): string | null {
  const { included = 0 } = price
  if (!Number.isSafeInteger(included) || included < 0) return 'included is not a whole number'
  if (!hasTiers(price)) {
    if (!isAmount(price.unitAmount)) return 'unitAmount is not a valid amount'
    const { packageSize = 1 } = price
    return Number.isSafeInteger(packageSize) && packageSize > 0 ? null : 'packageSize is below 1'
  }
  if (price.mode !== 'graduated' && price.mode !== 'volume') {
    return "mode is neither 'graduated' nor 'volume'"
  }
  if (price.tiers.at(-1)?.upTo !== null) return 'the last tier needs upTo: null'
  let below = 0
  for (const { upTo, unitAmount, flatAmount } of price.tiers) {
    if (unitAmount === undefined && flatAmount === undefined) {
      return 'each tier needs a unitAmount or a flatAmount'
    }
    if (![unitAmount ?? 0, flatAmount ?? 0].every(isAmount)) return 'an amount of a tier is invalid'
    const end = upTo ?? Number.POSITIVE_INFINITY
    if (!(end > below) || (upTo !== null && !Number.isSafeInteger(upTo))) {
      return 'upTo of each tier must be a whole number above that of the previous tier'
    }
    below = end
  }
  return null
}

function isAmount(amount: number | string): boolean {
  return /^\d{1,12}(\.\d{1,12})?$/.test(String(amount))
}
