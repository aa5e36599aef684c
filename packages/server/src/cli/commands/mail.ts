import { randomUUID } from 'node:crypto'
import { connectMailServer } from '../../demo/connect-providers.ts'
import { createSmtpTransport, explainSmtpError } from '../../mail/smtp.ts'
import { composeTestMail } from '../../mail/test-mail.ts'
import { isEmail } from '../../users/parse.ts'
import { type Commands, command } from '../command.ts'
import { UsageError } from '../usage-error.ts'

export const mailCommands: Commands = {
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
      try {
        const mail = composeTestMail(config.settings.name)
        const response = await transport.send({ ...mail, id: `test-${randomUUID()}`, to })
        return {
          json: { sent: true, to, server: `${smtp.host}:${smtp.port}`, response },
          text: `${smtp.host}:${smtp.port} accepted the mail to ${to}: ${response}`,
        }
      } catch (error) {
        const { reason, fix } = explainSmtpError(error, smtp)
        return {
          json: { sent: false, to, server: `${smtp.host}:${smtp.port}`, reason, fix },
          text: `The mail was not sent. ${reason}\n→ ${fix}`,
          exitCode: 1,
        }
      } finally {
        transport.close()
      }
    },
  }),
}
