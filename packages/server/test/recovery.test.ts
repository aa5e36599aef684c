import { MailRejected } from '@tollgate/billing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkRegistration } from '../src/cli/doctor/mail.ts'
import type { ServiceMail } from '../src/config/shapes.ts'
import { createAccountHelpers, newAddress, PASSWORD } from './accounts.ts'
import { createOperatorHelpers } from './admin/operators.ts'
import { startTestService, type TestService, testConfig } from './support.ts'

const NEW_PASSWORD = 'another horse'

let service: TestService
const mails: ServiceMail[] = []
let fault: (() => Promise<void>) | null = null
beforeAll(async () => {
  service = await startTestService({
    settings: {
      mail: {
        send: async (mail) => {
          await fault?.()
          mails.push(mail)
        },
      },
    },
  })
})
beforeEach(() => {
  fault = null
  mails.length = 0
  // Limits count per hour.
  service.clock.advance({ hours: 2 })
})
afterAll(() => service?.stop())

type Browser = ReturnType<TestService['browser']>

async function createPerson(isVerified = false) {
  const email = newAddress('person')
  const user = await service.users.create({ email, password: PASSWORD, isVerified })
  return { email, id: user.id, user }
}

async function signedIn(email: string, password = PASSWORD): Promise<Browser> {
  const browser = service.browser()
  expect((await browser.signIn(email, password)).status).toBe(303)
  return browser
}

const canSignIn = async (email: string, password: string) =>
  (await service.browser().signIn(email, password)).status === 303

/** Waits until the outbox is empty, and returns the mail to an address. */
async function mailTo(email: string, kind?: string): Promise<ServiceMail[]> {
  await service.recovery.process()
  return mails.filter(({ to, kind: sent }) => to === email && (kind === undefined || sent === kind))
}

/** The path of the link in the last mail to an address. */
async function linkTo(email: string, kind: string): Promise<string> {
  const [mail] = (await mailTo(email, kind)).slice(-1)
  const [, path] = /(\/recovery\/\w+\?token=[\w.-]+)/.exec(mail?.text ?? '') ?? []
  if (!path) throw new Error(`No link was sent to ${email}`)
  expect(mail?.html).toContain(path)
  return path
}

const forget = (email: string, browser = service.browser()) =>
  browser.post('/recovery/forgot', { email })

async function resetLink(email: string): Promise<string> {
  expect((await forget(email)).status).toBe(303)
  return linkTo(email, 'password_reset')
}

/** Presses the button on the page of a link. */
function press(link: string, form: Record<string, string> = {}, browser = service.browser()) {
  const { pathname, searchParams } = new URL(link, service.url)
  return browser.post(pathname, { token: searchParams.get('token') ?? '', ...form })
}

async function requestChange(browser: Browser, email: string, current = PASSWORD) {
  return browser.post('/account/email', { email, current, csrf_token: await browser.csrfToken() })
}

async function verifyLink(email: string): Promise<string> {
  const browser = await signedIn(email)
  await browser.post('/account/email/verify', { csrf_token: await browser.csrfToken() })
  return linkTo(email, 'address_verification')
}

async function changeLink(email: string, to: string): Promise<string> {
  expect((await requestChange(await signedIn(email), to)).status).toBe(303)
  return linkTo(to, 'address_change')
}

const isVerified = async (id: string) =>
  (await service.users.findById(id))?.emailVerifiedAt instanceof Date

