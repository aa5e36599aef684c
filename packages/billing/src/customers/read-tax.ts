import type { BillingContext } from '../context.ts'
import { requireCapability } from '../gateways/contract/parts.ts'
import type { Provider } from '../gateways/contract/provider.ts'
import type { TaxSource } from '../options.ts'
import { requireOwnerTable } from '../storage/owner-tables.ts'
import type { BilledOwner } from '../storage/tables.ts'
import { type BasisPoints, parseTaxPercentage } from '../values/tax.ts'

/** The owner's tax percentage as the application says it now. */
export async function readTax(
  { options }: BillingContext,
  { owner, attributes }: BilledOwner,
): Promise<BasisPoints> {
  const { taxPercentage } = requireOwnerTable(options.owners, owner.type)
  return parseTaxPercentage(await taxPercentage({ ...attributes }))
}

/** What a subscription's tax is made of: at most one of the three says something. */
export interface SubscriptionTax {
  readonly tax: BasisPoints
  /** Nothing is said of tax at all. */
  readonly keepsTax?: true
  readonly automaticTax?: true
  /** Ids of the provider's rates. */
  readonly taxRates?: readonly string[]
  /** The same by price, for prices beside the plan. */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
}

/** By what was chosen for this subscription, or else by the option. */
export async function readSubscriptionTax(
  context: BillingContext,
  billed: BilledOwner,
  plan: string,
  chosen: TaxSource | null = null,
  others: readonly string[] = [],
): Promise<SubscriptionTax> {
  const { tax } = context.options
  const sourceOf = async (price: string) =>
    chosen ?? (typeof tax === 'object' ? await tax.rates({ ...billed.attributes }, price) : tax)
  const source = await sourceOf(plan)
  if (source === 'automatic') return { tax: 0, automaticTax: true }
  if (source === 'percentage') {
    const { saysPercentage } = requireOwnerTable(context.options.owners, billed.owner.type)
    return saysPercentage ? { tax: await readTax(context, billed) } : { tax: 0, keepsTax: true }
  }
  const itemRates: Record<string, readonly string[]> = {}
  for (const price of others) {
    const own = await sourceOf(price)
    if (typeof own !== 'string') itemRates[price] = [...own]
  }
  return { tax: 0, taxRates: [...source], ...(others.length > 0 ? { itemRates } : {}) }
}

/** Unsupported where the provider can neither work a tax out nor have rates of its own; before any call. */
export function requireTaxSource(
  { options }: BillingContext,
  provider: Provider,
  chosen: TaxSource | null,
): void {
  const source = chosen ?? options.tax
  if (source === 'percentage') return
  requireCapability(provider, source === 'automatic' ? 'automaticTax' : 'lineRates')
}
