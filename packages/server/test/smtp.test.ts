import { startSandbox } from '@tollgate/sandbox'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCertificate } from '../../../test-support/self-signed.ts'
import type { SmtpSettings } from '../src/config/config.ts'
import {
  createSmtpTransport,
  explainSmtpError,
  type OutgoingMail,
  type SmtpTimeouts,
} from '../src/mail/smtp.ts'

type MailSandbox = Awaited<ReturnType<typeof startSandbox<{ mail: true }>>>

let sandbox: MailSandbox
const closers: Array<() => unknown> = []
beforeAll(async () => {
  sandbox = await startSandbox({ mail: true })
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  sandbox.mail.recover()
  sandbox.mail.deleteAll()
})
afterAll(() => sandbox.close())

function settingsFor(url: string, more: Partial<SmtpSettings> = {}): SmtpSettings {
  const { protocol, hostname: host, port } = new URL(url)
  const from = { name: 'Example Ltd', address: 'billing@example.com' }
  const isImplicitTls = protocol === 'smtps:'
  return { host, port: Number(port), isImplicitTls, auth: null, needsTls: false, from, ...more }
}

function open(more: Partial<SmtpSettings> = {}, timeouts: Partial<SmtpTimeouts> = {}) {
  const transport = createSmtpTransport(settingsFor(sandbox.mail.url, more), timeouts)
  closers.push(() => transport.close())
  return transport
}

const mail = (more: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: 'evt_1',
  to: 'ada@example.com',
  locale: 'en',
  subject: 'Your receipt',
  text: 'Thank you.',
  html: '<p>Thank you.</p>',
  attachments: async () => [],
  ...more,
})

async function send(more: Partial<OutgoingMail> = {}, settings: Partial<SmtpSettings> = {}) {
  await open(settings).send(mail(more))
  const received = sandbox.mail.messages().at(-1)
  if (!received) throw new Error('No mail arrived')
  const header = (name: string) =>
    received.headers.filter((each) => each.name.toLowerCase() === name).map(({ value }) => value)
  return { ...received, header }
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error as Error,
  )

describe('a mail sent by SMTP', () => {
  it('has text, HTML, attachments, and a Message-ID that is the same in every attempt', async () => {
    const body = new TextEncoder().encode('%PDF-1.7')
    const file = { name: 'Rechnung Nº 1.pdf', type: 'application/pdf', body }
    const sent = await send({ subject: 'Ihre Quittung: 5 €', attachments: async () => [file] })
    expect(sent).toMatchObject({
      from: 'billing@example.com',
      to: ['ada@example.com'],
      subject: 'Ihre Quittung: 5 €',
      text: expect.stringContaining('Thank you.'),
      html: expect.stringContaining('<p>Thank you.</p>'),
      attachments: [{ name: 'Rechnung Nº 1.pdf', type: 'application/pdf', content: body }],
    })
    expect(sent.header('message-id')).toEqual(['<evt_1@example.com>'])
    expect((await send()).header('message-id')).toEqual(['<evt_1@example.com>'])
    expect(sent.header('auto-submitted')).toEqual(['auto-generated'])
    expect(sent.header('content-language')).toEqual(['en'])
    expect(sent.header('from')).toEqual(['Example Ltd <billing@example.com>'])
  })

  it('gets no further headers from line breaks in its subject or sender (threat M5)', async () => {
    const from = { name: 'A\r\nBcc: eve@example.com', address: 'billing@example.com' }
    const sent = await send({ subject: 'Hello\r\nBcc: eve@example.com\n\nBody' }, { from })
    expect(sent.header('bcc')).toEqual([])
    expect(sent.to).toEqual(['ada@example.com'])
    expect(sent.text).toContain('Thank you.')
  })

  it.each([
    'ada@example.com\r\nRCPT TO:<eve@example.com>',
    'ada@example.com, eve@example.com',
    'ada@example.com>',
    'Ada <ada@example.com>',
    '"eve@example.com x"@example.com',
    'ada',
    '',
  ])('is rejected for the recipient %j, without connecting', async (to) => {
    expect(await failureOf(open().send(mail({ to })))).toMatchObject({ code: 'mail_rejected' })
    expect(sandbox.mail.messages()).toEqual([])
  })

  it('reaches addresses with letters of any language', async () => {
    const { to } = await send({ to: 'юлия@bücher.example' })
    expect(to).toEqual(['юлия@bücher.example'])
    const from = { name: 'Bücher, GmbH', address: 'rechnung@bücher.example' }
    const sent = await send({}, { from })
    // The sandbox's server decodes the domain, which is sent in its ASCII form.
    expect(sent.from).toBe('rechnung@bücher.example')
    expect(sent.header('message-id')).toEqual(['<evt_1@xn--bcher-kva.example>'])
  })
})

