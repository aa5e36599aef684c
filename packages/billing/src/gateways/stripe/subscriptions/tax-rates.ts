import type Stripe from 'stripe'
import { type BasisPoints, formatTaxPercentage } from '../../../values/tax.ts'
import type { Swap } from '../../contract/swap.ts'
import type { StripeContext } from '../sdk/client.ts'
import { once } from '../sdk/once.ts'
import type { SaidTax } from './chosen-tax.ts'

/** What is said with a swap, now or later. */
export function saidTax(
  context: StripeContext,
): (
  swap: Pick<Swap, 'plan' | 'tax' | 'keepsTax' | 'automaticTax' | 'taxRates' | 'itemRates'>,
) => Promise<SaidTax> {
  const findTaxRates = taxRates(context)
  return async ({ plan, tax, keepsTax, automaticTax, taxRates: ofPlan, itemRates }) => {
    if (automaticTax) return { automatic: true }
    if (ofPlan) return { rates: { ...itemRates, [plan]: ofPlan } }
    return keepsTax ? {} : { percentage: await findTaxRates(tax) }
  }
}

/** A tax rate's percentage cannot be changed, so each percentage has one rate, made when first needed. */
export function taxRates({ stripe }: StripeContext): (tax: BasisPoints) => Promise<string[]> {
  const known = new Map<BasisPoints, string>()

  async function find(tax: BasisPoints): Promise<string> {
    const percentage = Number(formatTaxPercentage(tax))
    const listed = await findListed(percentage)
    if (listed) return listed.id
    const made = await once(
      `tollgate:tax:${tax}`,
      (request) =>
        stripe.taxRates.create(
          { display_name: 'Tax', percentage, inclusive: false, metadata: { tollgate: 'tax' } },
          request,
        ),
      () => findListed(percentage),
    )
    return made.id
  }

  async function findListed(percentage: number): Promise<Stripe.TaxRate | null> {
    for await (const rate of stripe.taxRates.list({ active: true, limit: 100 })) {
      const ours = rate.metadata?.tollgate === 'tax' && !rate.inclusive
      if (ours && rate.percentage === percentage) return rate
    }
    return null
  }

  return async (tax) => {
    if (tax === 0) return []
    const id = known.get(tax) ?? (await find(tax))
    known.set(tax, id)
    return [id]
  }
}
