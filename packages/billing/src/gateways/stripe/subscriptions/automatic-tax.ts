import type Stripe from 'stripe'
import type { GatewayParts } from '../../contract/parts.ts'
import type { Swap } from '../../contract/swap.ts'
import type { StripeContext } from '../sdk/client.ts'
import { mainItem } from './describe.ts'
import { retrieve } from './retrieve.ts'

/** Taxes that Stripe works out, or that the application names by its own rates: never both. */
export function stripeAutomaticTax({
  stripe,
}: StripeContext): Pick<GatewayParts, 'automaticTax' | 'lineRates'> {
  return {
    automaticTax: {
      async set(id, isOn) {
        const { items } = await retrieve(stripe, id)
        await stripe.subscriptions.update(id, {
          automatic_tax: { enabled: isOn },
          ...(isOn ? { default_tax_rates: '', ...withoutRates(items.data) } : {}),
        })
      },
    },
    lineRates: {
      async set(id, rates) {
        const { items } = await retrieve(stripe, id)
        await stripe.subscriptions.update(id, {
          automatic_tax: { enabled: false },
          // It would count for every item that has no rates of its own.
          default_tax_rates: '',
          items: items.data.flatMap(({ id: item, price }) => {
            const own = rates[price.id]
            return own ? [{ id: item, tax_rates: ratesParam(own) }] : []
          }),
        })
      },
    },
  }
}

/** How rates are said: none at all is an empty text. */
export function ratesParam(rates: readonly string[]): string[] | '' {
  return rates.length > 0 ? [...rates] : ''
}

function hasRates({ tax_rates }: Stripe.SubscriptionItem): boolean {
  return (tax_rates ?? []).length > 0
}

function withoutRates(
  items: readonly Stripe.SubscriptionItem[],
): Pick<Stripe.SubscriptionUpdateParams, 'items'> {
  const taxed = items.filter(hasRates)
  return taxed.length === 0 ? {} : { items: taxed.map(({ id }) => ({ id, tax_rates: '' })) }
}

/** What a swap says of tax: what changes. Where Stripe works it out already, nothing. */
export interface TaxOfSwap {
  /** Of the subscription. */
  readonly rates: { default_tax_rates?: string[] | '' }
  /** Of the main item. */
  readonly item: { tax_rates?: string[] | '' }
  /** Of the others, by price; where nothing is said of one, it stays. */
  readonly others?: Readonly<Record<string, readonly string[]>> | undefined
  readonly automatic: { automatic_tax?: { enabled: true } }
}

export function taxOfSwap(
  current: Stripe.Subscription,
  { automaticTax, taxRates, itemRates }: Swap,
  rates: readonly string[],
): TaxOfSwap {
  const own = mainItem(current)?.tax_rates ?? []
  if (automaticTax || current.automatic_tax.enabled) {
    const taxed = current.items.data.filter(hasRates)
    return {
      rates: current.default_tax_rates?.length ? { default_tax_rates: '' } : {},
      item: taxed.length > 0 ? { tax_rates: '' } : {},
      others: Object.fromEntries(taxed.map(({ price }) => [price.id, []])),
      automatic: current.automatic_tax.enabled ? {} : { automatic_tax: { enabled: true } },
    }
  }
  const isSame = haveIds(current.default_tax_rates ?? [], rates)
  const hasOwn = taxRates === undefined || haveIds(own, taxRates)
  return {
    rates: isSame ? {} : { default_tax_rates: ratesParam(rates) },
    item: hasOwn ? {} : { tax_rates: ratesParam(taxRates) },
    others: itemRates,
    automatic: {},
  }
}

function haveIds(rates: readonly Stripe.TaxRate[], ids: readonly string[]): boolean {
  return rates.length === ids.length && rates.every(({ id }) => ids.includes(id))
}