describe('a failing mail server', () => {
  it.each(['unknown-recipient', 'refused-content'] as const)(
    'rejects a mail for good: %s',
    async (fault) => {
      sandbox.mail.fail(fault, 1)
      const error = await failureOf(open().send(mail()))
      expect(error).toMatchObject({ code: 'mail_rejected' })
      expect(error?.message).toMatch(/^55[04] 5\./)
      expect(sandbox.mail.messages()).toEqual([])
    },
  )

  it.each(['busy', 'away'] as const)('can be tried again later: %s', async (fault) => {
    const transport = open()
    sandbox.mail.fail(fault)
    const error = await failureOf(transport.send(mail()))
    expect(error).toBeInstanceOf(Error)
    expect(error).not.toMatchObject({ code: 'mail_rejected' })
    sandbox.mail.recover()
    await transport.send(mail())
    expect(sandbox.mail.messages()).toHaveLength(1)
  })

  it('gets a mail once if it responds late', async () => {
    sandbox.mail.fail({ slowMs: 300 }, 1)
    const transport = open()
    await Promise.all([transport.send(mail()), transport.send(mail({ id: 'evt_2' }))])
    expect(sandbox.mail.messages()).toHaveLength(2)
  })

  it('is given up if it does not respond in time', async () => {
    sandbox.mail.fail({ slowMs: 60_000 }, 1)
    const error = await failureOf(open({}, { total: 200 }).send(mail()))
    expect(error).toMatchObject({ code: 'EABORT' })
  })

  it('causes a failure, without an automatic retry, if it accepted the mail but its response was lost', async () => {
    sandbox.mail.fail('lost-response')
    expect(await failureOf(open().send(mail()))).toMatchObject({ code: 'ECONNECTION' })
    expect(sandbox.mail.messages()).toHaveLength(1)
  })

  it('keeps sending over one connection after it refused a recipient', async () => {
    const transport = open()
    sandbox.mail.fail('unknown-recipient', 1)
    await failureOf(transport.send(mail()))
    for (const id of ['evt_2', 'evt_3']) await transport.send(mail({ id }))
    expect(sandbox.mail.messages()).toHaveLength(2)
  })
})

describe('the connection to the mail server', () => {
  const certificate = createCertificate(['localhost'], ['127.0.0.1'])
  async function startServer(options: { implicit?: boolean; tls?: boolean; auth?: boolean }) {
    const { implicit = false, tls = true, auth = true } = options
    const other = await startSandbox({
      mail: {
        ...(tls && { tls: { ...certificate, implicit } }),
        ...(auth && { auth: { user: 'ada', password: 'p@ss word' } }),
      },
    })
    closers.push(() => other.close())
    return other.mail
  }
  const verify = async (settings: SmtpSettings) => {
    const transport = createSmtpTransport(settings)
    closers.push(() => transport.close())
    const error = await failureOf(transport.verify())
    return error && explainSmtpError(error, settings)
  }
  const auth = { user: 'ada', pass: 'p@ss word' }

  it('is refused if the server offers no STARTTLS but TLS is required', async () => {
    const { url } = await startServer({ tls: false })
    const found = await verify(settingsFor(url, { needsTls: true, auth }))
    expect(found?.fix).toContain('smtps://')
    const sending = createSmtpTransport(settingsFor(url, { needsTls: true, auth })).send(mail())
    expect(await failureOf(sending)).not.toBeNull()
  })

  it.each([false, true])(
    'is refused if the certificate is not trusted (TLS from the beginning: %s)',
    async (implicit) => {
      const { url } = await startServer({ implicit })
      const found = await verify(settingsFor(url, { needsTls: true, auth }))
      expect(found?.reason).toMatch(/self-signed certificate/i)
      expect(found?.fix).toContain('NODE_EXTRA_CA_CERTS')
    },
  )

  it('is refused with a wrong password, which is not printed', async () => {
    const { url } = await startServer({ tls: false })
    const wrong = { user: 'ada', pass: 'wrong-horse-battery' }
    const settings = settingsFor(url, { auth: wrong })
    const found = await verify(settings)
    expect(found?.fix).toContain('Check the user and password')
    const error = await failureOf(createSmtpTransport(settings).send(mail()))
    expect(error).not.toMatchObject({ code: 'mail_rejected' })
    const shown = JSON.stringify([found, error?.message, error?.stack, { ...error }])
    expect(shown).not.toContain(wrong.pass)
    expect(shown).not.toContain(Buffer.from(`\0ada\0${wrong.pass}`).toString('base64'))
  })

  it('is refused if the server offers no sign-in although there is a password', async () => {
    expect(await verify(settingsFor(sandbox.mail.url, { auth }))).not.toBeNull()
    const error = await failureOf(open({ auth }).send(mail()))
    expect(error).not.toBeNull()
    expect(sandbox.mail.messages()).toEqual([])
  })

  it('says what to check if nothing listens there', async () => {
    const other = await startSandbox({ mail: true })
    await other.close()
    const found = await verify(settingsFor(other.mail.url))
    expect(found?.fix).toContain('Check the host and port')
  })
})
