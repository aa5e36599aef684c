import { randomUUID } from 'node:crypto'
import { type AccountMailJson, MAIL_STATES, type MailJson } from '../../admin/operations/mail.ts'
import { AdminProblem } from '../../admin/problems.ts'
import { connectMailServer } from '../../demo/connect-providers.ts'
import { createSmtpTransport, explainSmtpError } from '../../mail/smtp.ts'
import { composeTestMail } from '../../mail/test-mail.ts'
import { isEmail } from '../../users/parse.ts'
import { type CommandContext, type Commands, command } from '../command.ts'
import { createLenientAudit, withDatabaseIfAny } from '../lenient-audit.ts'
import { type OpenOperations, withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { performAlone } from '../perform-alone.ts'
import { withPayments } from '../subscription.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

const LARGEST_PAGE = 100

const SUBJECTS = ['customers', 'accounts'] as const
const ABOUT = 'customers (mail of billing, the default) or accounts (such as forgotten passwords)'

async function listAboutAccounts(
  perform: OpenOperations['perform'],
  input: object,
  context: CommandContext,
) {
  const { data, next } = await perform<{
    data: readonly AccountMailJson[]
    next: string | null
  }>('mail.listAboutAccounts', input)
  if (next !== null) context.hint(`There is more mail: add --after ${next}`)
  const rows = data.map((mail) => [
    String(mail.id),
    mail.kind,
    mail.address,
    mail.state,
    String(mail.attempts),
    mail.due_at,
    mail.retry,
    mail.last_error ?? '',
  ])
  const headers = ['ID', 'KIND', 'TO', 'STATE', 'ATTEMPTS', 'DUE', 'RETRY', 'LAST ERROR']
  return { json: data, text: formatTable(headers, rows, 'There is no mail in this state') }
}

const describeDue = (queued: MailJson | AccountMailJson, what: string) => ({
  json: queued,
  text: `The mail ${queued.id} (${what}) is due now; a process of the service sends it.`,
})

export const mailCommands: Commands = {
  'mail list': command({
    summary: 'list mail in one state: by default mail that was given up',
    withConfig: true,
    options: {
      about: option.choice(SUBJECTS, '<name>', ABOUT),
      state: option.choice(MAIL_STATES, '<name>', `${MAIL_STATES.join(', ')} (default dead)`),
      limit: option.count('<number>', 'number of mails (default 25)', LARGEST_PAGE),
      after: option.text('<cursor>', 'continue after the previous page, with its cursor'),
    },
    run: ({ options: { about, ...options } }, context) =>
      withOperations(context, { onlyReads: true }, async ({ perform }) => {
        const given = Object.entries(options).filter(([, value]) => value !== null)
        if (about === 'accounts')
          return listAboutAccounts(perform, Object.fromEntries(given), context)
        const { data, next } = await perform<{ data: readonly MailJson[]; next: string | null }>(
          'mail.list',
          Object.fromEntries(given),
        )
        if (next !== null) context.hint(`There is more mail: add --after ${next}`)
        const rows = data.map((mail) => [
          String(mail.id),
          mail.kind,
          mail.subject,
          mail.state,
          String(mail.attempts),
          mail.due_at,
          mail.last_error ?? '',
        ])
        const headers = ['ID', 'KIND', 'SUBJECT', 'STATE', 'ATTEMPTS', 'DUE', 'LAST ERROR']
        return { json: data, text: formatTable(headers, rows, 'There is no mail in this state') }
      }),
  }),
  'mail retry': command({
    summary: 'send mail again that was given up or interrupted',
    withConfig: true,
    arguments: [{ name: 'id', description: 'the mail, from `tollgate mail list`' }],
    options: { about: option.choice(SUBJECTS, '<name>', ABOUT) },
    run: ({ args: [mail = ''], options: { about } }, context) =>
      about === 'accounts'
        ? withOperations(context, {}, async ({ perform }) => {
            const queued = await perform<AccountMailJson>('mail.retryAboutAccount', { mail })
            return describeDue(queued, `${queued.kind} to ${queued.address}`)
          })
        : withPayments(context, async ({ perform }) => {
            const queued = await perform<MailJson>('mail.retry', { mail })
            return describeDue(queued, `${queued.kind} ${queued.subject}`)
          }),
  }),
  'mail test': command({
    summary: 'send a test mail, to check the mail server',
    arguments: [{ name: '<address>', description: 'the recipient' }],
    async run({ args: [to = ''] }, context) {
      if (!isEmail(to)) throw new UsageError(`${to} is not an e-mail address`)
      const config = await context.config([])
      const smtp = await connectMailServer(config)
      if (!smtp) {
        throw new UsageError(
          config.mode === 'demo'
            ? 'The demo is not running, so it has no mailbox. Start it, or set TOLLGATE_SMTP_URL'
            : 'There is no mail server. Set TOLLGATE_SMTP_URL and TOLLGATE_MAIL_FROM',
        )
      }
      const transport = createSmtpTransport(smtp, { response: 30_000 })
      const server = `${smtp.host}:${smtp.port}`
      const mail = composeTestMail(config.settings.name)
      try {
        // A mail server can be set up before the database.
        const response = await withDatabaseIfAny(config, (database) =>
          performAlone<string>(
            context,
            { database, audit: createLenientAudit(database, config) },
            {
              name: 'mail.test',
              summary: 'Send a test mail',
              // Leaves out the recipient: personal data that could not be deleted with an account.
              details: () => ({ server }),
              work: () => transport.send({ ...mail, id: `test-${randomUUID()}`, to }),
            },
          ),
        )
        return {
          json: { sent: true, to, server, response },
          text: `${server} accepted the mail to ${to}: ${response}`,
        }
      } catch (error) {
        const { reason, fix } = explainSmtpError(
          error instanceof AdminProblem ? error.cause : error,
          smtp,
        )
        return {
          json: { sent: false, to, server, reason, fix },
          text: `The mail was not sent. ${reason}\n→ ${fix}`,
          exitCode: 1,
        }
      } finally {
        transport.close()
      }
    },
  }),
}
