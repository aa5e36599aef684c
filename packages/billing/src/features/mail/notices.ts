import type { Database } from '@tollgate/database'
import { BillableUser } from '../../billable-user.ts'
import type { BillingContext } from '../../core/context.ts'
import type { AnyBillingEvent, BillingEventType } from '../../core/events/billing-event.ts'
import type { EventConsumer } from '../../core/events/event-stream.ts'
import { deriveEventId } from '../../core/storage/events.ts'
import { purgeInBatches } from '../../core/storage/queue.ts'
import type { QueuePageOptions } from '../../core/storage/queue-pages.ts'
import type { BilledOwner } from '../../core/storage/tables.ts'
import { findLocale, requireLocale } from '../../core/values/locale.ts'
import type { MailKind } from '../../core/words/words.ts'
import { createBackOffSchedule, createWorker } from '../../core/worker.ts'
import { createWorkerSettings } from '../../options.ts'
import { readCustomerDetailsFromRow } from '../customers/customer.ts'
import { findOwnerLocale } from '../customers/locale-of.ts'
import { renderInvoiceFile } from '../invoices/download.ts'
import type { InvoiceSeller } from '../invoices/pdf-options.ts'
import {
  isMailRejected,
  type MailAttachment,
  type MailMessage,
  type MailOptions,
} from './mail-options.ts'
import { createMailRepository, type MailState, type QueuedMail } from './mail-rows.ts'
import { type MailDetails, type RenderedMail, renderMail } from './render-mail.ts'

/** The queue of mail to customers. */
export interface MailQueue {
  /** Lists mail that was not sent yet. */
  pending(limit?: number): Promise<QueuedMail[]>
  /** Lists mail that was given up after all attempts. */
  deadLetters(limit?: number): Promise<QueuedMail[]>
  /**
   * Lists mail that was being sent when its process crashed, so that it may have arrived. It is not
   * sent again unless you call `retry()`.
   */
  unknown(limit?: number): Promise<QueuedMail[]>
  /** Lists one page of the mail in this state, sorted by due date, latest first. */
  page(state: MailState, options?: QueuePageOptions): Promise<QueuedMail[]>
  /** Finds mail in the queue. `null` if there is none with this id. */
  find(id: number): Promise<QueuedMail | null>
  /**
   * Sends mail again that `deadLetters()` or `unknown()` lists. Returns `false` if neither of them
   * lists mail with this id.
   */
  retry(id: number): Promise<boolean>
  /** Renders mail without sending it, for a preview or to send it in another way. */
  render(kind: MailKind, facts: MailDetails, locale: string): RenderedMail
}

export interface MailSender extends MailQueue {
  /** Sends the mail that is due now. */
  process(): Promise<void>
  /** Consumer of billing events, which queues the mail for each event. */
  readonly consumer: EventConsumer
  stop(): Promise<void>
}

/**
 * Creates the queue of mail to customers. At most one mail of each kind is sent about an object
 * such as an invoice, even if its event is emitted again.
 */
export function createMailQueue(
  context: BillingContext,
  mail: MailOptions,
  ready: () => Promise<void>,
): MailSender {
  const { options } = context
  const notices = createMailRepository(options.database)
  const settings = createWorkerSettings(options, ready)
  const backOff = createBackOffSchedule(settings)
  const worker = createWorker(settings, {
    what: 'mail',
    retryAt: (attempts, now, error) => (isMailRejected(error) ? null : backOff(attempts, now)),
    queue: notices,
    nameOf: ({ kind, subject }) => `${kind} (${subject})`,
    async work(notice) {
      const message = await renderQueuedMail(context, mail, notice)
      if (message && (await notices.beginSending(notice.id))) await mail.send(message)
    },
  })
  return {
    consumer: {
      wants: (type) => isWanted(mail, MAIL_KIND_BY_EVENT[type]),
      async handle(event) {
        const kind = MAIL_KIND_BY_EVENT[event.type]
        const subject = findMailTopic(
          event,
          isWanted(mail, MAIL_KIND_BY_EVENT['invoice.action_required']),
        )
        if (!kind || subject === null) return
        const notice = { provider: event.provider, kind, subject, eventId: event.id }
        await notices.add(notice, options.clock.now(), options.database)
        worker.kick()
      },
    },
    process: () => worker.process(),
    pending: (limit = 100) => notices.list('pending', limit),
    deadLetters: (limit = 100) => notices.list('dead', limit),
    unknown: (limit = 100) => notices.list('sending', limit),
    page: notices.page,
    find: notices.find,
    async retry(id) {
      const found = await notices.retry(id, options.clock.now())
      worker.kick()
      return found
    },
    render(kind, facts, locale) {
      const tag = requireLocale('locale', locale)
      return renderMail(kind, facts, tag, findCustomMailWords(mail, tag))
    },
    stop: () => worker.stop(),
  }
}

/**
 * Deletes mail from the queue that was finished before this time, even if the option `mail` is no
 * longer set. Returns the number of deleted rows.
 */
