import type { Owner } from '../../core/values/owner.ts'
import type { MailWords, NoticeKind } from '../../core/words/words.ts'

/** A file attached to mail. */
export interface MailAttachment {
  /** The file name. */
  readonly name: string
  /** The media type, such as `application/pdf`. */
  readonly type: string
  /** The content of the file. */
  readonly body: Uint8Array
}

/** Rendered mail, ready to be sent. */
export interface MailMessage {
  /** Identifies the mail in repeated attempts. Suitable as an idempotency key of a mail service. */
  readonly id: string
  /** The kind of mail, such as `receipt`. */
  readonly kind: NoticeKind
  /** The e-mail address in the owner's row. */
  readonly to: string
  /** The language, such as `de`. */
  readonly locale: string
  /** The subject, in one line. */
  readonly subject: string
  /** The content as plain text. */
  readonly text: string
  /** The content as a complete HTML page. */
  readonly html: string
  /** The owner to whom it is sent. */
  readonly owner: Owner
  /**
   * Returns the invoice of a receipt as PDF, which is rendered on this call. Other mail has no
   * attachments.
   */
  attachments(): Promise<MailAttachment[]>
}

/** Mail to customers. The vendor and product come from the option `invoice`. */
export interface MailOptions {
  /** Sends mail. If it throws, it is called again later with the same `id`. */
  send(message: MailMessage): Promise<unknown>
  /** The kinds of mail to send. Default: all. */
  readonly only?: readonly NoticeKind[]
  /**
   * Returns the URL of your page for the button, on which the customer changes the card, confirms a
   * payment, or manages the subscription.
   */
  link?(kind: NoticeKind, owner: Owner): string | null | undefined
  /** Replacements for our texts, by language: `{ de: { closing: 'Tschüß' } }`. */
  readonly words?: Readonly<Record<string, Partial<MailWords>>>
}
