import { type Decimal, decimal, written } from '../decimal.ts'
import { type MeteredPrice, priceUsage, sumOf } from '../metered-price.ts'
import { addTax, type BasisPoints } from '../tax.ts'

/** A line of what is charged for usage, in the currency's smallest unit. */
export interface UsageLine {
  readonly description: string
  /** A decimal number, as text; of packages, how many of them. */
  readonly quantity: string
  /** What one costs, with decimals. */
  readonly unitAmount: string
  readonly amount: number
}

/** What is charged for one meter, without tax, and by which price. */
export interface MeterBill {
  readonly meter: string
  readonly price: MeteredPrice
  readonly lines: readonly UsageLine[]
}

/** What is charged at once. */
export interface UsageBill {
  readonly tax: BasisPoints
  readonly meters: readonly MeterBill[]
}

/** What was used of each meter, and charged, of one period. */
export interface UsageLedger {
  readonly used: ReadonlyMap<string, Decimal>
  readonly bills: readonly MeterBill[]
}

/**
 * What is missing to the cost of all that was used in the period. Whoever has paid more than that gets nothing back, and
 * pays again when it costs more than was paid. A period keeps the price that it was first charged by.
 */
export function billUsage(
  { used, bills }: UsageLedger,
  added: ReadonlyMap<string, Decimal>,
  priceOf: (meter: string) => MeteredPrice | null,
): MeterBill[] {
  return [...added].flatMap(([meter, value]) => {
    const before = bills.filter((bill) => bill.meter === meter)
    const price = before[0]?.price ?? priceOf(meter)
    if (!price) return []
    const all = priceUsage(price, written((used.get(meter) ?? 0n) + value))
    const charged = netOf(before)
    const lines = sumOf(all) > charged ? linesOf(price.description ?? meter, all, charged) : []
    return [{ meter, price, lines }]
  })
}

function linesOf(
  name: string,
  all: ReturnType<typeof priceUsage>,
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

/** All lines together, without tax. */
export function netOf(bills: readonly MeterBill[]): number {
  return bills.flatMap(({ lines }) => lines).reduce((sum, { amount }) => sum + amount, 0)
}

/** As an invoice shows them, whose lines hold the tax: together they are what was charged, to the cent. */
export function withTax({ tax, meters }: UsageBill): UsageLine[] {
  let net = 0
  return meters
    .flatMap(({ lines }) => lines)
    .map((line) => {
      const before = addTax(net, tax)
      net += line.amount
      const unit = (decimal(line.unitAmount) * BigInt(10_000 + tax)) / 10_000n
      return { ...line, unitAmount: written(unit), amount: addTax(net, tax) - before }
    })
}
