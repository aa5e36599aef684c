import type { BillingContext } from '../../core/context.ts'
import type { InvoiceEventData, NewBillingEvent } from '../../core/events/billing-event.ts'
import { createTaxLookup, readTax } from '../../core/tax.ts'
import { doesStandingGrantAccess } from '../../core/values/subscription-state.ts'
import type { EventObject } from '../../providers/webhook.ts'
import {
  buildCreditNoteCreatedEvent,
  buildInvoicePaidEvent,
  buildRefundCreatedEvent,
  type EventOrigin,
  toInvoiceEventData,
} from '../invoices/events.ts'
import type { InvoiceData } from '../invoices/invoice.ts'
import type { DefaultHandler, LockedOwnerEvent } from './default-handler.ts'

/**
 * Handles provider webhooks about invoices, refunds and credit notes, which our database does not
 * store, by recording events for the application's listeners. Sends no request if there is no
 * listener.
 */
export const handleInvoiceEvent: DefaultHandler = async (context, event) => {
  const { locked, subject } = event
  const told = subject.news
  if (!told || !context.events.isWanted(told.type)) return
  const events = await buildBillingEvents(context, event, told)
  if (events.length === 0) return
  await locked.lock.write(async (tx) => {
    for (const each of events) await context.events.record(tx, each)
  })
}

async function buildBillingEvents(
  context: BillingContext,
  event: LockedOwnerEvent,
  eventObject: EventObject,
): Promise<NewBillingEvent[]> {
  const { locked, gateway } = event
  const about: EventOrigin = { owner: locked.owner, provider: gateway.name }
  const customerId = (await context.owners.find(locked.owner))?.providerId
  if (!customerId) return []
  if (eventObject.type === 'refund.created') {
    const refunds = (await gateway.refunds?.list(eventObject.id)) ?? []
    return refunds
      .filter((each) => each.status !== 'failed')
      .map((each) => buildRefundCreatedEvent(about, each))
  }
  if (eventObject.type === 'credit_note.created') {
    const note = await gateway.creditNotes?.find(eventObject.id, customerId)
    return note ? [buildCreditNoteCreatedEvent(about, note)] : []
  }
  const found = await findInvoice(context, event, customerId)
  if (eventObject.type === 'invoice.paid') return found ? [buildInvoicePaidEvent(about, found)] : []
  return buildUnpaidInvoiceEvents(
    context,
    event,
    { about, customerId, found },
    { ...eventObject, type: eventObject.type },
  )
}

async function findInvoice(
  context: BillingContext,
  { locked, gateway, subject }: LockedOwnerEvent,
  customerId: string,
): Promise<InvoiceData | null> {
  const billed = await context.owners.find(locked.owner)
  if (!billed || !subject.news) return null
  const taxes = await context.taxes.listByOwner(locked.owner)
  const tax = await readTax(context, billed)
  return gateway.findInvoice(subject.news.id, customerId, createTaxLookup(taxes, tax))
}

type UnpaidInvoiceEvent = EventObject & {
  readonly type: 'invoice.payment_failed' | 'invoice.action_required' | 'invoice.voided'
}

interface InvoiceEventContext {
  readonly about: EventOrigin
  readonly customerId: string
  readonly found: InvoiceData | null
}

/**
 * Builds the events of an unpaid invoice, or none if it has been paid since. If the bank asks the
 * customer to confirm a renewal, the provider reports both the confirmation request and a failed
 * payment, in any order. `awaitsCustomer` marks the failure, so that the customer gets only one
 * mail.
 */
async function buildUnpaidInvoiceEvents(
  context: BillingContext,
  event: LockedOwnerEvent,
  { about, customerId, found }: InvoiceEventContext,
  told: UnpaidInvoiceEvent,
): Promise<NewBillingEvent[]> {
  if (found?.paid) return []
  const invoice = found
    ? toInvoiceEventData(found)
    : await describeFailedCharge(context, event, told)
  if (!invoice) return []
  const subject = `${about.provider}:${told.id}`
  const attempt = told.attempt ?? null
  const once = `${subject}:${attempt ?? 0}`
  const isAsked = async () =>
    !!(await event.gateway.confirmations?.findOfInvoice(told.id, customerId))
  switch (told.type) {
    case 'invoice.voided':
      return [{ ...about, type: told.type, subject, data: { invoice } }]
    case 'invoice.action_required': {
      const failed = await context.events.findAbout('invoice.payment_failed', once)
      if (failed && !failed.data.awaitsCustomer && !(await isAsked())) return []
      const data = { invoice, attempt, url: told.url ?? null }
      return [{ ...about, type: told.type, subject: once, data }]
    }
    case 'invoice.payment_failed': {
      const asked = await context.events.findAbout('invoice.action_required', once)
      const awaitsCustomer = asked !== null || (await isAsked())
      const nextAttemptAt = told.nextAttemptAt?.toISOString() ?? null
      const data = { invoice, attempt, nextAttemptAt, awaitsCustomer }
      const failed: NewBillingEvent = { ...about, type: told.type, subject: once, data }
      if (!awaitsCustomer || asked) return [failed]
      // The provider's own event about it may never arrive.
      const asks = { invoice, attempt, url: told.url ?? null }
      return [{ ...about, type: 'invoice.action_required', subject: once, data: asks }, failed]
    }
  }
}

/** Describes a failed charge that has no invoice, as long as the subscription owes it. */
async function describeFailedCharge(
  context: BillingContext,
  { gateway, subject }: LockedOwnerEvent,
  { id, amount }: UnpaidInvoiceEvent,
): Promise<InvoiceEventData | null> {
  if (!amount || subject.subscriptionId === null) return null
  const row = await context.subscriptions.findByProvider(gateway.name, subject.subscriptionId)
  if (!row || (doesStandingGrantAccess(row.standing) && row.standing !== 'past_due')) return null
  const date = context.options.clock.now().toISOString()
  return { id, number: id, date, total: amount, amountDue: amount }
}
