import type { MovableClock } from '../core/clock/clock.ts'

/** An e-mail in the sandbox's mailbox. */
export interface SandboxMail {
  /** Id in the mailbox, such as `mail_1`. */
  readonly id: string
  /** Time of the sandbox's clock at which the mail arrived. */
  readonly receivedAt: Date
  /** The envelope's sender. Empty for bounces. */
  readonly from: string
  /** The envelope's recipients. */
  readonly to: readonly string[]
  /** The subject line, decoded. */
  readonly subject: string
  /** Content as plain text. `null` if there is none. */
  readonly text: string | null
  /** Content as HTML. `null` if there is none. */
  readonly html: string | null
  /** The header fields in their order, decoded. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** The attached files. */
  readonly attachments: readonly SandboxMailAttachment[]
  /** The complete message as it was received. */
  readonly raw: string
  /** Whether the connection was encrypted. */
  readonly isSecure: boolean
  /** The user who signed in to the mail server. `null` without a sign-in. */
  readonly user: string | null
}

/** A file attached to mail in the sandbox's mailbox. */
export interface SandboxMailAttachment {
  /** The file name. */
  readonly name: string
  /** The media type, such as `application/pdf`. */
  readonly type: string
  /** The content of the file. */
  readonly content: Uint8Array
}

/**
 * Ways in which the mail server can fail.
 * - `away`: it closes all connections, and each new one at once.
 * - `busy`: it refuses each recipient with 451, so that the mail can be sent again later.
 * - `unknown-recipient`: it refuses each recipient permanently, with 550.
 * - `refused-content`: it refuses each mail permanently after its content, with 554.
 * - `lost-response`: it accepts the mail, and closes the connection without a response.
 * - `{ slowMs }`: it accepts the mail, and responds after this many milliseconds of real time.
 */
export type MailFault =
  | 'away'
  | 'busy'
  | 'unknown-recipient'
  | 'refused-content'
  | 'lost-response'
  | {
      /** Delay of the response in real milliseconds. */
      readonly slowMs: number
    }

/**
 * The mailbox of the sandbox's mail server, which receives the mail to every address. It is kept in
 * memory: neither a snapshot nor the state file contains it.
 */
export interface SandboxMailbox {
  /** URL of the mail server, such as `smtp://127.0.0.1:40025`. */
  readonly url: string
  /** Lists the mail that arrived, oldest first. */
  messages(): readonly SandboxMail[]
  /** Finds mail by its id. `null` if there is none. */
  find(id: string): SandboxMail | null
  /** Deletes all mail. */
  deleteAll(): void
  /**
   * Makes the mail server fail: for the next `count` mails (connections, for the fault `away`), or
   * until `recover()` is called.
   */
  fail(fault: MailFault, count?: number): void
  /** Returns the present fault of the mail server. `null` if it works. */
  fault(): MailFault | null
  /** Ends the simulated fault of the mail server. */
  recover(): void
}

type ReceivedMail = Omit<SandboxMail, 'id' | 'receivedAt'>

/**
 * Keeps the mail that arrived at the sandbox, and the fault that the mail server simulates at
 * present.
 */
export class MailStore {
  readonly #clock: MovableClock
  readonly #kept: number
  #messages: SandboxMail[] = []
  #number = 0
  #fault: { readonly kind: MailFault; left: number } | null = null

  constructor(clock: MovableClock, kept: number) {
    this.#clock = clock
    this.#kept = kept
  }

  add(mail: ReceivedMail): void {
    const id = `mail_${++this.#number}`
    this.#messages.push({ id, receivedAt: this.#clock.now(), ...mail })
    if (this.#messages.length > this.#kept) this.#messages.shift()
  }

  messages(): readonly SandboxMail[] {
    return [...this.#messages]
  }

  find(id: string): SandboxMail | null {
    return this.#messages.find((mail) => mail.id === id) ?? null
  }

  deleteAll(): void {
    this.#messages = []
  }

  fail(kind: MailFault, count = Number.POSITIVE_INFINITY): void {
    this.#fault = count > 0 ? { kind, left: count } : null
  }

  fault(): MailFault | null {
    return this.#fault?.kind ?? null
  }

  recover(): void {
    this.#fault = null
  }

  /** Returns the present fault if `isMatch` accepts it, and counts one occurrence of the fault. */
  take<Kind extends MailFault>(isMatch: (fault: MailFault) => fault is Kind): Kind | null {
    const fault = this.#fault
    if (!fault || !isMatch(fault.kind)) return null
    fault.left--
    if (fault.left <= 0) this.#fault = null
    return fault.kind
  }
}
