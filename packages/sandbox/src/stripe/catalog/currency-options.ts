import type Stripe from 'stripe'
import type { CurrencyOption, PriceRow } from '../state/rows.ts'
import { createInvalidRequestFault, createMissingParamFault } from '../wire/errors.ts'
import { requireCurrency } from '../wire/money.ts'
import { readTiers } from './tiers.ts'
import { readUnitAmount } from './unit-amount.ts'

type OptionParams = Stripe.PriceCreateParams.CurrencyOptions

/**
 * Returns a price's unit amount in a currency, in minor units with decimals. `null` if the price is
 * not sold in that currency or has no unit amount.
 */
export function findUnitAmount(price: PriceRow, currency: string): string | null {
  if (currency === price.currency) return price.unit_amount_decimal
  return price.$?.currencyOptions?.[currency]?.unit_amount_decimal ?? null
}

export function isSoldIn(price: PriceRow, currency: string): boolean {
  return currency === price.currency || price.$?.currencyOptions?.[currency] !== undefined
}

export function checkSoldIn(price: PriceRow, currency: string, param: string): void {
  if (isSoldIn(price, currency)) return
  const known = [price.currency, ...Object.keys(price.$?.currencyOptions ?? {})]
  throw createInvalidRequestFault(
    `The price specified only supports ${known.map((each) => `\`${each}\``).join(', ')}. This doesn't match the expected currency: \`${currency}\`.`,
    param,
  )
}

/**
 * Reads a price's amounts in other currencies, and merges them into `storedOptions`. An amount in
 * the same currency is replaced.
 */
export function readCurrencyOptions(
  { own, tiered }: { readonly own: string; readonly tiered: boolean },
  optionParams: Readonly<Record<string, OptionParams>>,
  storedOptions: Readonly<Record<string, CurrencyOption>> = {},
): Readonly<Record<string, CurrencyOption>> {
  const options: Record<string, CurrencyOption> = { ...storedOptions }
  for (const [code, params] of Object.entries(optionParams)) {
    const path = `currency_options[${code}]`
    const currency = requireCurrency(code, path)
    if (currency === own) {
      throw createInvalidRequestFault(
        `The price is in \`${own}\` itself; name other currencies.`,
        path,
      )
    }
    const known = options[currency]
    options[currency] = {
      tax_behavior: params.tax_behavior ?? known?.tax_behavior ?? 'unspecified',
      ...(tiered ? readOptionTiers(params, known, path) : readOptionAmount(params, known, path)),
    }
  }
  return options
}

function readOptionAmount(params: OptionParams, known: CurrencyOption | undefined, path: string) {
  const { unit_amount: given, unit_amount_decimal: decimals } = params
  if (params.tiers) throw createInvalidRequestFault('This price has no tiers.', `${path}[tiers]`)
  if (known && given === undefined && decimals === undefined) {
    return { unit_amount: known.unit_amount, unit_amount_decimal: known.unit_amount_decimal }
  }
  const { cents, decimal } = readUnitAmount(params, path)
  return { unit_amount: cents, unit_amount_decimal: decimal }
}

function readOptionTiers(params: OptionParams, known: CurrencyOption | undefined, path: string) {
  const tiers = params.tiers ? readTiers(params.tiers, `${path}[tiers]`) : known?.tiers
  if (!tiers) throw createMissingParamFault(`${path}[tiers]`)
  return { tiers, unit_amount: null, unit_amount_decimal: null }
}

/**
 * Renders a price's `currency_options` as Stripe returns them when expanded. They include the
 * price's own currency.
 */
export function renderCurrencyOptions(price: PriceRow): object {
  const { tax_behavior, unit_amount, unit_amount_decimal } = price
  const tiers = price.$?.tiers
  const own = { tax_behavior, unit_amount, unit_amount_decimal, ...(tiers ? { tiers } : {}) }
  const all = { [price.currency]: own, ...price.$?.currencyOptions }
  return Object.fromEntries(
    Object.entries(all).map(([currency, option]) => [
      currency,
      { custom_unit_amount: null, ...option },
    ]),
  )
}
