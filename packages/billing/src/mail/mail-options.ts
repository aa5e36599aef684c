import type { Owner } from '../values/owner.ts'
import type { MailWords, NoticeKind } from '../words/words.ts'

/** A file that goes with a mail. */
export interface MailAttachment {
  /** Of the file. */
  readonly name: string
  /** Such as `application/pdf`. */
  readonly type: string
  /** What is in it. */
  readonly body: Uint8Array
}

/** A mail that is ready to be sent. */
export interface MailMessage {
  /** The same for the same mail: for a service that takes an idempotency key. */
  readonly id: string
  /** What it is about. */
  readonly kind: NoticeKind
  /** The address in the owner's row. */
  readonly to: string
  /** The language, such as `de`. */
  readonly locale: string
  /** One line. */
  readonly subject: string
  /** Without markup. */
  readonly text: string
  /** The same as a whole page. */
  readonly html: string
  /** Who gets it. */
  readonly owner: Owner
  /** The invoice of a receipt, as PDF; made when it is asked for. */
  attachments(): Promise<MailAttachment[]>
}

/** Mail to customers. Who sells, and what, is in the option `invoice`. */
export interface MailOptions {
  /** Hands a mail over. When it throws, it is called again later, with the same `id`. */
  send(message: MailMessage): Promise<unknown>
  /** Only these kinds. Default: all. */
  readonly only?: readonly NoticeKind[]
  /** A page of yours for the button: where a card is changed, a payment confirmed, a subscription looked after. */
  link?(kind: NoticeKind, owner: Owner): string | null | undefined
  /** Words of your own, by language: `{ de: { closing: 'Tschüß' } }`. */
  readonly words?: Readonly<Record<string, Partial<MailWords>>>
}
