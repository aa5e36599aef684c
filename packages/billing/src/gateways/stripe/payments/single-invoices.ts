import { randomUUID } from 'node:crypto'
import type Stripe from 'stripe'
import { isBillingError } from '../../../error-codes.ts'
import { type Money, money } from '../../../values/money.ts'
import type { Gateway } from '../../contract/gateway.ts'
import { refuseOverrides } from '../../contract/overrides.ts'
import type { InvoiceOutcome } from '../../contract/payment.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { toBillingError, usedForSomethingElse } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'
import { requireMethod } from './customers.ts'
import { completeInvoice } from './invoices.ts'
import { finalize, voidInvoice } from './void-invoice.ts'

const DECIDED = ['customer', 'currency', 'auto_advance', 'pending_invoice_items_behavior']

/** Written on an invoice that we void, to tell it from one that the merchant has voided. */
const VOIDED = { tollgate_voided: 'payment_failed' }

interface Item {
  readonly description: string
  readonly amount: Money
}

interface Wanted {
  readonly customer: string
  readonly item: Item
  readonly key: string | null
  readonly voidOnFailure: boolean
  readonly more: Stripe.InvoiceCreateParams
}

/** Invoices that are paid on demand: those of `invoiceFor()`, and any that is open. */
export function stripeSingleInvoices(
  context: StripeContext,
): Pick<Gateway, 'invoiceFor' | 'payInvoice' | 'amountOwed' | 'payNow'> {
  const { stripe } = context
  return {
    async invoiceFor(customer, item, given) {
      const { idempotencyKey, voidOnFailure = false, automaticTax = false, ...options } = given
      refuseOverrides(options, DECIDED)
      const more: Stripe.InvoiceCreateParams = {
        ...(automaticTax ? { automatic_tax: { enabled: true } } : {}),
        ...options,
      }
      await requireMethod(context, customer)
      const { id } = await openInvoice(context, {
        customer,
        item,
        key: idempotencyKey ?? null,
        voidOnFailure,
        more,
      })
      return collect(context, id, { voidOnFailure, offSession: true })
    },
    async payInvoice(id, customer) {
      const invoice = await stripe.invoices.retrieve(id)
      if (idOf(invoice.customer) !== customer) return null
      return collect(context, id, { voidOnFailure: false, offSession: false })
    },
    async amountOwed({ raw }) {
      const subscription = raw as Stripe.Subscription
      const owed = await listOwed(context, subscription)
      const sum = owed.reduce((all, each) => all + each.amount_remaining, 0)
      return money(sum, subscription.currency)
    },
    async payNow({ raw }) {
      const subscription = raw as Stripe.Subscription
      for (const { id, status } of inOrder(subscription, await listOwed(context, subscription))) {
        if (status === 'draft') await finalize(context, id)
        // The customer is there, so the bank may ask.
        await payOnce(context, id, { offSession: false })
      }
    },
  }
}

/**
 * Oldest first. Of one that is `unpaid` Stripe leaves every further bill a draft, and opens it again with the newest one alone:
 * so that is owed, and those of the time between are not.
 */
async function listOwed(
  { stripe }: StripeContext,
  { id: subscription, status, latest_invoice }: Stripe.Subscription,
): Promise<Stripe.Invoice[]> {
  const owed: Stripe.Invoice[] = []
  for await (const invoice of stripe.invoices.list({ subscription, status: 'open', limit: 100 })) {
    owed.unshift(invoice)
  }
  const newest = status === 'unpaid' ? idOf(latest_invoice) : null
  if (newest === null || owed.some(({ id }) => id === newest)) return owed
  const invoice = await stripe.invoices.retrieve(newest)
  return invoice.status === 'draft' ? [...owed, invoice] : owed
}

/** Oldest first; of one that is `unpaid` the one first that opens it: a card that is good for one bill ends the lockout. */
function inOrder(
  { status, latest_invoice }: Stripe.Subscription,
  owed: readonly Stripe.Invoice[],
): Stripe.Invoice[] {
  const opening = status === 'unpaid' ? idOf(latest_invoice) : null
  const isFirst = ({ id }: Stripe.Invoice) => id === opening
  return [...owed.filter(isFirst), ...owed.filter((invoice) => !isFirst(invoice))]
}

