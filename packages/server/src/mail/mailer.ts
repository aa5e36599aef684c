import { isMailRejected } from '@tollgate/billing'
import type { Config, SmtpSettings } from '../config/config.ts'
import type { ServiceMail } from '../config/shapes.ts'
import { createSmtpTransport } from './smtp.ts'

/** Outcome of an attempt to send mail. */
export type MailOutcome = 'sent' | 'rejected' | 'failed'

/** Sends mail in the way that the configuration says. */
export interface Mailer {
  send(message: ServiceMail): Promise<unknown>
  /** Closes the connections. Mail that is being sent is sent first. */
  close(): void
}

export interface MailerOptions {
  readonly config: Config
  /**
   * The mail server. `null` sends no mail.
   * @default that of the configuration
   */
  readonly smtp?: SmtpSettings | null | undefined
  /** Called after each attempt, with the kind of the mail. */
  readonly onAttempt?: ((kind: string, outcome: MailOutcome) => void) | undefined
}

/** Creates the mailer of the service. `null` if no mail is sent. */
export function createMailer({ config, smtp, onAttempt }: MailerOptions): Mailer | null {
  const sender = chooseSender(config, smtp)
  if (!sender) return null
  return {
    async send(message) {
      try {
        await sender.send(message)
        onAttempt?.(message.kind, 'sent')
      } catch (error) {
        onAttempt?.(message.kind, isMailRejected(error) ? 'rejected' : 'failed')
        throw error
      }
    },
    close: sender.close,
  }
}

function chooseSender(
  config: Config,
  smtp: SmtpSettings | null | undefined,
): Pick<Mailer, 'send' | 'close'> | null {
  const { mail } = config.settings
  const { send } = mail ?? {}
  if (mail && send) return { send: (message) => send.call(mail, message), close() {} }
  const server = smtp === undefined ? config.smtp : smtp
  if (server) return createSmtpTransport(server)
  // A command of a demo that is not running. The mail stays queued until the demo starts.
  return config.mode === 'demo' && smtp === undefined ? NO_MAILBOX : null
}

const NO_MAILBOX: Pick<Mailer, 'send' | 'close'> = {
  async send() {
    throw new Error('The mailbox of the demo is not running')
  },
  close() {},
}
