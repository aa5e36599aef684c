import { randomUUID } from 'node:crypto'
import type Stripe from 'stripe'
import { isBillingError } from '../../core/errors/error-codes.ts'
import { type Money, money } from '../../core/values/money.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { rejectReservedOptions } from '../../providers/overrides.ts'
import { getReferencedId, type StripeContext } from '../../providers/stripe/client.ts'
import { createIdempotencyKeyReusedError, toBillingError } from '../../providers/stripe/errors.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import { requireDefaultMethod } from '../customers/stripe.ts'
import type { InvoiceForOptions, InvoiceOutcome } from '../payments/charge-contract.ts'
import { readCompleteInvoice } from './stripe.ts'
import { finalizeDraft, voidInvoice } from './stripe-void.ts'

/** Invoice parameters that billing sets itself, so that callers cannot pass them. */
export const RESERVED_PARAMS = [
  'customer',
  'currency',
  'auto_advance',
  'pending_invoice_items_behavior',
]

/** Metadata of an invoice that we voided, to tell it from one that the merchant voided. */
const VOIDED = { tollgate_voided: 'payment_failed' }

interface Item {
  readonly description: string
  readonly amount: Money
}

interface SingleInvoice {
  readonly customer: string
  readonly item: Item
  readonly key: string | null
  readonly voidOnFailure: boolean
  readonly more: Stripe.InvoiceCreateParams
}

/**
 * Implements invoices that are paid on demand for Stripe: those that `invoiceFor()` creates, and
 * other open invoices.
 */
export function createStripeSingleInvoices(
  context: StripeContext,
): Pick<Gateway, 'invoiceFor' | 'payInvoice' | 'amountOwed' | 'payNow'> {
  const { stripe } = context
  return {
    async invoiceFor(customer, item, given: InvoiceForOptions<'stripe'>) {
      const { idempotencyKey, voidOnFailure = false, automaticTax = false, ...options } = given
      rejectReservedOptions(options, RESERVED_PARAMS)
      const more: Stripe.InvoiceCreateParams = {
        ...(automaticTax ? { automatic_tax: { enabled: true } } : {}),
        ...options,
      }
      await requireDefaultMethod(context, customer)
      const { id } = await findOrCreateInvoice(context, {
        customer,
        item,
        key: idempotencyKey ?? null,
        voidOnFailure,
        more,
      })
      return payAndDescribeInvoice(context, id, { voidOnFailure, offSession: true })
    },
    async payInvoice(id, customer) {
      const invoice = await stripe.invoices.retrieve(id)
      if (getReferencedId(invoice.customer) !== customer) return null
      return payAndDescribeInvoice(context, id, { voidOnFailure: false, offSession: false })
    },
    async amountOwed({ raw }) {
      const subscription = raw as Stripe.Subscription
      const owed = await listOwed(context, subscription)
      const sum = owed.reduce((all, each) => all + each.amount_remaining, 0)
      return money(sum, subscription.currency)
    },
    async payNow({ raw }) {
      const subscription = raw as Stripe.Subscription
      for (const { id, status } of sortForPayment(
        subscription,
        await listOwed(context, subscription),
      )) {
        if (status === 'draft') await finalizeDraft(context, id)
        // The customer is present, so the bank may require authentication.
        await payOnce(context, id, { offSession: false })
      }
    },
  }
}

/**
 * Lists the invoices to pay, oldest first. For an `unpaid` subscription, Stripe leaves new invoices
 * as drafts, and reactivates the subscription when the newest draft is paid. Therefore the newest
 * draft is included, and the earlier drafts are not.
 */
async function listOwed(
  { stripe }: StripeContext,
  { id: subscription, status, latest_invoice }: Stripe.Subscription,
): Promise<Stripe.Invoice[]> {
  const owed: Stripe.Invoice[] = []
  for await (const invoice of stripe.invoices.list({ subscription, status: 'open', limit: 100 })) {
    owed.unshift(invoice)
  }
  const newest = status === 'unpaid' ? getReferencedId(latest_invoice) : null
  if (newest === null || owed.some(({ id }) => id === newest)) return owed
  const invoice = await stripe.invoices.retrieve(newest)
  return invoice.status === 'draft' ? [...owed, invoice] : owed
}

/**
 * Sorts the invoices for payment: oldest first. For an `unpaid` subscription, the newest one comes
 * first, because paying it restores access.
 */
function sortForPayment(
  { status, latest_invoice }: Stripe.Subscription,
  owed: readonly Stripe.Invoice[],
): Stripe.Invoice[] {
  const opening = status === 'unpaid' ? getReferencedId(latest_invoice) : null
  const isFirst = ({ id }: Stripe.Invoice) => id === opening
  return [...owed.filter(isFirst), ...owed.filter((invoice) => !isFirst(invoice))]
}

/**
 * Finds the invoice with this idempotency key, or creates it with its single line, and returns it
 * finalized.
 */