/** The invoice of a key, or a new one; finalized, with its one line. */
async function openInvoice(context: StripeContext, wanted: Wanted): Promise<Stripe.Invoice> {
  const { stripe } = context
  const { item } = wanted
  const invoice = (await findOpen(context, wanted)) ?? (await create(context, wanted))
  if (invoice.status !== 'draft') return invoice
  if (invoice.lines.data.length === 0) {
    await stripe.invoiceItems.create({
      customer: wanted.customer,
      invoice: invoice.id,
      ...item.amount,
      description: item.description,
    })
  }
  // From here Stripe goes on trying to collect it, unless it is to be voided when we cannot.
  const terms = { auto_advance: !wanted.voidOnFailure }
  try {
    return await stripe.invoices.finalizeInvoice(invoice.id, terms)
  } catch (error) {
    // Under a key the next call goes on with the draft; any other is of no use to anybody.
    const isUntaxable = isBillingError(toBillingError(error), 'tax_location_unknown')
    if (isUntaxable && wanted.key === null) await stripe.invoices.del(invoice.id)
    throw error
  }
}

/** One that we voided after a failure is done with; everything else under a key is the one it is for. */
async function findOpen(context: StripeContext, wanted: Wanted): Promise<Stripe.Invoice | null> {
  const [newest] = await findByKey(context, wanted)
  if (!newest) return null
  const [line] = newest.lines.data
  const { amount } = wanted.item
  const isOther =
    line &&
    (line.amount !== amount.amount ||
      newest.currency !== amount.currency ||
      line.description !== wanted.item.description)
  if (isOther) throw usedForSomethingElse(`the invoice ${newest.id}`)
  if (newest.status !== 'void') return newest
  if (newest.metadata?.tollgate_voided !== undefined) return null
  throw usedForSomethingElse(`the invoice ${newest.id}, which was voided`)
}

/** Newest first. */
async function findByKey(
  { stripe }: StripeContext,
  { customer, key }: Wanted,
): Promise<Stripe.Invoice[]> {
  const found: Stripe.Invoice[] = []
  if (key === null) return found
  for await (const invoice of stripe.invoices.list({ customer, limit: 100 })) {
    if (invoice.metadata?.tollgate_key === key) found.push(invoice)
  }
  return found
}

async function create(context: StripeContext, wanted: Wanted): Promise<Stripe.Invoice> {
  const { customer, item, key, more } = wanted
  const before = (await findByKey(context, wanted)).length
  // Excluding what is pending: a proration waiting for the next renewal is not swept along.
  const params: Stripe.InvoiceCreateParams = {
    ...more,
    customer,
    currency: item.amount.currency,
    auto_advance: false,
    pending_invoice_items_behavior: 'exclude',
    ...(key === null ? {} : { metadata: { ...(more.metadata || {}), tollgate_key: key } }),
  }
  return once(
    `${key ?? randomUUID()}:invoice:${before}`,
    (request) => context.stripe.invoices.create(params, request),
    async () => {
      const all = await findByKey(context, wanted)
      return all.length > before ? (all[0] ?? null) : null
    },
  )
}

/** Tries to pay it, and says what came of it: its own state decides, never an answer that was lost. */
async function collect(
  context: StripeContext,
  id: string,
  { voidOnFailure, offSession }: { readonly voidOnFailure: boolean; readonly offSession: boolean },
): Promise<InvoiceOutcome> {
  const { stripe } = context
  const describe = async () => {
    const invoice = await stripe.invoices.retrieve(id)
    const subscription = idOf(invoice.parent?.subscription_details?.subscription)
    return { invoice: await completeInvoice(context, invoice), subscription }
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

/** Paying what is paid is an error at Stripe, and none here. An invoice is paid once, whoever tries. */
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