export async function purgeMail(database: Database, deleteBefore: Date): Promise<number> {
  const notices = createMailRepository(database)
  let deleted = 0
  for (const state of ['done', 'dead', 'sending'] as const) {
    deleted += await purgeInBatches((limit) => notices.purge(state, deleteBefore, limit))
  }
  return deleted
}

function isWanted({ only }: MailOptions, kind: MailKind | undefined): boolean {
  return kind !== undefined && (only?.includes(kind) ?? true)
}

/**
 * Renders queued mail. `null` if it cannot be sent: the event or owner is gone, or has no address.
 */
async function renderQueuedMail(
  context: BillingContext,
  mail: MailOptions,
  notice: QueuedMail,
): Promise<MailMessage | null> {
  const event = await context.events.find(notice.eventId)
  const billed = event && (await context.owners.find(event.owner))
  const described = billed ? readCustomerDetailsFromRow(context, billed) : null
  const { invoice: seller } = context.options
  if (!event || !billed || !described?.email || !seller) return null
  const { email: to, name = null } = described
  const kind = notice.kind as MailKind
  const { owner } = billed
  const locale = await findOwnerLocale(context, billed)
  const facts = readMailDetails(event)
  const { vendor, vendorDetails, product } = seller
  const url = mail.link?.(kind, owner) ?? facts.url ?? null
  const rendered = renderMail(
    kind,
    { ...facts, vendor, vendorDetails, product, name, url },
    locale,
    findCustomMailWords(mail, locale),
  )
  return {
    id: deriveEventId({ type: kind, subject: `${notice.provider}:${notice.subject}` }),
    ...{ kind, to, locale, owner },
    ...rendered,
    attachments: () => createInvoiceAttachments(context, billed, event, { ...seller, locale }),
  }
}

function findCustomMailWords({ words = {} }: MailOptions, locale: string) {
  const own = Object.entries(words)
  const { language } = new Intl.Locale(locale)
  const of = (wanted: string) => own.find(([name]) => findLocale(name) === wanted)?.[1]
  return of(locale) ?? of(language) ?? {}
}

async function createInvoiceAttachments(
  context: BillingContext,
  billed: BilledOwner,
  event: AnyBillingEvent,
  seller: InvoiceSeller & { readonly locale: string },
): Promise<MailAttachment[]> {
  if (event.type !== 'invoice.paid') return []
  const found = await new BillableUser(context, billed).findInvoice(event.data.invoice.id)
  return found ? [await renderInvoiceFile(found, seller)] : []
}

/** The kind of mail that is sent for each type of billing event. */
export const MAIL_KIND_BY_EVENT: Readonly<Partial<Record<BillingEventType, MailKind>>> = {
  'invoice.paid': 'receipt',
  'invoice.payment_failed': 'payment_failed',
  'invoice.action_required': 'action_required',
  'trial.ending': 'trial_ending',
  'card.expiring': 'card_expiring',
  'refund.created': 'refunded',
}

/**
 * Returns the key of the object that the mail for an event is about, such as an invoice id: at most
 * one mail of each kind is sent about it. `null` if no mail is sent. `asksToConfirm`: whether mail
 * of kind `action_required` is sent.
 */
export function findMailTopic(event: AnyBillingEvent, asksToConfirm: boolean): string | null {
  switch (event.type) {
    case 'invoice.paid':
      // A trial starts with an invoice over zero.
      return event.data.invoice.total.amount === 0 ? null : event.data.invoice.id
    case 'invoice.payment_failed':
      // The customer is asked to confirm the payment instead of changing the card.
      if (event.data.awaitsCustomer && asksToConfirm) return null
      return `${event.data.invoice.id}:${event.data.attempt ?? 0}`
    case 'invoice.action_required':
      // Includes the attempt, so that each of the bank's requests is announced. Payments started by
      // the customer do not count as attempts.
      return `${event.data.invoice.id}:${event.data.attempt ?? 0}`
    case 'refund.created':
      return event.data.refund.id
    default:
      return event.id
  }
}

/** Returns the data of a billing event that its mail contains. */
export function readMailDetails(
  event: AnyBillingEvent,
): Omit<MailDetails, 'vendor' | 'vendorDetails' | 'product'> {
  switch (event.type) {
    case 'invoice.paid': {
      const { number, total, date } = event.data.invoice
      return { number, amount: total, date: new Date(date) }
    }
    case 'invoice.payment_failed': {
      const { invoice, nextAttemptAt } = event.data
      const date = nextAttemptAt === null ? null : new Date(nextAttemptAt)
      return { number: invoice.number, amount: invoice.amountDue, date }
    }
    case 'invoice.action_required': {
      const { invoice, url } = event.data
      return { number: invoice.number, amount: invoice.amountDue, url }
    }
    case 'trial.ending': {
      const { subscription, endsAt } = event.data
      return { date: new Date(endsAt), isBilledAfterwards: subscription !== null }
    }
    case 'card.expiring': {
      const { brand, lastFour, expires } = event.data
      return { card: [brand, lastFour].filter(Boolean).join(' '), month: expires }
    }
    case 'refund.created':
      return { amount: event.data.refund.amount }
    default:
      return {}
  }
}