describe('a forgotten password', () => {
  it('is replaced by using the link in a mail, which ends all sessions and tokens, and the owner is notified (threat N3)', async () => {
    const { email, id } = await createPerson()
    const before = await signedIn(email)
    const { token } = await service.oauth.tokens.createPersonal({
      userId: id,
      name: 'x',
      scopes: [],
    })
    const link = await resetLink(email)
    const page = await service.browser().get(link)
    expect(page.status).toBe(200)
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(await page.text()).toContain(email)
    const done = await press(link, { password: NEW_PASSWORD })
    expect([done.status, done.headers.get('location')]).toEqual([303, '/recovery/done?what=reset'])
    // The link starts no session, so that a second factor is still asked for.
    expect(done.headers.getSetCookie()).toEqual([])
    expect(await canSignIn(email, PASSWORD)).toBe(false)
    expect(await canSignIn(email, NEW_PASSWORD)).toBe(true)
    expect((await before.get('/account')).status).toBe(302)
    const api = await fetch(`${service.url}/api/user`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(api.status).toBe(401)
    expect(await mailTo(email, 'password_changed')).toHaveLength(1)
    // The link came to the address.
    expect(await isVerified(id)).toBe(true)
  })

  it('is not replaced if the new password is invalid, and the link can still be used afterwards', async () => {
    const { email } = await createPerson()
    const link = await resetLink(email)
    expect((await press(link, { password: 'short' })).status).toBe(422)
    expect((await press(link, { password: NEW_PASSWORD })).status).toBe(303)
  })

  it('leaves no token in the database and in the log (threat N8)', async () => {
    const { email } = await createPerson()
    const link = await resetLink(email)
    await service.browser().get(link)
    const token = new URL(link, service.url).searchParams.get('token') ?? ''
    const [, secret = ''] = token.split('.')
    const rows = await Promise.all(
      ['account_mails', 'account_links'].map((table) =>
        service.database.kysely.selectFrom(table).selectAll().execute(),
      ),
    )
    expect(JSON.stringify(rows)).toContain(token.split('.')[0])
    expect(JSON.stringify(rows)).not.toContain(secret)
    expect(service.log()).not.toContain(secret)
  })
})

describe('a link in mail (threat N8, threat Q11)', () => {
  const links: ReadonlyArray<[name: string, make: (email: string) => Promise<string>]> = [
    ['reset', resetLink],
    ['verification', verifyLink],
    ['change', (email) => changeLink(email, newAddress('new'))],
  ]
  const form = { password: NEW_PASSWORD }

  /** Events before the button is pressed, and the status of the response to it. */
  const attacks: ReadonlyArray<
    [
      name: string,
      status: 303 | 404,
      act: (link: string, person: { email: string; id: string }) => unknown,
    ]
  > = [
    ['was opened by GET and HEAD before', 303, openBefore],
    ['is opened in another browser, where somebody else is signed in', 303, () => {}],
    ['was used before', 404, (link) => press(link, form)],
    ['has expired', 404, () => service.clock.advance({ hours: 25 })],
    [
      'was sent before the password changed',
      404,
      async (_, { email, id }) => {
        await service.users.changePassword(id, 'a third horse')
        expect(await canSignIn(email, 'a third horse')).toBe(true)
      },
    ],
    [
      'was sent before the address changed',
      404,
      async (_, { email }) => {
        await press(await changeLink(email, newAddress('changed')))
      },
    ],
    [
      'is for an account that was disabled since',
      404,
      (_, { id }) => service.users.setDisabled(id, true),
    ],
    ['is for an account that was deleted since', 404, (_, { id }) => service.users.delete(id)],
  ]

  async function openBefore(link: string) {
    for (const method of ['GET', 'HEAD', 'GET']) {
      expect((await service.browser().request(link, { method })).status).toBe(200)
    }
  }

  it.each(
    links.flatMap(([kind, make]) =>
      attacks.map(([attack, status, act]) => [kind, attack, status, make, act] as const),
    ),
  )(
    'leads to the right status when its button is pressed: %s link that %s, status %d',
    async (_kind, _attack, status, make, act) => {
      const person = await createPerson()
      const link = await make(person.email)
      await act(link, person)
      const other = await createPerson()
      const browser = await signedIn(other.email)
      expect((await press(link, form, browser)).status).toBe(status)
      // The session of another account is neither used nor changed.
      expect(await (await browser.get('/account')).text()).toContain(other.email)
      expect(await isVerified(other.id)).toBe(false)
      expect((await browser.get(link)).status).toBe(404)
    },
  )

  it('is useless on the page for another purpose, and cannot be guessed or altered', async () => {
    const { email } = await createPerson()
    const link = await resetLink(email)
    const token = new URL(link, service.url).searchParams.get('token') ?? ''
    const [id = '', tag = ''] = token.split('.')
    const { token: othersToken } = { token: await resetLink((await createPerson()).email) }
    const [, othersTag = ''] = (
      new URL(othersToken, service.url).searchParams.get('token') ?? ''
    ).split('.')
    const tokens = [
      '',
      '.',
      id,
      `${id}.`,
      `.${tag}`,
      `${id}.${othersTag}`,
      `${id}.${tag}x`,
      `${tag}.${id}`,
    ]
    for (const guess of [...tokens, 'x'.repeat(9000), `${id}.${tag.toLowerCase()}`]) {
      const path = `/recovery/reset?${new URLSearchParams({ token: guess })}`
      expect((await service.browser().get(path)).status).toBe(404)
    }
    for (const path of ['/recovery/confirm', '/recovery/join']) {
      expect((await service.browser().get(`${path}?token=${token}`)).status).toBe(404)
      expect((await service.browser().post(path, { token, ...form })).status).toBe(404)
    }
    expect((await press(link, form)).status).toBe(303)
  })

  it('works only once, even if its button is pressed many times at once or the account has two links', async () => {
    const { email } = await createPerson()
    const [one, two] = [await resetLink(email), await resetLink(email)]
    const tries = [one, two, one, two, one].map((link, at) =>
      press(link, { password: `horse number ${at}` }),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([303, 404, 404, 404, 404])
    expect(await mailTo(email, 'password_changed')).toHaveLength(1)
  })

  it('is accepted only from a page of the service', async () => {
    const { email } = await createPerson()
    const link = await resetLink(email)
    const token = new URL(link, service.url).searchParams.get('token') ?? ''
    const headers = [
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
      // What browsers send from a page with the policy no-referrer.
      [{ origin: 'null', 'sec-fetch-site': 'same-origin' }, 303],
    ] as const
    for (const [sent, status] of headers) {
      const answer = await service.browser().post('/recovery/reset', { token, ...form }, sent)
      expect(answer.status).toBe(status)
    }
  })
})

describe('the e-mail address of an account', () => {
  it('is verified by using a link, and the claims in tokens then say so', async () => {
    const { email, id } = await createPerson()
    const link = await verifyLink(email)
    expect(await isVerified(id)).toBe(false)
    expect((await press(link)).headers.get('location')).toBe('/recovery/done?what=confirm')
    expect(await isVerified(id)).toBe(true)
  })

  it('changes only after the new address is confirmed, and both addresses get a mail', async () => {
    const { email, id } = await createPerson(true)
    const next = newAddress('next')
    const link = await changeLink(email, next)
    const [requested] = await mailTo(email, 'address_change_requested')
    expect(requested?.text).toContain(next)
    expect((await service.users.findById(id))?.email).toBe(email)
    expect((await press(link)).status).toBe(303)
    expect(await service.users.findById(id)).toMatchObject({
      email: next,
      emailVerifiedAt: expect.any(Date),
    })
    expect(await mailTo(email, 'address_changed')).toHaveLength(1)
    expect(await mailTo(next, 'address_confirmed')).toHaveLength(1)
    expect([await canSignIn(email, PASSWORD), await canSignIn(next, PASSWORD)]).toEqual([
      false,
      true,
    ])
  })

  it('is not changed without the password, nor after the password was changed', async () => {
    const { email, id } = await createPerson()
    const browser = await signedIn(email)
    expect((await requestChange(browser, newAddress('x'), 'wrong')).status).toBe(422)
    const next = newAddress('next')
    fault = async () => {
      throw new Error('The mail server is away')
    }
    expect((await requestChange(browser, next)).status).toBe(303)
    await service.recovery.process()
    await service.users.changePassword(id, NEW_PASSWORD)
    fault = null
    service.clock.advance({ minutes: 1 })
    // Who knew only the old password has asked for nothing.
    expect(await mailTo(next)).toEqual([])
  })

  it('is not taken over if it belongs to another account, whose owner is told', async () => {
    const [one, two] = [await createPerson(), await createPerson()]
    const browser = await signedIn(one.email)
    expect((await requestChange(browser, two.email.toUpperCase())).status).toBe(303)
    expect(await mailTo(two.email)).toMatchObject([{ kind: 'already_registered' }])
    const free = newAddress('free')
    const link = await changeLink(one.email, free)
    await service.users.create({ email: free, password: PASSWORD })
    expect((await press(link)).status).toBe(404)
    expect((await service.users.findById(one.id))?.email).toBe(one.email)
  })

  it('gets no mail with a name that a stranger chose, unless the address is verified', async () => {
    const email = newAddress('victim')
    await service.users.create({ email, password: PASSWORD, name: 'Win money now' })
    await resetLink(email)
    expect(JSON.stringify(await mailTo(email))).not.toContain('Win money')
  })
})

describe('registration by mail', () => {
  const register = (email: string, more: Record<string, string> = {}) =>
    service.browser().post('/register', { email, name: 'Ada', ...more })

  it('creates the account with the password that the link’s page asks for', async () => {
    const email = newAddress('new')
    expect(await (await service.browser().get('/register')).text()).not.toContain('type="password"')
    // A password in the form is ignored, so that no stranger can choose it.
    const sent = await register(email, { password: PASSWORD, return_to: '/tokens' })
    expect(sent.headers.get('location')).toBe('/recovery/sent?what=registration')
    const link = await linkTo(email, 'registration')
    expect(await service.users.findByEmail(email)).toBeNull()
    expect((await press(link, { password: 'short', name: 'Ada' })).status).toBe(422)
    const browser = service.browser()
    const joined = await press(link, { password: NEW_PASSWORD, name: 'Ada L.' }, browser)
    expect([joined.status, joined.headers.get('location')]).toEqual([303, '/tokens'])
    expect((await browser.get('/tokens')).status).toBe(200)
    expect(await service.users.findByEmail(email)).toMatchObject({
      name: 'Ada L.',
      emailVerifiedAt: expect.any(Date),
    })
    expect((await press(link, { password: PASSWORD })).status).toBe(404)
    expect(await canSignIn(email, PASSWORD)).toBe(false)
  })

  it('creates one account if several links are used at once', async () => {
    const email = newAddress('twice')
    await register(email)
    const one = await linkTo(email, 'registration')
    await register(email)
    const two = await linkTo(email, 'registration')
    const statuses = await Promise.all(
      [one, two, one, two].map(async (link) => (await press(link, { password: PASSWORD })).status),
    )
    expect(statuses.sort()).toEqual([303, 404, 404, 404])
  })

  it('tells only the owner of an address that the address already has an account', async () => {
    const { email } = await createPerson()
    await register(email)
    expect(await mailTo(email)).toMatchObject([{ kind: 'already_registered' }])
  })

  it('never redirects to another host', async () => {
    const email = newAddress('new')
    await register(email, { return_to: '//evil.example' })
    const joined = await press(await linkTo(email, 'registration'), { password: PASSWORD })
    expect(joined.headers.get('location')).toBe('/')
  })
})

describe('an invitation to create an account', () => {
  it('creates one account, whose address is verified, and is recorded in the audit log', async () => {
    const operators = createOperatorHelpers(service)
    const admin = await operators.operator('admin')
    const email = newAddress('invited')
    const done = await admin.call('POST', '/users/invitations', { body: { email } })
    expect(done).toMatchObject({ status: 202, body: { email } })
    const link = await linkTo(email, 'invitation')
    expect((await press(link, { password: PASSWORD })).status).toBe(303)
    expect((await press(link, { password: PASSWORD })).status).toBe(404)
    expect(await service.users.findByEmail(email)).toMatchObject({
      emailVerifiedAt: expect.any(Date),
    })
    const again = await admin.call('POST', '/users/invitations', { body: { email } })
    expect(again.status).toBe(409)
    expect(await operators.entries('users.invite')).toMatchObject([
      { outcome: 'done' },
      { outcome: 'failed' },
    ])
  })

  it('can be sent with a command, and with a button on the page for operators', async () => {
    const [one, two] = [newAddress('invited'), newAddress('invited')]
    const { code, stdout } = await createAccountHelpers(service).tollgate('user', 'invite', one)
    expect([code, stdout.trim()]).toEqual([0, `The invitation will be sent to ${one}`])
    // The command has the clock of the database, which may be ahead of this one.
    await service.database.kysely
      .updateTable('account_mails')
      .set({ due_at: 0 })
      .where('address', '=', one)
      .execute()
    const operator = await signedIn(service.demo?.email ?? '', service.demo?.password ?? '')
    const csrf_token = await operator.csrfToken()
    const sent = await operator.post('/admin/people/invite', { email: two, csrf_token })
    expect(sent.headers.get('location')).toBe('/admin/people?done=invited')
    for (const email of [one, two]) expect(await mailTo(email, 'invitation')).toHaveLength(1)
  })
})

describe('requests for mail by people who are not signed in', () => {
  it('lead to only a few mails to one mailbox, however many networks send them, and do not block the owner in a known network', async () => {
    const { email } = await createPerson()
    const network = (at: number) => `203.0.113.${at}`
    for (let at = 0; at < 12; at += 1) {
      const address = at % 2 === 0 ? email : email.replace('@', `+${at}@`).toUpperCase()
      if (await service.limits.countMail(address.toLowerCase(), network(at))) {
        await service.recovery.requestPasswordReset(address, 'en')
      }
    }
    expect((await mailTo(email)).length).toBeLessThanOrEqual(5)
    // The person has signed in from this network before.
    await service.limits.rememberNetwork(email, network(50))
    expect(await service.limits.countMail(email, network(50))).toBe(true)
    expect(await service.limits.countMail(email, network(51))).toBe(false)
    service.clock.advance({ minutes: 61 })
    expect(await service.limits.countMail(email, network(51))).toBe(true)
  })

  it('are refused after too many requests from one network, whether or not the addresses are known', async () => {
    const { email } = await createPerson()
    const statuses: number[] = []
    for (let at = 0; at < 22; at += 1) {
      statuses.push((await forget(at === 0 ? email : newAddress('unknown'))).status)
    }
    expect(statuses).toEqual([...Array(20).fill(303), 429, 429])
  })
})

it('mail is sent later if the server is away, and given up if the recipient is refused', async () => {
  const { email } = await createPerson()
  fault = async () => {
    throw new Error('The mail server is away')
  }
  await forget(email)
  await service.recovery.process()
  expect(mails).toEqual([])
  fault = null
  // The time until the link expires counts from the attempt.
  service.clock.advance({ minutes: 40 })
  const link = await linkTo(email, 'password_reset')
  expect(await mailTo(email)).toHaveLength(1)
  expect((await press(link, { password: NEW_PASSWORD })).status).toBe(303)
  expect(await mailTo(email, 'password_changed')).toHaveLength(1)

  mails.length = 0
  fault = async () => {
    throw new MailRejected('550 no such mailbox')
  }
  await forget(email)
  await service.recovery.process()
  fault = null
  service.clock.advance({ hours: 20 })
  expect(await mailTo(email)).toEqual([])
  const { stdout } = await createAccountHelpers(service).tollgate('doctor')
  expect(stdout).toMatch(/1 mail about an account was given up.*550 no such mailbox/)
  service.clock.advance({ hours: 192 })
  await service.recovery.purge()
  const left = await service.database.kysely
    .selectFrom('account_mails')
    .selectAll()
    .where('address', '=', email)
    .execute()
  expect(left).toEqual([])
})

describe('the routes that need no sign-in, while the worker sends mail', () => {
  let busy: TestService
  const sent: ServiceMail[] = []
  beforeAll(async () => {
    busy = await startTestService({
      config: { logLevel: 'debug' },
      settings: { mail: { send: async (mail) => void sent.push(mail) } },
    })
  })
  afterAll(() => busy?.stop())

  const readLog = (from: number) =>
    busy
      .log()
      .slice(from)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { msg: string; sql?: string; path?: string })

  /** The tables of requests and of the worker. Other workers read their own tables meanwhile. */
  const TABLES = /["`](account_mails|account_links|users|oauth_limits|known_networks)["`]/

  /** The statements from the request to its response, also those of the worker. */
  async function observe(path: string, form: Record<string, string>) {
    const before = busy.log().length
    const answer = await busy.browser().post(path, form)
    const body = await answer.text()
    const lines = readLog(before)
    const end = lines.findIndex((line) => line.msg === 'request')
    expect(end).toBeGreaterThan(0)
    const statements = lines.slice(0, end).flatMap(({ sql }) => sql ?? [])
    await busy.recovery.process()
    return {
      status: answer.status,
      body,
      statements: statements.filter((sql) => TABLES.test(sql)),
    }
  }

  it.each([
    ['/recovery/forgot', {}],
    ['/register', { name: 'Ada' }],
  ])(
    'answer before the worker looks for the account, after the same statements: %s (threat Q11)',
    async (path, more) => {
      const [known, disabled] = [newAddress('known'), newAddress('known')]
      await busy.users.create({ email: known, password: PASSWORD })
      const { id } = await busy.users.create({ email: disabled, password: PASSWORD })
      await busy.users.setDisabled(id, true)
      await observe(path, { email: newAddress('first'), ...more })
      const mailBefore = sent.length
      const answers = []
      for (const email of [newAddress('known'), known, disabled]) {
        answers.push(await observe(path, { email, ...more }))
      }
      // The worker has run: the three addresses lead to different mail.
      expect(sent.length - mailBefore).toBe(path === '/register' ? 2 : 1)
      expect(answers[0]).toMatchObject({ status: 303 })
      expect(answers[0]?.statements.filter((sql) => sql.includes('account_mails'))).toHaveLength(1)
      expect(answers[1]).toEqual(answers[0])
      expect(answers[2]).toEqual(answers[0])
    },
  )
})

describe('the routes that need no sign-in', () => {
  let quiet: TestService
  beforeAll(async () => {
    quiet = await startTestService({
      config: { logLevel: 'debug' },
      settings: {
        mail: { send: async () => {} },
        captcha: {
          check: (form) => form.get('robot') !== 'yes',
          html: '<div id="challenge"></div>',
          sources: ['https://challenge.example'],
        },
      },
    })
    // Only the statements of requests are compared; the worker runs after the response.
    await quiet.recovery.close()
  })
  afterAll(() => quiet?.stop())

  async function observe(path: string, form: Record<string, string>) {
    const before = quiet.log().length
    const answer = await quiet.browser().post(path, form)
    const statements = quiet
      .log()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('"statement"') && line.includes('"request_id"'))
      .map((line) => (JSON.parse(line) as { sql: string }).sql)
    const headers = Object.fromEntries(answer.headers)
    for (const own of ['date', 'x-request-id']) delete headers[own]
    return { status: answer.status, body: await answer.text(), headers, statements }
  }

  it.each([
    ['/recovery/forgot', {}],
    ['/register', { name: 'Ada' }],
  ])(
    'answer with the same response and statements for known, unknown and disabled accounts: %s (threat Q11)',
    async (path, more) => {
      const [known, disabled] = [newAddress('known'), newAddress('known')]
      await quiet.users.create({ email: known, password: PASSWORD })
      const { id } = await quiet.users.create({ email: disabled, password: PASSWORD })
      await quiet.users.setDisabled(id, true)
      // The first request of a network creates its counter.
      await observe(path, { email: newAddress('first'), ...more })
      const answers = []
      for (const email of [newAddress('known'), known, disabled]) {
        answers.push(await observe(path, { email, ...more }))
      }
      expect(answers[0]).toMatchObject({ status: 303 })
      expect(answers[0]?.statements.length).toBeGreaterThan(2)
      expect(answers[1]).toEqual(answers[0])
      expect(answers[2]).toEqual(answers[0])
    },
  )

  it.each(['/recovery/forgot', '/register'])(
    'contain the challenge of the setting captcha, and refuse a form that does not pass it: %s',
    async (path) => {
      const page = await quiet.browser().get(path)
      expect(await page.text()).toContain('<div id="challenge"></div>')
      expect(page.headers.get('content-security-policy')).toMatch(
        /script-src 'self' https:\/\/challenge\.example;/,
      )
      const refused = await observe(path, { email: newAddress('robot'), robot: 'yes' })
      expect(refused.status).toBeGreaterThanOrEqual(400)
      expect(refused.body).toContain('you are not a robot')
      expect(refused.statements.filter((sql) => sql.includes('account_mails'))).toEqual([])
    },
  )
})

it('without mail there is no recovery, only invited people may register, and doctor says so', async () => {
  const closed = await startTestService({ settings: { registration: 'invitation' } })
  const browser = closed.browser()
  for (const path of ['/register', '/recovery/forgot', '/recovery/reset', '/recovery/join']) {
    expect((await browser.get(path)).status).toBe(404)
  }
  const page = await (await browser.get('/login')).text()
  expect(page).toContain('Ask the operator')
  expect(page).not.toContain('/register')
  const admin = await createOperatorHelpers(closed).operator('admin')
  const refused = await admin.call('POST', '/users/invitations', { body: { email: 'a@b.example' } })
  expect(refused).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('no mail') },
  })
  await closed.stop()
  const { config, remove } = await testConfig({ settings: { registration: 'invitation' } })
  await remove()
  const findings = checkRegistration({ ...config, mode: 'production' })
  expect(findings.map(({ level, message }) => [level, message])).toEqual([
    ['warning', 'People who forgot their password need an operator, because no mail is sent'],
    ['warning', 'Nobody can be invited, because no mail is sent'],
  ])
})
