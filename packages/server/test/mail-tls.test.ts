import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox } from '@tollgate/sandbox'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createCertificate } from '../../../test-support/self-signed.ts'
import { startProgram } from './built-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-mail-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const certificate = createCertificate(['localhost'], ['127.0.0.1'])
const authority = join(folder, 'authority.pem')
writeFileSync(authority, certificate.cert)

/** Runs `tollgate mail test` as a process that trusts a certificate authority of its own. */
async function sendTestMail(options: { implicit: boolean; password: string; ca?: string }) {
  const { implicit, password, ca = authority } = options
  const sandbox = await startSandbox({
    mail: { tls: { ...certificate, implicit }, auth: { user: 'ada', password: 'p@ss word' } },
  })
  onTestFinished(() => sandbox.close())
  const { protocol, host } = new URL(sandbox.mail.url)
  const program = startProgram(['mail', 'test', 'ops@example.com'], {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: `sqlite:${join(folder, 'unused.db')}`,
    TOLLGATE_DATA_DIR: folder,
    TOLLGATE_SMTP_URL: `${protocol}//ada:${encodeURIComponent(password)}@${host}`,
    TOLLGATE_SMTP_TLS: 'required',
    TOLLGATE_MAIL_FROM: 'Shop <shop@example.com>',
    ...(ca && { NODE_EXTRA_CA_CERTS: ca }),
  })
  const code = await program.ended
  return { code, output: program.output(), mail: sandbox.mail.messages() }
}

describe('mail over an encrypted connection', () => {
  it.each([
    ['STARTTLS', false],
    ['TLS from the beginning', true],
  ])('is sent with a certificate of an authority of your own, by %s', async (_, implicit) => {
    const { code, mail, output } = await sendTestMail({ implicit, password: 'p@ss word' })
    expect([code, output]).toEqual([0, expect.stringContaining('accepted the mail')])
    expect(mail).toMatchObject([{ isSecure: true, user: 'ada', to: ['ops@example.com'] }])
  })

  it('is not sent with a wrong password, which is not printed', async () => {
    const { code, mail, output } = await sendTestMail({ implicit: false, password: 'wrong-horse' })
    expect([code, mail]).toEqual([1, []])
    expect(output).toContain('Check the user and password in TOLLGATE_SMTP_URL')
    expect(output).not.toContain('wrong-horse')
  })

  it('is not sent if the certificate is not trusted', async () => {
    const { code, mail, output } = await sendTestMail({
      implicit: false,
      password: 'p@ss word',
      ca: '',
    })
    expect([code, mail]).toEqual([1, []])
    expect(output).toContain('NODE_EXTRA_CA_CERTS')
  })
})
