import { type Decimal, formatDecimal, parseDecimal } from '../../../core/values/decimal.ts'
import {
  calculateUsagePrice,
  type MeteredPrice,
  sumPricedUsage,
} from '../../../core/values/metered-price.ts'
import { addTax } from '../../../core/values/tax.ts'
import type { MeterBill, UsageBill, UsageLine } from '../../../core/values/usage-bill.ts'

/** Usage of a billing period by meter, and the bills for the part that was charged. */
export interface UsageLedger {
  readonly used: ReadonlyMap<string, Decimal>
  readonly bills: readonly MeterBill[]
}

/**
 * Calculates the bill for added usage: the cost of all usage in the period, less the amount that
 * was already charged for this period. If the cost is lower than that amount, nothing is refunded,
 * and later usage is charged once the cost exceeds it. The price of the period's first charge
 * applies to the whole period.
 */
export function buildUsageBill(
  { used, bills }: UsageLedger,
  addedUsage: ReadonlyMap<string, Decimal>,
  priceOf: (meter: string) => MeteredPrice | null,
): MeterBill[] {
  return [...addedUsage].flatMap(([meter, value]) => {
    const before = bills.filter((bill) => bill.meter === meter)
    const price = before[0]?.price ?? priceOf(meter)
    if (!price) return []
    const all = calculateUsagePrice(price, formatDecimal((used.get(meter) ?? 0n) + value))
    const charged = sumWithoutTax(before)
    const lines =
      sumPricedUsage(all) > charged
        ? toUsageBillLines(price.description ?? meter, all, charged)
        : []
    return [{ meter, price, lines }]
  })
}

function toUsageBillLines(
  name: string,
  all: ReturnType<typeof calculateUsagePrice>,
  charged: number,
): readonly UsageLine[] {
  const lines = all
    .filter(({ quantity }) => quantity !== '0')
    .map(({ tier, ...line }) => ({
      ...line,
      description: tier === null ? name : `${name} (tier ${tier})`,
    }))
  if (charged === 0) return lines
  const before = { quantity: '1', unitAmount: String(-charged), amount: -charged }
  return [...lines, { ...before, description: `${name} (charged before)` }]
}

/** Adds up the lines of usage bills, without tax. */
export function sumWithoutTax(bills: readonly MeterBill[]): number {
  return bills.flatMap(({ lines }) => lines).reduce((sum, { amount }) => sum + amount, 0)
}

/**
 * Returns the lines of a usage bill as an invoice shows them, including tax. Their sum is exactly
 * the charged amount.
 */
export function toLinesWithTax({ tax, meters }: UsageBill): UsageLine[] {
  let net = 0
  return meters
    .flatMap(({ lines }) => lines)
    .map((line) => {
      const before = addTax(net, tax)
      net += line.amount
      const unit = (parseDecimal(line.unitAmount) * BigInt(10_000 + tax)) / 10_000n
      return { ...line, unitAmount: formatDecimal(unit), amount: addTax(net, tax) - before }
    })
}