export async function findOrCreateInvoice(
  context: StripeContext,
  singleInvoice: SingleInvoice,
): Promise<Stripe.Invoice> {
  const { stripe } = context
  const { item } = singleInvoice
  const invoice =
    (await findReusableInvoice(context, singleInvoice)) ?? (await create(context, singleInvoice))
  if (invoice.status !== 'draft') return invoice
  if (invoice.lines.data.length === 0) {
    await stripe.invoiceItems.create({
      customer: singleInvoice.customer,
      invoice: invoice.id,
      ...item.amount,
      description: item.description,
    })
  }
  // Stripe retries the payment from here on, unless we are to void the invoice on failure.
  const terms = { auto_advance: !singleInvoice.voidOnFailure }
  try {
    return await stripe.invoices.finalizeInvoice(invoice.id, terms)
  } catch (error) {
    // With a key, the next call continues with the draft. Without one, the draft cannot be found
    // again.
    const isUntaxable = isBillingError(toBillingError(error), 'tax_location_unknown')
    if (isUntaxable && singleInvoice.key === null) await stripe.invoices.del(invoice.id)
    throw error
  }
}

/**
 * Finds the invoice with this idempotency key. Ignores an invoice that we voided after a failure.
 */
async function findReusableInvoice(
  context: StripeContext,
  requestedInvoice: SingleInvoice,
): Promise<Stripe.Invoice | null> {
  const [newest] = await findByKey(context, requestedInvoice)
  if (!newest) return null
  const [line] = newest.lines.data
  const { amount } = requestedInvoice.item
  const isSent = ({
    collection_method: method,
  }: Pick<Stripe.InvoiceCreateParams, 'collection_method'>) => method === 'send_invoice'
  if (isSent(newest) !== isSent(requestedInvoice.more))
    throw createIdempotencyKeyReusedError(`the invoice ${newest.id}`)
  const isOther =
    line &&
    (line.amount !== amount.amount ||
      newest.currency !== amount.currency ||
      line.description !== requestedInvoice.item.description)
  if (isOther) throw createIdempotencyKeyReusedError(`the invoice ${newest.id}`)
  if (newest.status !== 'void') return newest
  if (newest.metadata?.tollgate_voided !== undefined) return null
  throw createIdempotencyKeyReusedError(`the invoice ${newest.id}, which was voided`)
}

/** Finds the invoices with this idempotency key, newest first. */
async function findByKey(
  { stripe }: StripeContext,
  { customer, key }: SingleInvoice,
): Promise<Stripe.Invoice[]> {
  const found: Stripe.Invoice[] = []
  if (key === null) return found
  for await (const invoice of stripe.invoices.list({ customer, limit: 100 })) {
    if (invoice.metadata?.tollgate_key === key) found.push(invoice)
  }
  return found
}

async function create(context: StripeContext, wanted: SingleInvoice): Promise<Stripe.Invoice> {
  const { customer, item, key, more } = wanted
  const before = (await findByKey(context, wanted)).length
  // Excludes pending items, such as a proration that waits for the next renewal.
  const params: Stripe.InvoiceCreateParams = {
    ...more,
    customer,
    currency: item.amount.currency,
    auto_advance: false,
    pending_invoice_items_behavior: 'exclude',
    ...(key === null ? {} : { metadata: { ...(more.metadata || {}), tollgate_key: key } }),
  }
  return createIdempotently(
    `${key ?? randomUUID()}:invoice:${before}`,
    (request) => context.stripe.invoices.create(params, request),
    async () => {
      const all = await findByKey(context, wanted)
      return all.length > before ? (all[0] ?? null) : null
    },
  )
}

/**
 * Tries to pay an invoice, and returns the outcome. The invoice's state decides, because a response
 * can be lost.
 */
async function payAndDescribeInvoice(
  context: StripeContext,
  id: string,
  { voidOnFailure, offSession }: { readonly voidOnFailure: boolean; readonly offSession: boolean },
): Promise<InvoiceOutcome> {
  const { stripe } = context
  const describe = async () => {
    const invoice = await stripe.invoices.retrieve(id)
    const subscription = getReferencedId(invoice.parent?.subscription_details?.subscription)
    return { invoice: await readCompleteInvoice(context, invoice), subscription }
  }
  try {
    await payOnce(context, id, { offSession })
    return { ...(await describe()), failure: null }
  } catch (error) {
    if (voidOnFailure) {
      await stripe.invoices.update(id, { metadata: VOIDED })
      const isPaid = !(await voidInvoice(context, id))
      if (isPaid) return { ...(await describe()), failure: null }
    }
    const failure = toBillingError(error)
    const isUnpaid =
      isBillingError(failure, 'payment_failed') ||
      isBillingError(failure, 'payment_action_required')
    if (isUnpaid) return { ...(await describe()), failure }
    throw error
  }
}

/**
 * Pays an invoice unless it is paid already, which Stripe would reject. Concurrent calls pay it
 * once.
 */
async function payOnce(
  { stripe }: StripeContext,
  id: string,
  { offSession }: { readonly offSession: boolean },
): Promise<void> {
  const before = await stripe.invoices.retrieve(id)
  if (before.status === 'paid') return
  try {
    await stripe.invoices.pay(id, { off_session: offSession })
  } catch (error) {
    const { status } = await stripe.invoices.retrieve(id)
    if (status !== 'paid') throw error
  }
}
