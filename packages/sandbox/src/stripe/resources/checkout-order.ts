import { checkMinimumAmount } from '../catalog/redeem-discounts.ts'
import { createBlankRow } from '../state/blank.ts'
import type { CheckoutItem, CheckoutParts, CheckoutSessionRow, CustomerRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { formatMinimum, getMinimumCharge } from '../wire/money.ts'
import { listPaymentMethodTypes } from './checkout-methods.ts'
import { parseCheckoutQuestions } from './checkout-questions.ts'
import {
  type CheckoutOrder,
  type CheckoutQuote,
  quoteInvoice,
  quoteOrder,
} from './checkout-quote.ts'
import type { CheckoutMode, CheckoutParams } from './checkout-rules.ts'
import { readAutomaticTax } from './checkout-tax.ts'

const NO_PARTS: CheckoutParts = { discounts: [], taxes: [] }

/** Parameters stored unchanged on the session. */
const COPIED_PARAMS = [
  'allow_promotion_codes',
  'allowed_payment_method_types',
  'billing_address_collection',
  'cancel_url',
  'client_reference_id',
  'customer_email',
  'excluded_payment_method_types',
  'integration_identifier',
  'locale',
  'origin_context',
  'submit_type',
  'success_url',
] as const

interface NewSession {
  readonly params: CheckoutParams
  readonly mode: CheckoutMode
  readonly customer: string | null
  readonly items: CheckoutItem[]
  readonly expires: number
}

/** Creates an open checkout session. The amounts are calculated separately. */
export function createCheckoutSession(work: UnitOfWork, options: NewSession): CheckoutSessionRow {
  const { params, mode, customer, items, expires } = options
  const id = work.newId('cs_test_', 40)
  return {
    ...createBlankRow('checkout.session'),
    ...pickSentFields(params, ...COPIED_PARAMS),
    id,
    automatic_tax: readAutomaticTax(params),
    created: work.sandboxNow,
    currency: params.currency?.toLowerCase() ?? null,
    custom_text: {
      after_submit: params.custom_text?.after_submit || null,
      shipping_address: null,
      submit: params.custom_text?.submit || null,
      terms_of_service_acceptance: null,
    },
    ...parseCheckoutQuestions(params),
    customer,
    customer_creation: customerCreation(params, mode),
    customer_details: readKnownDetails(work, params),
    discounts: (params.discounts ?? []).map(({ coupon = null, promotion_code = null }) => ({
      coupon,
      promotion_code,
    })),
    expires_at: expires,
    invoice_creation: mode === 'payment' ? invoiceCreation(params) : null,
    metadata: mergeMetadata({}, params.metadata),
    mode,
    payment_method_collection:
      mode === 'subscription' ? (params.payment_method_collection ?? 'always') : 'if_required',
    payment_method_options: {},
    payment_method_types: ['card'],
    payment_status: 'no_payment_required',
    phone_number_collection: { enabled: params.phone_number_collection?.enabled ?? false },
    shipping_options: [],
    status: 'open',
    ui_mode: 'hosted_page',
    url: `${work.context.baseUrl}/pages/checkout/${id}`,
    wallet_options: (params.wallet_options ?? null) as CheckoutSessionRow['wallet_options'],
    $: {
      items,
      params: JSON.stringify(params),
      expiresNextAt: expires,
      ...(work.supportsLegacyFeature('subscription-before-payment')
        ? { subscribesFirst: true }
        : {}),
    },
  }
}

function customerCreation(
  params: CheckoutParams,
  mode: CheckoutMode,
): CheckoutSessionRow['customer_creation'] {
  if (params.customer !== undefined) return null
  return mode === 'subscription' ? 'always' : (params.customer_creation ?? 'if_required')
}

/** Returns the customer details known before the page is filled in. */
function readKnownDetails(
  work: UnitOfWork,
  params: CheckoutParams,
): CheckoutSessionRow['customer_details'] {
  const customer = work.find('customer', params.customer ?? '')
  if (customer) return buildCheckoutCustomerDetails(customer, {})
  return params.customer_email === undefined
    ? null
    : buildCheckoutCustomerDetails(null, { email: params.customer_email })
}

export function buildCheckoutCustomerDetails(
  customer: CustomerRow | null,
  typed: Partial<NonNullable<CheckoutSessionRow['customer_details']>>,
): NonNullable<CheckoutSessionRow['customer_details']> {
  return {
    address: typed.address ?? customer?.address ?? null,
    business_name: null,
    email: customer?.email ?? typed.email ?? null,
    individual_name: null,
    name: typed.name ?? customer?.name ?? null,
    phone: typed.phone ?? customer?.phone ?? null,
    tax_exempt: customer?.tax_exempt ?? 'none',
    tax_ids: [],
  }
}

export function setCustomerAddress(
  session: CheckoutSessionRow,
  address: NonNullable<CustomerRow['address']>,
): void {
  session.customer_details = {
    ...(session.customer_details ?? buildCheckoutCustomerDetails(null, {})),
    address,
  }
}

function invoiceCreation({
  invoice_creation: wanted,
}: CheckoutParams): CheckoutSessionRow['invoice_creation'] {
  const data = wanted?.invoice_data
  return {
    enabled: wanted?.enabled ?? false,
    invoice_data: {
      account_tax_ids: null,
      custom_fields: data?.custom_fields || null,
      description: data?.description ?? null,
      footer: data?.footer ?? null,
      issuer: null,
      metadata: mergeMetadata({}, data?.metadata),
      rendering_options: null,
    },
  }
}

/** Returns the order that a checkout session describes in its present state. */
export function toCheckoutOrder(
  session: CheckoutSessionRow,
  taxId?: CheckoutOrder['taxId'],
): CheckoutOrder {
  return {
    session: session.id,
    mode: session.mode as CheckoutMode,
    params: JSON.parse(session.$.params) as CheckoutParams,
    customer: session.customer,
    items: session.$.items,
    discounts: (session.discounts ?? []).map(({ coupon, promotion_code: code }) =>
      code ? { promotion_code: code } : { coupon: coupon ?? '' },
    ),
    address: session.customer_details?.address ?? null,
    taxId,
  }
}

/**
 * Calculates and stores the amounts of a checkout session, unless an invoice already determines
 * them. Returns `null` in setup mode. The calculation is a trial run that is rolled back and may
 * replace rows by copies, so callers must fetch their rows again.
 */
export function quoteSession(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  taxId?: CheckoutOrder['taxId'],
): CheckoutQuote | null {
  if (session.mode === 'setup') {
    session.payment_method_types = listPaymentMethodTypes(session)
    return null
  }
  const order = toCheckoutOrder(session, taxId)
  const invoice = session.subscription === null ? null : session.invoice
  if (invoice) return quoteInvoice(work, order, work.require('invoice', String(invoice)))
  const quote = quoteOrder(work.context, order)
  checkMinimums(work, order, quote)
  session.currency = quote.currency
  session.payment_method_types = listPaymentMethodTypes(session)
  session.automatic_tax = { ...session.automatic_tax, status: quote.taxStatus }
  session.amount_subtotal = quote.subtotal
  session.amount_total = quote.total
  session.payment_status = quote.total > 0 ? 'unpaid' : 'no_payment_required'
  session.total_details = {
    amount_discount: quote.discount,
    amount_shipping: 0,
    amount_tax: quote.tax,
  }
  session.$.items.forEach((item, at) => {
    const line = quote.lines.find((each) => each.item === at)
    const { subtotal = 0, discount = 0, tax = 0, total = 0, parts = NO_PARTS } = line ?? {}
    item.amounts = { subtotal, discount, tax, total, parts }
  })
  session.$.parts = quote.parts
  session.$.discounts = { ...quote.discounts }
  return quote
}

/**
 * Replaces the preliminary discount ids in a checkout session's amounts with the ids of the
 * redeemed discounts, in the same order.
 */
export function replaceDiscountIds(session: CheckoutSessionRow, redeemed: readonly string[]): void {
  const known = Object.keys(session.$.discounts ?? {})
  const parts = [session.$.parts, ...session.$.items.map((item) => item.amounts?.parts)]
  for (const part of parts.flatMap((each) => each?.discounts ?? [])) {
    part.discount = redeemed[known.indexOf(part.discount)] ?? part.discount
  }
  session.$.discounts = {}
}

/**
 * Whether the customer must enter a payment method in a checkout session. If nothing is due, this
 * is necessary only if the session always collects a payment method.
 */
export function needsCard(session: CheckoutSessionRow, quote: CheckoutQuote | null): boolean {
  if (quote === null || quote.due > 0) return true
  return session.mode === 'subscription' && session.payment_method_collection === 'always'
}

function checkMinimums(work: UnitOfWork, order: CheckoutOrder, quote: CheckoutQuote): void {
  if (order.mode === 'payment' && quote.due > 0 && quote.due < getMinimumCharge(quote.currency)) {
    const least = formatMinimum(quote.currency)
    throw createInvalidRequestFault(
      `The Checkout Session's total amount due must add up to at least ${least}`,
      undefined,
      'amount_too_small',
    )
  }
  for (const { promotion_code: id } of order.discounts) {
    const code = work.find('promotion_code', id ?? '')
    const param = 'discounts[0][promotion_code]'
    if (code) checkMinimumAmount(work, code, order.items, quote.currency, param)
  }
}
