import type Stripe from 'stripe'
import type { GatewayParts } from '../../contract/parts.ts'
import type { Swap } from '../../contract/swap.ts'
import type { StripeContext } from '../sdk/client.ts'
import { mainItem } from './describe.ts'

/** Taxes that Stripe works out, or that the application names by its own rates: never both. */
export function stripeAutomaticTax({
  stripe,
}: StripeContext): Pick<GatewayParts, 'automaticTax' | 'lineRates'> {
  return {
    automaticTax: {
      async set(id, isOn) {
        const { items } = await stripe.subscriptions.retrieve(id)
        await stripe.subscriptions.update(id, {
          automatic_tax: { enabled: isOn },
          ...(isOn ? { default_tax_rates: '', ...withoutRates(items.data) } : {}),
        })
      },
    },
    lineRates: {
      async set(id, rates) {
        const { items } = await stripe.subscriptions.retrieve(id)
        await stripe.subscriptions.update(id, {
          automatic_tax: { enabled: false },
          items: items.data.flatMap(({ id: item, price }) => {
            const own = rates[price.id]
            return own ? [{ id: item, tax_rates: own.length > 0 ? [...own] : ('' as const) }] : []
          }),
        })
      },
    },
  }
}

function withoutRates(
  items: readonly Stripe.SubscriptionItem[],
): Pick<Stripe.SubscriptionUpdateParams, 'items'> {
  const taxed = items.filter(({ tax_rates }) => (tax_rates ?? []).length > 0)
  return taxed.length === 0 ? {} : { items: taxed.map(({ id }) => ({ id, tax_rates: '' })) }
}

/** What a swap says of tax: what changes. Where Stripe works it out already, nothing. */
export interface TaxOfSwap {
  /** Of the subscription. */
  readonly rates: { default_tax_rates?: string[] | '' }
  /** Of the item. */
  readonly item: { tax_rates?: string[] | '' }
  readonly automatic: { automatic_tax?: { enabled: true } }
}

export function taxOfSwap(
  current: Stripe.Subscription,
  { automaticTax, taxRates }: Swap,
  rates: readonly string[],
): TaxOfSwap {
  const own = mainItem(current)?.tax_rates ?? []
  if (automaticTax || current.automatic_tax.enabled) {
    return {
      rates: current.default_tax_rates?.length ? { default_tax_rates: '' } : {},
      item: own.length > 0 ? { tax_rates: '' } : {},
      automatic: current.automatic_tax.enabled ? {} : { automatic_tax: { enabled: true } },
    }
  }
  const isSame = haveIds(current.default_tax_rates ?? [], rates)
  const hasOwn = taxRates === undefined || haveIds(own, taxRates)
  return {
    rates: isSame ? {} : { default_tax_rates: rates.length > 0 ? [...rates] : '' },
    item: hasOwn ? {} : { tax_rates: taxRates.length > 0 ? [...taxRates] : '' },
    automatic: {},
  }
}

function haveIds(rates: readonly Stripe.TaxRate[], ids: readonly string[]): boolean {
  return rates.length === ids.length && rates.every(({ id }) => ids.includes(id))
}
