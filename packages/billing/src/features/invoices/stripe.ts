import type Stripe from 'stripe'
import type { Gateway } from '../../providers/gateway.ts'
import { getReferencedId, type StripeContext, toDate } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import { isWithheldCredit } from '../proration/stripe-lines.ts'
import type { InvoiceData } from './invoice.ts'
import type { InvoiceCustomer, InvoiceDiscount, InvoiceLine, InvoiceTax } from './invoice-parts.ts'

/** Statuses of invoices that can still be paid; void and uncollectible ones cannot. */
const PENDING: readonly (string | null)[] = ['draft', 'open']

/** Fields that a request must expand (Stripe's `expand` parameter) for `readCompleteInvoice()`. */
export const INVOICE_EXPAND_PARAM = ['discounts', 'total_discount_amounts.discount']

export function createStripeInvoices(
  context: StripeContext,
): Pick<Gateway, 'hasPaid' | 'listInvoices' | 'findInvoice'> {
  const { stripe } = context
  return {
    async hasPaid(customer) {
      for await (const { paid, status } of stripe.charges.list({ customer, limit: 100 })) {
        // A bank debit takes days to settle.
        if (paid || status === 'pending') return true
      }
      for await (const { status, total } of stripe.invoices.list({ customer, limit: 100 })) {
        if (total > 0 && PENDING.includes(status)) return true
      }
      return false
    },
    async listInvoices(customer, { pending, limit }) {
      const found: InvoiceData[] = []
      const query: Stripe.InvoiceListParams = {
        customer,
        limit: Math.min(limit ?? 100, 100),
        expand: INVOICE_EXPAND_PARAM.map((path) => `data.${path}`),
        ...(pending ? {} : { status: 'paid' }),
      }
      for await (const invoice of stripe.invoices.list(query)) {
        if (invoice.status !== 'paid' && !PENDING.includes(invoice.status)) continue
        found.push(await readCompleteInvoice(context, invoice))
        if (found.length === limit) break
      }
      return found
    },
    async findInvoice(id, customerId) {
      if (!/^in_\w{1,100}$/.test(id)) return null
      try {
        const invoice = await stripe.invoices.retrieve(id, { expand: INVOICE_EXPAND_PARAM })
        if (getReferencedId(invoice.customer) !== customerId) return null
        return await readCompleteInvoice(context, invoice)
      } catch (error) {
        if (isMissingObjectError(error)) return null
        throw error
      }
    },
  }
}

/**
 * Converts a Stripe invoice to our form. Reads the lines that the object does not contain, and the
 * tax percentages, which Stripe keeps in separate objects.
 */
export async function readCompleteInvoice(
  context: StripeContext,
  invoice: Stripe.Invoice,
): Promise<InvoiceData> {
  const lines = await allLines(context, invoice)
  return {
    id: invoice.id,
    provider: 'stripe',
    number: invoice.number ?? invoice.id,
    date: toDate(invoice.created),
    paid: invoice.status === 'paid',
    ...(invoice.status === 'void' ? { isVoid: true as const } : {}),
    currency: invoice.currency,
    customer: toInvoiceCustomer(invoice),
    lines: lines.map((line) => describeLine(line, invoice)),
    subtotal: invoice.subtotal,
    discounts: toInvoiceDiscounts(invoice.total_discount_amounts),
    taxes: await readInvoiceTaxes(context, invoice.total_taxes),
    customerTaxIds: readInvoiceTaxIds(invoice),
    reverseCharge: isReverseCharged(invoice),
    total: invoice.total,
    startingBalance: invoice.starting_balance,
    amountDue: invoice.amount_due,
    ...(invoice.due_date ? { dueAt: toDate(invoice.due_date) } : {}),
    ...(invoice.hosted_invoice_url ? { paymentUrl: invoice.hosted_invoice_url } : {}),
    raw: invoice,
  }
}

/**
 * Whether the invoice is under reverse charge (the customer owes the tax), because it is set for
 * this customer or because Stripe Tax decided so.
 */
export function isReverseCharged({
  customer_tax_exempt: exempt,
  total_taxes: taxes,
}: Stripe.Invoice): boolean {
  return (
    exempt === 'reverse' ||
    (taxes ?? []).some(({ taxability_reason: reason }) => reason === 'reverse_charge')
  )
}

async function allLines(
  { stripe }: StripeContext,
  invoice: Stripe.Invoice,
): Promise<Stripe.InvoiceLineItem[]> {
  // A preview is not stored, so there are no further pages to request.
  if (!invoice.lines.has_more || !invoice.id.startsWith('in_')) return invoice.lines.data
  const lines: Stripe.InvoiceLineItem[] = []
  for await (const line of stripe.invoices.listLineItems(invoice.id, { limit: 100 })) {
    lines.push(line)
  }
  return lines
}

