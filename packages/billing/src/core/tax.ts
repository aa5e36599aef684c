import type { TaxSource } from '../options.ts'
import { requireCapability } from '../providers/gateway-parts.ts'
import type { Provider } from '../providers/provider.ts'
import type { ProviderSubscription } from '../providers/subscription.ts'
import type { BillingContext } from './context.ts'
import type { LockedOwner } from './locked-owner.ts'
import { requireOwnerTable } from './storage/owner-tables.ts'
import type { BilledOwner } from './storage/tables.ts'
import type { DatedTaxTerms } from './storage/taxes.ts'
import type { ProviderName } from './values/provider-name.ts'
import { type BasisPoints, parseTaxPercentage, removeTax } from './values/tax.ts'

/** Reads the owner's current tax percentage from the application. */
export async function readTax(
  { options }: BillingContext,
  { owner, attributes }: BilledOwner,
): Promise<BasisPoints> {
  const { taxPercentage } = requireOwnerTable(options.owners, owner.type)
  return parseTaxPercentage(await taxPercentage({ ...attributes }))
}

/** The tax of a subscription. At most one of percentage, automatic tax and tax rates is set. */
export interface SubscriptionTax {
  readonly tax: BasisPoints
  /** Whether the application sets no tax, so that the subscription keeps its present tax. */
  readonly keepsTax?: true
  readonly automaticTax?: true
  /** Ids of the provider's tax rates. */
  readonly taxRates?: readonly string[]
  /** Ids of tax rates for each additional price. */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
}

/**
 * Reads the tax from the source that was chosen for this subscription, or else from the option
 * `tax`.
 */
export async function readSubscriptionTax(
  context: BillingContext,
  billed: BilledOwner,
  price: string,
  chosen: TaxSource | null = null,
  otherPrices: readonly string[] = [],
): Promise<SubscriptionTax> {
  const { tax } = context.options
  const sourceOf = async (price: string) =>
    chosen ?? (typeof tax === 'object' ? await tax.rates({ ...billed.attributes }, price) : tax)
  const source = await sourceOf(price)
  if (source === 'automatic') return { tax: 0, automaticTax: true }
  if (source === 'percentage') {
    const { hasTaxPercentage } = requireOwnerTable(context.options.owners, billed.owner.type)
    return hasTaxPercentage ? { tax: await readTax(context, billed) } : { tax: 0, keepsTax: true }
  }
  const itemRates: Record<string, readonly string[]> = {}
  for (const price of otherPrices) {
    const own = await sourceOf(price)
    if (typeof own !== 'string') itemRates[price] = [...own]
  }
  return { tax: 0, taxRates: [...source], ...(otherPrices.length > 0 ? { itemRates } : {}) }
}

/**
 * Checks that the provider supports the required kind of tax.
 * @throws Unsupported before any request is sent, if automatic tax or tax rates are required and
 * the provider does not support them.
 */
export function requireTaxSource(
  { options }: BillingContext,
  provider: Provider,
  chosen: TaxSource | null,
): void {
  const source = chosen ?? options.tax
  if (source === 'percentage') return
  requireCapability(provider, source === 'automatic' ? 'automaticTax' : 'lineRates')
}

/**
 * Stores the tax that a subscription's price contains, for providers that store only the price.
 * Invoices need it to show the rate that was charged, and a change of the rate needs it to keep the
 * net price.
 */
export async function storeTaxTerms(
  context: BillingContext,
  { lock }: LockedOwner,
  provider: ProviderName,
  terms: {
    /** The subscription as it is now, with this tax in its price. */
    readonly found: ProviderSubscription
    readonly tax: BasisPoints
    /**
     * Time of the newest charge before the tax changed; later charges contain the new tax. `null`
     * if there was no charge.
     */
    readonly lastChargeAt: Date | null
    readonly net?: number | undefined
  },
): Promise<void> {
  const { found, tax, lastChargeAt } = terms
  if (found.taxedPrice === null) return
  const saved: DatedTaxTerms = {
    provider,
    subscriptionId: found.id,
    // Based on the provider's clock, not ours.
    since: new Date(lastChargeAt === null ? 0 : lastChargeAt.getTime() + 1),
    tax,
    net: terms.net ?? removeTax(found.taxedPrice, tax),
  }
  await lock.write((tx) => context.taxes.save(saved, tx))
}

/**
 * Returns a function that finds the tax of a subscription's charge at a moment, or today's tax if
 * none is stored.
 */
export function createTaxLookup(
  all: readonly DatedTaxTerms[],
  today: BasisPoints,
): (subscriptionId: string, at: Date) => BasisPoints {
  return (subscriptionId, at) => {
    const own = all.filter((each) => each.subscriptionId === subscriptionId)
    return own.filter(({ since }) => since <= at).at(-1)?.tax ?? today
  }
}
