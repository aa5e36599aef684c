import { type MailAttachment, MailRejected } from '@tollgate/billing'
import type { SmtpSettings } from '../config/config.ts'
import { isEmail } from '../users/parse.ts'

/** A mail to send, of any kind. */
export interface OutgoingMail {
  /** Identifies the mail. It is the same in every attempt, and becomes the `Message-ID`. */
  readonly id: string
  /** The recipient's address. */
  readonly to: string
  /** The language of the mail, such as `de`. */
  readonly locale: string
  readonly subject: string
  readonly text: string
  readonly html: string
  attachments(): Promise<readonly MailAttachment[]>
}

/** A connection pool to a mail server. */
export interface SmtpTransport {
  /**
   * Sends one mail. Returns the server's response once the server has accepted it.
   * @throws MailRejected if the server refuses the recipient or the content permanently (5xx).
   * @throws Error for every other failure, after which the mail can be sent again.
   */
  send(mail: OutgoingMail): Promise<string>
  /** Connects and signs in, without sending anything. */
  verify(): Promise<void>
  close(): void
}

/** Time limits for a mail server, in milliseconds. */
export interface SmtpTimeouts {
  /** Time limit until the connection is open. */
  readonly connection: number
  /** Time limit until the server's greeting. */
  readonly greeting: number
  /**
   * Time limit until the next response. Servers that scan a mail before they accept it can need
   * more than a minute, and giving up then would send the mail twice.
   */
  readonly response: number
  /** Time limit for the whole mail. */
  readonly total: number
}

const TIMEOUTS: SmtpTimeouts = {
  connection: 10_000,
  greeting: 15_000,
  response: 120_000,
  total: 180_000,
}

/**
 * Creates a transport that connects when it is first used. Nodemailer is loaded then, so that a
 * service without a mail server never loads it.
 */
export function createSmtpTransport(
  settings: SmtpSettings,
  overrides: Partial<SmtpTimeouts> = {},
): SmtpTransport {
  const timeouts = { ...TIMEOUTS, ...overrides }
  let opened: ReturnType<typeof openPool> | null = null
  const open = () => {
    opened ??= openPool(settings, timeouts)
    return opened
  }
  return {
    async send(mail) {
      if (!isEmail(mail.to)) throw new MailRejected('The recipient is not a valid e-mail address')
      const attachments = await mail.attachments()
      const pool = await open()
      try {
        const { response } = await pool.sendMail({
          ...composeHeaders(settings, mail),
          subject: mail.subject,
          text: mail.text,
          html: mail.html,
          attachments: attachments.map(({ name, type, body }) => ({
            filename: name,
            contentType: type,
            content: Buffer.from(body),
          })),
          signal: AbortSignal.timeout(timeouts.total),
        })
        return response
      } catch (error) {
        throw toMailError(error)
      }
    },
    async verify() {
      await (await open()).verify()
    },
    close() {
      opened?.then(
        (pool) => pool.close(),
        () => {},
      )
      opened = null
    },
  }
}

async function openPool(settings: SmtpSettings, timeouts: SmtpTimeouts) {
  const { host, port, isImplicitTls, needsTls, auth } = settings
  const { createTransport } = await import('nodemailer')
  return createTransport({
    pool: true,
    host,
    port,
    secure: isImplicitTls,
    requireTLS: needsTls && !isImplicitTls,
    ignoreTLS: !needsTls && !isImplicitTls,
    // Without forceAuth, a server that offers no sign-in would get the mail anyway.
    ...(auth && { auth, forceAuth: true }),
    tls: { minVersion: 'TLSv1.2' },
    connectionTimeout: timeouts.connection,
    dnsTimeout: timeouts.connection,
    greetingTimeout: timeouts.greeting,
    socketTimeout: timeouts.response,
    maxConnections: 4,
    // Only for connections that the server closed while they were idle: nothing was sent yet.
    maxRequeues: 1,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

function composeHeaders({ from }: SmtpSettings, { id, to, locale }: OutgoingMail) {
  const domain = new URL(`http://${from.address.slice(from.address.lastIndexOf('@') + 1)}`).hostname
  return {
    from: { ...from },
    to: { name: '', address: to },
    messageId: `<${id.replace(/[^\w.-]/g, '-')}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': locale },
  }
}

/** An error of Nodemailer. */
interface SmtpError extends Error {
  /** Such as `EAUTH`, or an error code of Node. */
  readonly code?: string
  /** The command that failed: `CONN`, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, `DATA`. */
  readonly command?: string
  /** The server's response. */
  readonly response?: string
  /** Whether the server refused permanently. */
  readonly permanent?: boolean
}

/**
 * Turns a permanent refusal of the recipient or the content into `MailRejected`. A refused sender or
 * password is a mistake in the settings, so that the mail waits until it is corrected.
 */
function toMailError(error: unknown): unknown {
  const { permanent, command, message, response } = error as SmtpError
  if (!permanent || (command !== 'RCPT TO' && command !== 'DATA')) return error
  return new MailRejected(response ?? message, { cause: error })
}

/** Explains in one sentence each why mail cannot be sent, and how to fix it. */
export function explainSmtpError(
  error: unknown,
  { host, port }: SmtpSettings,
): { readonly reason: string; readonly fix: string } {
  const { code, command, message } = error as SmtpError
  const found = (code && FIXES[code]) ?? (command && FIXES[command]) ?? null
  const fix = /certificate|self-signed|altnames/i.test(message) ? UNTRUSTED : (found ?? UNREACHABLE)
  return { reason: `${host}:${port}: ${message}`, fix }
}

const UNREACHABLE =
  'Check the host and port in TOLLGATE_SMTP_URL, and whether the network allows outgoing connections to it: many block port 25, so use 587 (smtp:) or 465 (smtps:).'
const UNTRUSTED =
  'Use the host name that is in the certificate of the mail server. For a certificate authority of your own, set NODE_EXTRA_CA_CERTS to its PEM file.'
const FIXES: Readonly<Record<string, string>> = {
  EAUTH:
    'Check the user and password in TOLLGATE_SMTP_URL. Special characters must be percent-encoded, such as @ as %40. Some providers need a password for applications.',
  ETLS: 'Use the port at which the server offers STARTTLS (usually 587), or smtps:// for port 465. On a network that you trust, TOLLGATE_SMTP_TLS=off sends mail unencrypted.',
  'MAIL FROM': 'Set TOLLGATE_MAIL_FROM to an address that this account may send from.',
}