/** Returns the customer's name, e-mail and address as stored on the invoice. */
export function toInvoiceCustomer(invoice: Stripe.Invoice): InvoiceCustomer {
  const { line1, line2, postal_code, city, state, country } = invoice.customer_address ?? {}
  const town = [postal_code, city].filter(Boolean).join(' ')
  return {
    name: invoice.customer_name,
    email: invoice.customer_email,
    address: [line1, line2, town, state, country].filter((line): line is string => Boolean(line)),
  }
}

export function readInvoiceTaxIds({ customer_tax_ids }: Stripe.Invoice): string[] {
  return (customer_tax_ids ?? []).flatMap(({ value }) => value ?? [])
}

export function toInvoiceDiscounts(
  discounts: Stripe.Invoice['total_discount_amounts'],
): InvoiceDiscount[] {
  return (discounts ?? []).map(({ amount, discount }) => ({ ...couponOf(discount), amount }))
}

export function readInvoiceTaxes(
  context: StripeContext,
  taxes: Stripe.Invoice['total_taxes'] | Stripe.CreditNote['total_taxes'],
): Promise<InvoiceTax[]> {
  return Promise.all(
    (taxes ?? []).map(async (tax) => ({
      amount: tax.amount,
      inclusive: tax.tax_behavior === 'inclusive',
      percentage: await percentageOf(context, tax.tax_rate_details?.tax_rate),
    })),
  )
}

function describeLine(line: Stripe.InvoiceLineItem, invoice: Stripe.Invoice): InvoiceLine {
  const isSubscription = line.parent?.type === 'subscription_item_details'
  const proration = line.parent?.invoice_item_details?.proration ?? false
  return {
    id: line.id,
    description: descriptionOf(line),
    amount: line.amount,
    quantity: countOf(line),
    ...unitOf(line),
    ...(isUsage(line, invoice) ? { isUsage: true } : {}),
    period:
      isSubscription || proration
        ? { start: toDate(line.period.start), end: toDate(line.period.end) }
        : null,
  }
}

function descriptionOf(line: Stripe.InvoiceLineItem): string {
  const said = line.description ?? 'Charge'
  // Stripe's own description is the product's name.
  return isWithheldCredit(line) ? `Already returned: ${said}` : said
}

/** Returns the quantity, with decimals for usage. `quantity` itself is an integer. */
function countOf({ quantity, quantity_decimal }: Stripe.InvoiceLineItem): number | null {
  const decimal = quantity_decimal === undefined ? null : quantity_decimal
  return decimal === null ? quantity : Number(String(decimal))
}

function unitOf({ pricing }: Stripe.InvoiceLineItem): Pick<InvoiceLine, 'unitAmount'> {
  const unit = pricing?.unit_amount_decimal ?? null
  return unit === null ? {} : { unitAmount: String(unit) }
}

/**
 * Whether a line bills usage. Subscriptions bill nothing else in arrears, except for prorations and
 * backdated periods.
 */
function isUsage(
  { parent, period }: Stripe.InvoiceLineItem,
  { period_end, billing_reason }: Stripe.Invoice,
): boolean {
  const details = parent?.subscription_item_details
  if (!details || details.proration || billing_reason === 'subscription_create') return false
  return period.end <= period_end
}

/** Returns the coupon of a discount. A deleted coupon leaves only the amount. */
function couponOf(
  discount: string | Stripe.Discount | Stripe.DeletedDiscount | null,
): Pick<InvoiceDiscount, 'name' | 'percentOff'> {
  const coupon = typeof discount === 'object' ? discount?.source?.coupon : null
  if (!coupon) return { name: null, percentOff: null }
  if (typeof coupon === 'string') return { name: coupon, percentOff: null }
  return { name: coupon.name ?? coupon.id, percentOff: coupon.percent_off }
}

/** Percentages by tax rate, cached because they never change. A Stripe account has few rates. */
const percentages = new WeakMap<Stripe, Map<string, string>>()

async function percentageOf(
  { stripe }: StripeContext,
  rateId: string | null | undefined,
): Promise<string | null> {
  if (!rateId) return null
  const known = percentages.get(stripe) ?? new Map<string, string>()
  percentages.set(stripe, known)
  const percentage =
    known.get(rateId) ?? String((await stripe.taxRates.retrieve(rateId)).percentage)
  known.set(rateId, percentage)
  return percentage
}
