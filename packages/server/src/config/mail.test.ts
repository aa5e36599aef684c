import { describe, expect, it } from 'vitest'
import { readEnvironment } from './environment.ts'
import { listEffectiveSettings } from './in-force.ts'
import { parseSettings } from './settings.ts'

const PASSWORD = 'correct-horse-battery'

function read(environment: Record<string, string>) {
  return readEnvironment(
    { TOLLGATE_MAIL_FROM: 'billing@example.com', ...environment },
    { settings: parseSettings({}), needs: [] },
  )
}

describe('TOLLGATE_SMTP_URL', () => {
  it.each([
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, needsTls: true }],
    ['smtps://mail.example.com', { port: 465, isImplicitTls: true, needsTls: true }],
    ['smtp://mail.example.com:2525/', { port: 2525, isImplicitTls: false, auth: null }],
    ['smtp://localhost:1025', { host: 'localhost', needsTls: false }],
    ['smtp://127.0.0.2:25', { host: '127.0.0.2', needsTls: false }],
    ['smtp://[::1]:25', { host: '::1', needsTls: false }],
    ['smtp://127.example.com:25', { needsTls: true }],
    ['smtp://ada:p%40ss%20word@10.0.0.5', { auth: { user: 'ada', pass: 'p@ss word' } }],
  ])('is read: %s', (url, expected) => {
    expect(read({ TOLLGATE_SMTP_URL: url }).smtp).toMatchObject(expected)
  })

  it('sends unencrypted to another host only if TOLLGATE_SMTP_TLS is off', () => {
    const url = 'smtp://mailpit:1025'
    expect(read({ TOLLGATE_SMTP_URL: url, TOLLGATE_SMTP_TLS: 'off' }).smtp?.needsTls).toBe(false)
    const local = { TOLLGATE_SMTP_URL: 'smtp://localhost', TOLLGATE_SMTP_TLS: 'required' }
    expect(read(local).smtp?.needsTls).toBe(true)
  })

  it.each([
    'mail.example.com:587',
    'http://mail.example.com',
    'smtp://',
    'smtp://mail.example.com:0',
    'smtp://mail.example.com/path',
    'smtp://mail.example.com?tls=off',
    `smtp://ada@mail.example.com`,
    `smtp://:${PASSWORD}@mail.example.com`,
    `smtp://ada:${PASSWORD}%@mail.example.com`,
    `smtp://ada:${PASSWORD}%0d%0aQUIT@mail.example.com`,
    `smtp://ada:${PASSWORD}#1@mail.example.com`,
    `smtp://ada:${PASSWORD}@mail example.com`,
  ])('is rejected without printing it: %s', (url) => {
    let message = ''
    try {
      read({ TOLLGATE_SMTP_URL: url })
    } catch (error) {
      message = String(error)
    }
    expect(message).toContain('TOLLGATE_SMTP_URL expects smtp://user:password@mail.example.com:587')
    expect(message).not.toContain(PASSWORD)
  })

  it('is a secret of the settings that operators see', () => {
    const config = read({ TOLLGATE_SMTP_URL: `smtp://ada:${PASSWORD}@mail.example.com` })
    const shown = listEffectiveSettings(config)
    expect(JSON.stringify(shown)).not.toContain(PASSWORD)
    const shownValue = (name: string) => shown.find((each) => each.name === name)?.value
    expect(shownValue('TOLLGATE_SMTP_URL')).toBe('set')
    expect(shownValue('TOLLGATE_SMTP_TLS')).toBe('required')
    expect(shownValue('TOLLGATE_MAIL_FROM')).toBe('billing@example.com')
  })
})

describe('TOLLGATE_MAIL_FROM', () => {
  const from = (text: string) =>
    read({ TOLLGATE_SMTP_URL: 'smtp://mail.example.com', TOLLGATE_MAIL_FROM: text }).smtp?.from

  it.each([
    ['billing@example.com', { name: '', address: 'billing@example.com' }],
    ['<billing@example.com>', { name: '', address: 'billing@example.com' }],
    ['Example Ltd <billing@example.com>', { name: 'Example Ltd', address: 'billing@example.com' }],
    ['"Bücher, GmbH" <b@bücher.example>', { name: 'Bücher, GmbH', address: 'b@bücher.example' }],
  ])('is read: %s', (text, expected) => {
    expect(from(text)).toEqual(expected)
  })

  it.each([
    'billing',
    'Example Ltd',
    'a@example.com, b@example.com',
    'A <a@example.com> B <b@example.com>',
    'A\r\nBcc: b@example.com <a@example.com>',
    'A <a@example.com\r\nBcc: b@example.com>',
  ])('is rejected: %j', (text) => {
    expect(() => from(text)).toThrow('TOLLGATE_MAIL_FROM expects an e-mail address')
  })

  it('causes a warning without a mail server', () => {
    expect(read({}).warnings).toEqual([
      'TOLLGATE_MAIL_FROM is not used, because TOLLGATE_SMTP_URL is not set.',
    ])
  })
})
