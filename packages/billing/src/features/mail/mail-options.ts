import type { Owner } from '../../core/values/owner.ts'
import type { MailKind, MailWords } from '../../core/words/words.ts'

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
  /**
   * Id of the mail, which is the same in every attempt to send it. Use it as idempotency key of
   * your mail service.
   */
  readonly id: string
  /** The kind of mail, such as `receipt`. */
  readonly kind: MailKind
  /** The recipient: the e-mail address in the owner's row. */
  readonly to: string
  /** The language of the mail, such as `de`. */
  readonly locale: string
  /** The subject line of the mail. */
  readonly subject: string
  /** The content as plain text. */
  readonly text: string
  /** The content as a complete HTML page. */
  readonly html: string
  /** The owner (user or team) to whom the mail is sent. */
  readonly owner: Owner
  /**
   * Returns the attachments: for a receipt, the invoice as PDF, which is rendered by this call.
   * Other mail has none.
   */
  attachments(): Promise<MailAttachment[]>
}

/**
 * Thrown by the option `send` if the mail can never be delivered, for example because the
 * recipient's server does not know the address. The mail is given up without another attempt.
 */
export class MailRejected extends Error {
  override readonly name = 'MailRejected'
  /** Tells this error apart across bundles and copies of this package. */
  readonly code = 'mail_rejected'
}

/** Whether an error is a `MailRejected` of any copy of this package. */
export function isMailRejected(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'mail_rejected'
}

/**
 * Settings for mail to customers. The names of the vendor and the product come from the option
 * `invoice`.
 */
export interface MailOptions {
  /**
   * Sends one mail with your mail service. If it throws, it is called again later with the same
   * `id`. If it throws `MailRejected`, the mail is given up at once.
   */
  send(message: MailMessage): Promise<unknown>
  /** The kinds of mail to send. Default: all. */
  readonly only?: readonly MailKind[]
  /**
   * Returns the URL for the button in the mail: a page of your application where the customer
   * changes the card, confirms a payment, or manages the subscription. Without a URL, the mail has
   * no button.
   */
  link?(kind: MailKind, owner: Owner): string | null | undefined
  /** Texts that replace ours, by language: `{ de: { closing: 'Tschüß' } }`. */
  readonly words?: Readonly<Record<string, Partial<MailWords>>>
}

declare module '../../options.ts' {
  interface BillingOptions<User> {
    /**
     * Sends mail to customers: receipts, failed payments and others. Requires `invoice`, which names
     * the sender.
     */
    readonly mail?: MailOptions
  }

  interface ResolvedOptions {
    readonly mail: MailOptions | null
  }
}
