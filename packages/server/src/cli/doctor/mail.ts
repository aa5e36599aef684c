import type { Billing } from '@tollgate/billing'
import type { Config, SmtpSettings } from '../../config/config.ts'
import { createSmtpTransport, explainSmtpError } from '../../mail/smtp.ts'
import type { ServiceDatabase } from '../../storage/tables.ts'
import { formatCount } from '../count.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const CHECK = 'mail'

/** Reports mail about accounts that was given up. */
export async function checkAccountMail(database: ServiceDatabase): Promise<Finding[]> {
  const dead = await database.kysely
    .selectFrom('account_mails')
    .select('last_error')
    .where('state', '=', 'dead')
    .orderBy('due_at', 'desc')
    .limit(100)
    .execute()
  const [last] = dead
  if (!last) return []
  const count = formatCount(dead.length, 'mail about an account was', 'mails about accounts were')
  return [
    warning(
      CHECK,
      `${count} given up in the last days. The last error: ${last.last_error}`,
      'Check the addresses. See /admin/mail/accounts, where mail can be sent again, or let the people ask for it again.',
    ),
  ]
}

/** Reports whether people can register and recover their accounts, and what strangers learn. */
export function checkRegistration({ mode, smtp, settings }: Config): Finding[] {
  const check = 'registration'
  const { registration } = settings
  const hasServer = smtp !== null || settings.mail?.send !== undefined
  const fix = 'Set TOLLGATE_SMTP_URL and TOLLGATE_MAIL_FROM.'
  return [
    ...(!hasServer && mode === 'production'
      ? [
          warning(
            check,
            'People who forgot their password need an operator, because no mail is sent',
            fix,
          ),
        ]
      : []),
    ...(registration === 'open' && !hasServer && mode === 'production'
      ? [
          warning(
            check,
            'Registration tells whether an address has an account, because no mail is sent',
            fix,
          ),
        ]
      : []),
    ...(registration === 'invitation' && !hasServer && mode === 'production'
      ? [warning(check, 'Nobody can be invited, because no mail is sent', fix)]
      : []),
    ...(registration === 'open' && hasServer
      ? [ok(check, 'Registration does not tell whether an address has an account')]
      : []),
  ]
}

/** Checks the connection to the mail server, and reports mail that was not sent. */
export async function checkMail(
  { notices }: Billing,
  { mode, settings }: Config,
  smtp: SmtpSettings | null,
): Promise<Finding[]> {
  const route = smtp
    ? await checkServer(smtp)
    : settings.mail?.send
      ? ok(CHECK, 'Mail is sent by the function mail.send of the settings')
      : mode === 'demo'
        ? ok(CHECK, 'Mail goes to the mailbox of the sandbox while the demo is running')
        : ok(CHECK, 'No mail is sent, because TOLLGATE_SMTP_URL is not set')
  if (!notices) return [route]
  const [dead, unknown] = await Promise.all([notices.deadLetters(), notices.unknown()])
  const [last] = dead
  return [
    route,
    ...(last
      ? [
          problem(
            CHECK,
            `${formatCount(dead.length, 'mail was', 'mails were')} given up. The error of one of them: ${last.lastError}`,
            'See /admin/mail, where mail can be sent again.',
          ),
        ]
      : []),
    ...(unknown.length > 0
      ? [
          warning(
            CHECK,
            `${formatCount(unknown.length, 'mail', 'mails')} may not have been sent, because the process ended meanwhile`,
            'See /admin/mail, where mail can be sent again.',
          ),
        ]
      : []),
  ]
}

async function checkServer(smtp: SmtpSettings): Promise<Finding> {
  const transport = createSmtpTransport(smtp, { response: 15_000 })
  try {
    await transport.verify()
    const secured = smtp.needsTls || smtp.isImplicitTls ? 'over TLS' : 'without encryption'
    const signedIn = smtp.auth ? ', and accepts the user and password' : ''
    return ok(CHECK, `${smtp.host}:${smtp.port} responds ${secured}${signedIn}`)
  } catch (error) {
    const { reason, fix } = explainSmtpError(error, smtp)
    return problem(CHECK, reason, fix)
  } finally {
    transport.close()
  }
}
