import type Stripe from 'stripe'
import { checkSoldIn, findUnitAmount } from '../catalog/currency-options.ts'
import { createPrice } from '../catalog/prices.ts'
import { type DiscountParam, redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { requireTaxCode } from '../catalog/tax-codes.ts'
import { requireTaxRates } from '../catalog/tax-rates.ts'
import { computeCost } from '../catalog/tiers.ts'
import { createBlankRow } from '../state/blank.ts'
import type { CustomerRow, InvoiceItemRow, PriceRow, SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createMissingParamFault } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/fields.ts'
import { multiplyDecimal, requireCurrency } from '../wire/money.ts'

export interface NewInvoiceItem {
  readonly customer: CustomerRow
  readonly amount?: number | undefined
  readonly currency?: string | undefined
  readonly price?: PriceRow | null
  readonly unitAmountDecimal?: Stripe.Decimal | undefined
  readonly quantity?: number | undefined
  readonly description?: string | null
  readonly discountable?: boolean | undefined
  readonly discounts?: readonly DiscountParam[] | '' | null
  readonly metadata?: '' | null | Readonly<Record<string, string | number | null>> | undefined
  readonly period?: { readonly start: number; readonly end: number } | undefined
  readonly taxRates?: readonly string[] | '' | null | undefined
  readonly subscription?: string | null
  readonly taxBehavior?: string | undefined
  readonly taxCode?: string | '' | null | undefined
}

/**
 * Creates an invoice item: a one-time amount that stays pending until the customer's next invoice.
 */
export function createInvoiceItem(work: UnitOfWork, options: NewInvoiceItem): InvoiceItemRow {
  const { price = null } = options
  const quantity = options.quantity ?? 1
  const currency =
    (options.currency === undefined ? undefined : requireCurrency(options.currency)) ??
    price?.currency ??
    options.customer.currency ??
    undefined
  if (currency === undefined) throw createMissingParamFault('currency')
  if (price) checkSoldIn(price, currency, 'currency')
  const unit =
    (price ? findUnitAmount(price, currency) : null) ??
    options.unitAmountDecimal?.toString() ??
    (options.amount === undefined ? undefined : String(options.amount))
  if (unit === undefined || unit === null) throw createMissingParamFault('amount')
  const amount =
    options.amount ??
    (price ? computeCost(price, quantity, currency) : multiplyDecimal(unit, quantity))
  if (Math.abs(amount) > 99_999_999)
    throw createInvalidRequestFault(
      'Amount must be no more than $999,999.99',
      'amount',
      'amount_too_large',
    )
  const id = work.newId('ii_1')
  const period = options.period ?? { start: work.now, end: work.now }
  if (period.end < period.start)
    throw createInvalidRequestFault('The period must end after it starts.', 'period[end]')
  const product = price ? work.find('product', price.product) : undefined
  return work.insert(
    'invoiceitem',
    {
      ...createBlankRow('invoiceitem'),
      id,
      amount,
      currency,
      customer: options.customer.id,
      date: work.now,
      description: options.description ?? product?.name ?? null,
      discountable: options.discountable ?? amount >= 0,
      discounts: redeemDiscounts(work, options.discounts ?? null, {
        customer: options.customer,
        invoiceItem: id,
        currency,
      }),
      metadata: mergeMetadata({}, options.metadata),
      net_amount: amount,
      parent: options.subscription
        ? {
            subscription_details: { subscription: options.subscription },
            type: 'subscription_details',
          }
        : null,
      period: { ...period },
      pricing: {
        ...(price ? { price_details: { price: price.id, product: price.product } } : {}),
        type: 'price_details',
        unit_amount_decimal: unit,
      },
      proration: false,
      quantity,
      quantity_decimal: String(quantity),
      tax_rates: options.taxRates ? requireTaxRates(work, options.taxRates, 'tax_rates') : [],
      test_clock: options.customer.test_clock ?? null,
      $: {
        price: price?.id ?? null,
        product: price?.product ?? null,
        subscription: options.subscription ?? null,
        item: null,
        ...(options.taxBehavior === undefined ? {} : { taxBehavior: options.taxBehavior }),
        ...(options.taxCode ? { taxCode: requireTaxCode(options.taxCode) } : {}),
      },
    },
    'invoiceitem.created',
  )
}

interface AddedItem {
  readonly price?: string
  readonly price_data?: unknown
  readonly quantity?: number
  readonly discountable?: boolean
  readonly discounts?: NewInvoiceItem['discounts']
  readonly metadata?: NewInvoiceItem['metadata']
  readonly tax_rates?: readonly string[] | '' | null
}

/**
 * Adds the one-time prices in the parameter `add_invoice_items` to the subscription's next invoice.
 */
export function addInvoiceItems(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  items: readonly AddedItem[] | undefined,
): void {
  const customer = work.require('customer', subscription.customer)
  ;(items ?? []).forEach((item, at) => {
    const price = requireOneTimePrice(work, item, `add_invoice_items[${at}]`)
    createInvoiceItem(work, {
      customer,
      currency: subscription.currency,
      price,
      quantity: item.quantity,
      discountable: item.discountable,
      discounts: item.discounts ?? null,
      metadata: item.metadata,
      taxRates: item.tax_rates,
      subscription: subscription.id,
    })
  })
}

export function requireOneTimePrice(
  work: UnitOfWork,
  item: { price?: string; price_data?: unknown },
  path: string,
): PriceRow {
  if (item.price_data !== undefined) {
    const data = item.price_data as Parameters<typeof createPrice>[1]
    return createPrice(work, { ...data, mayBeCredit: true })
  }
  if (item.price === undefined) throw createMissingParamFault(`${path}[price]`)
  const price = work.require('price', item.price, `${path}[price]`)
  if (price.recurring) {
    throw createInvalidRequestFault(
      'The price specified is set to `type=recurring` but this field only accepts prices with `type=one_time`.',
      `${path}[price]`,
    )
  }
  return price
}
