import type { Database } from '@tollgate/database'
import type { BillingContext } from '../context.ts'
import { describedByRow } from '../customers/described-by-row.ts'
import { localeOf } from '../customers/locale-of.ts'
import type { AnyBillingEvent } from '../events/billing-event.ts'
import type { EventConsumer } from '../events/event-stream.ts'
import { createWorker } from '../events/worker.ts'
import { invoiceFile } from '../invoices/download.ts'
import type { MailAttachment, MailMessage, MailOptions } from '../mail/mail-options.ts'
import { type MailFacts, type RenderedMail, renderMail } from '../mail/render-mail.ts'
import { type InvoiceSeller, workerSettings } from '../options.ts'
import { eventIdOf } from '../storage/queues/events.ts'
import { noticeRepository, type StoredNotice } from '../storage/queues/notices.ts'
import { purgeAll } from '../storage/queues/queue.ts'
import type { BilledOwner } from '../storage/tables.ts'
import { BillableUser } from '../users/billable-user.ts'
import { findLocale, requireLocale } from '../values/locale.ts'
import type { NoticeKind } from '../words/words.ts'
import { factsOf, KINDS, subjectOf } from './notice-of-event.ts'

/** Mail on its way out. */
export interface Notices {
  /** Sends what is due now. */
  process(): Promise<void>
  /** Not sent yet. */
  pending(limit?: number): Promise<StoredNotice[]>
  /** Given up on after all attempts. */
  deadLetters(limit?: number): Promise<StoredNotice[]>
  /** Handed over by a process that died before it knew: sent or not. Nobody sends it again unless told to. */
  unknown(limit?: number): Promise<StoredNotice[]>
  /** Makes a dead letter due again, or one of which nobody knows. */
  retry(id: number): Promise<boolean>
  /** What a mail would say: to look at it, or to send it by another way. */
  render(kind: NoticeKind, facts: MailFacts, locale: string): RenderedMail
}

export interface NoticeSender extends Notices {
  /** Puts mail here when something happened. */
  readonly consumer: EventConsumer
  stop(): Promise<void>
}

/** Each mail goes out at most once for what it is about, however often its event is told. */
export function createNotices(
  context: BillingContext,
  mail: MailOptions,
  ready: () => Promise<void>,
): NoticeSender {
  const { options } = context
  const notices = noticeRepository(options.database)
  const worker = createWorker(workerSettings(options, ready), {
    what: 'mail',
    queue: notices,
    nameOf: ({ kind, subject }) => `${kind} (${subject})`,
    async work(notice) {
      const message = await messageOf(context, mail, notice)
      if (message && (await notices.beginSending(notice.id))) await mail.send(message)
    },
  })
  return {
    consumer: {
      wants: (type) => isWanted(mail, KINDS[type]),
      async take(event) {
        const kind = KINDS[event.type]
        const subject = subjectOf(event, isWanted(mail, KINDS['invoice.action_required']))
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
    async retry(id) {
      const found = await notices.retry(id, options.clock.now())
      worker.kick()
      return found
    },
    render(kind, facts, locale) {
      const tag = requireLocale('locale', locale)
      return renderMail(kind, facts, tag, wordsFor(mail, tag))
    },
    stop: () => worker.stop(),
  }
}

/** Also where no mail is configured any more. */
export async function purgeNotices(database: Database, before: Date): Promise<number> {
  const notices = noticeRepository(database)
  let deleted = 0
  for (const state of ['done', 'dead', 'sending'] as const) {
    deleted += await purgeAll((limit) => notices.purge(state, before, limit))
  }
  return deleted
}

function isWanted({ only }: MailOptions, kind: NoticeKind | undefined): boolean {
  return kind !== undefined && (only?.includes(kind) ?? true)
}

/** Null where nobody can be written to: the event is gone, or the owner, or they have no address. */
async function messageOf(
  context: BillingContext,
  mail: MailOptions,
  notice: StoredNotice,
): Promise<MailMessage | null> {
  const event = await context.events.find(notice.eventId)
  const billed = event && (await context.owners.find(event.owner))
  const described = billed ? describedByRow(context, billed) : null
  const { invoice: seller } = context.options
  if (!event || !billed || !described?.email || !seller) return null
  const { email: to, name = null } = described
  const kind = notice.kind as NoticeKind
  const { owner } = billed
  const locale = await localeOf(context, billed)
  const facts = factsOf(event)
  const { vendor, product } = seller
  const url = mail.link?.(kind, owner) ?? facts.url ?? null
  const rendered = renderMail(
    kind,
    { ...facts, vendor, product, name, url },
    locale,
    wordsFor(mail, locale),
  )
  return {
    id: eventIdOf({ type: kind, subject: `${notice.provider}:${notice.subject}` }),
    ...{ kind, to, locale, owner },
    ...rendered,
    attachments: () => attachmentsOf(context, billed, event, { ...seller, locale }),
  }
}

function wordsFor({ words = {} }: MailOptions, locale: string) {
  const own = Object.entries(words)
  const { language } = new Intl.Locale(locale)
  const of = (wanted: string) => own.find(([name]) => findLocale(name) === wanted)?.[1]
  return of(locale) ?? of(language) ?? {}
}

async function attachmentsOf(
  context: BillingContext,
  billed: BilledOwner,
  event: AnyBillingEvent,
  seller: InvoiceSeller & { readonly locale: string },
): Promise<MailAttachment[]> {
  if (event.type !== 'invoice.paid') return []
  const found = await new BillableUser(context, billed).findInvoice(event.data.invoice.id)
  return found ? [await invoiceFile(found, seller)] : []
}
