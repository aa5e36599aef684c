import { type Decimal, decimal, multiplied, ONE, written } from './decimal.ts'

/** What a part of what was used costs. */
export interface UsageTier {
  /** The last one that it holds for; null for all that come after. */
  readonly upTo: number | null
  /** For each, in the currency's smallest unit; as text it may have up to 12 decimals. */
  readonly unitAmount?: number | string
  /** For the tier as such, once something of it is used; of the first tier always. */
  readonly flatAmount?: number | string
}

/** What usage costs where we count it: by the unit, by the package, or by tiers. */
export type MeteredPrice = {
  /** What people read on the invoice. Default: the name of the price. */
  readonly description?: string
  /** How many are included in each period, and cost nothing. */
  readonly included?: number
} & (
  | {
      /** For each, or for each package, in the currency's smallest unit; as text it may have up to 12 decimals. */
      readonly unitAmount: number | string
      /** Sold by so many; one that was begun counts. */
      readonly packageSize?: number
    }
  | {
      /** The last one has no end. */
      readonly tiers: readonly UsageTier[]
      /** `graduated`: each tier is filled and billed by its own terms. `volume`: the whole is billed by the tier that it reaches. */
      readonly mode: 'graduated' | 'volume'
    }
)

/** So many at so much, and what that comes to. */
export interface PricedUsage {
  /** A decimal number, as text; of packages, how many of them. */
  readonly quantity: string
  /** What one costs, or the tier as such, in the currency's smallest unit with decimals. */
  readonly unitAmount: string
  /** Rounded to the smallest unit, half away from zero. */
  readonly amount: number
  /** The first tier is 1; null where there are none. */
  readonly tier: number | null
}

/** What so much of a period costs, in the lines that an invoice has for it. Nobody is owed for less than nothing. */
export function priceUsage(price: MeteredPrice, used: string): PricedUsage[] {
  const billed = decimal(used) - BigInt(price.included ?? 0) * ONE
  const quantity = billed < 0n ? 0n : billed
  if (!hasTiers(price)) {
    const count = price.packageSize === undefined ? quantity : packages(quantity, price.packageSize)
    return [line(count, price.unitAmount, null)]
  }
  return price.mode === 'volume' ? volume(price.tiers, quantity) : graduated(price.tiers, quantity)
}

type TieredPrice = Extract<MeteredPrice, { readonly tiers: unknown }>

function hasTiers(price: MeteredPrice): price is TieredPrice {
  return 'tiers' in price && price.tiers !== undefined
}

/** All lines together. */
export function sumOf(lines: readonly PricedUsage[]): number {
  return lines.reduce((sum, { amount }) => sum + amount, 0)
}

function packages(quantity: Decimal, size: number): Decimal {
  const whole = BigInt(size) * ONE
  return ((quantity + whole - 1n) / whole) * ONE
}

function graduated(tiers: readonly UsageTier[], quantity: Decimal): PricedUsage[] {
  const lines: PricedUsage[] = []
  let below = 0n
  for (const [at, tier] of tiers.entries()) {
    if (at > 0 && quantity <= below) break
    const top = tier.upTo === null ? quantity : BigInt(tier.upTo) * ONE
    lines.push(...ofTier(tier, at, (quantity < top ? quantity : top) - below))
    below = top
  }
  return lines
}

function volume(tiers: readonly UsageTier[], quantity: Decimal): PricedUsage[] {
  const at = tiers.findIndex(({ upTo }) => upTo === null || quantity <= BigInt(upTo) * ONE)
  const tier = tiers[at]
  return tier ? ofTier(tier, at, quantity) : []
}

function ofTier({ unitAmount, flatAmount }: UsageTier, at: number, inside: Decimal): PricedUsage[] {
  return [
    ...(unitAmount === undefined ? [] : [line(inside, unitAmount, at + 1)]),
    ...(flatAmount === undefined ? [] : [line(ONE, flatAmount, at + 1)]),
  ]
}

function line(quantity: Decimal, unit: number | string, tier: number | null): PricedUsage {
  const unitAmount = written(decimal(unit))
  const amount = multiplied(quantity, decimal(unit))
  return { quantity: written(quantity), unitAmount, amount, tier }
}

/** What is wrong with it, in words; null when nothing is. For options, which are looked at when billing is made. */
export function faultOf(price: MeteredPrice): string | null {
  const { included = 0 } = price
  if (!Number.isSafeInteger(included) || included < 0) return 'included is no whole number'
  if (!hasTiers(price)) {
    if (!isAmount(price.unitAmount)) return 'unitAmount is no amount'
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
    if (![unitAmount ?? 0, flatAmount ?? 0].every(isAmount)) return 'an amount of a tier is none'
    const end = upTo ?? Number.POSITIVE_INFINITY
    if (!(end > below) || (upTo !== null && !Number.isSafeInteger(upTo))) {
      return 'upTo of each tier is a whole number above that of the tier before it'
    }
    below = end
  }
  return null
}

function isAmount(amount: number | string): boolean {
  return /^\d{1,12}(\.\d{1,12})?$/.test(String(amount))
}
