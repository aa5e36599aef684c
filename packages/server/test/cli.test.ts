import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { startSandbox } from '@tollgate/sandbox'
import Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { findFreePort } from '../../../test-support/free-port.ts'
import { runCli } from '../src/program.ts'
import { startTestService, type TestService } from './support.ts'

let service: TestService
let environment: Record<string, string>
beforeAll(async () => {
  service = await startTestService({ options: { keepDemo: true } })
  environment = {
    DATABASE_URL: service.databaseUrl,
    TOLLGATE_DATA_DIR: service.dataDir,
    TOLLGATE_URL: service.url,
  }
})
afterAll(() => service.stop())

/** Runs the command as a shell would. `args` are the words after `tollgate`. */
async function tollgate(
  args: readonly string[],
  options: { input?: string; env?: object; isTTY?: boolean } = {},
) {
  const out: string[] = []
  const err: string[] = []
  const stdin = Object.assign(Readable.from([options.input ?? '']), {
    isTTY: options.isTTY ?? false,
  }) as unknown as NodeJS.ReadStream
  const code = await runCli(
    args,
    { ...environment, ...options.env },
    {
      stdout: { write: (text) => void out.push(text) },
      stderr: { write: (text) => void err.push(text) },
      stdin,
    },
  )
  const stdout = out.join('')
  return { code, stdout, stderr: err.join(''), json: () => JSON.parse(stdout) }
}

async function getToken(form: Record<string, string>) {
  const response = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const body = (await response.json()) as { access_token: string; error?: string }
  return { status: response.status, ...body }
}

describe('the commands that manage accounts', () => {
  const PASSWORD = 'correct horse'
  const tokenOf = async (email: string, password = PASSWORD) => {
    const { id = '', secret } = service.demo?.clients.password ?? {}
    return getToken({
      grant_type: 'password',
      client_id: id,
      client_secret: secret ?? '',
      username: email,
      password,
    })
  }
  const opens = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${service.url}/api/user`, { headers })).status
  }
  async function person(email: string) {
    const { id } = await service.users.create({ email, password: PASSWORD })
    const browser = service.browser()
    await browser.signIn(email, PASSWORD)
    const { access_token } = await tokenOf(email)
    expect(await opens(access_token)).toBe(200)
    expect((await browser.get('/account')).status).toBe(200)
    return { id, email, browser, access_token }
  }
  async function expectEnded({ browser, access_token }: Awaited<ReturnType<typeof person>>) {
    expect((await browser.get('/account')).status).toBe(302)
    await expect.poll(() => opens(access_token)).toBe(401)
  }

  it('`user password` replaces a forgotten password, and ends the sessions and tokens of the account', async () => {
    const grace = await person('grace@example.com')
    const args = ['user', 'password', 'grace@example.com', '--json']
    const { code, json } = await tollgate(args, { input: 'new horse battery\n' })
    expect([code, json()]).toEqual([0, { id: grace.id, email: grace.email }])
    await expectEnded(grace)
    expect((await tokenOf(grace.email)).status).toBe(400)
    expect((await tokenOf(grace.email, 'new horse battery')).status).toBe(200)
  })

  it('`user disable` prevents sign-in, and `user enable` does not restore sessions and tokens', async () => {
    const joan = await person('joan@example.com')
    const disabled = await tollgate(['user', 'disable', joan.id, '--json'])
    expect(disabled.json()).toEqual({
      id: joan.id,
      email: joan.email,
      disabled: true,
      subscriptions: [],
    })
    await expectEnded(joan)
    expect((await tokenOf(joan.email)).status).toBe(400)
    expect((await service.browser().signIn(joan.email, PASSWORD)).status).toBe(401)
    const listed = (await tollgate(['user', 'list', '--json'])).json() as { id: string }[]
    expect(listed.find(({ id }) => id === joan.id)).toMatchObject({
      email: joan.email,
      disabled_at: expect.any(String),
    })
    const enabled = await tollgate(['user', 'enable', joan.email, '--json'])
    expect(enabled.json()).toMatchObject({ id: joan.id, email: joan.email, disabled: false })
    expect((await tokenOf(joan.email)).status).toBe(200)
    await expectEnded(joan)
  })

  it('`user delete` removes the account with all its data', async () => {
    const mary = await person('mary@example.com')
    const { json } = await tollgate(['user', 'delete', mary.email, '--json'])
    expect(json()).toMatchObject({ id: mary.id, email: mary.email, deleted: true })
    await expectEnded(mary)
    expect((await tokenOf(mary.email)).status).toBe(400)
    const { stdout } = await tollgate(['user', 'list'])
    expect(stdout).not.toContain(mary.email)
  })

  it('`user delete` also removes an account whose customer no longer exists at the payment provider', async () => {
    const { id, email } = await person('rich@example.com')
    const table = service.database.kysely.updateTable('users') as unknown as {
      set(values: object): { where(...args: unknown[]): { execute(): Promise<unknown> } }
    }
    const customer = { provider: 'stripe', provider_id: `cus_${id}` }
    await table.set(customer).where('id', '=', Number(id)).execute()
    const deleted = await tollgate(['user', 'delete', email])
    expect([deleted.code, deleted.stderr]).toEqual([0, ''])
  })

  it('`user disable` rejects an unknown choice for the subscription before it opens the database', async () => {
    const args = ['user', 'disable', 'nobody@example.com', '--subscription', 'later']
    const { code, stderr } = await tollgate(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining('now, period-end, keep')])
  })

  it.each(['password', 'disable', 'enable', 'delete'])(
    '`user %s` reports that there is no such user',
    async (name) => {
      const { code, stderr } = await tollgate(['user', name, 'nobody@example.com'], {
        input: PASSWORD,
      })
      expect([code, stderr]).toEqual([2, expect.stringContaining('There is no user')])
    },
  )

  it("have equivalents on the operators' page of a person, which other people cannot see", async () => {
    const owner = { email: 'op@example.com', password: PASSWORD, role: 'owner' } as const
    const { id: own } = await service.users.create(owner)
    const operator = service.browser()
    await operator.signIn('op@example.com', PASSWORD)
    const lise = await person('lise@example.com')
    const act = async (browser: typeof operator, action: string, user: string) => {
      const form = { confirm: 'yes', csrf_token: await browser.csrfToken() }
      const reply = await browser.post(`/admin/people/${user}/${action}`, form)
      return reply.headers.get('location') ?? reply.status
    }
    const page = `/admin/people/${lise.id}`
    expect(await act(lise.browser, 'disable', lise.id)).toBe(404)
    expect(await act(operator, 'disable', own)).toBe(409)
    expect(await act(operator, 'disable', lise.id)).toBe(`${page}?done=disabled`)
    await expectEnded(lise)
    expect(await act(operator, 'enable', lise.id)).toBe(`${page}?done=enabled`)
    expect(await act(operator, 'delete', lise.id)).toBe(200)
    expect(await service.users.findAccount(lise.id)).toBeNull()
  })

  it('the sign-in page names the contact for people who forgot their password', async () => {
    const page = await (await service.browser().get('/login')).text()
    expect(page).toContain('Forgot your password? Ask the operator of')
  })
})

describe('tollgate user create', () => {
  it('creates an account that can sign in immediately', async () => {
    const args = ['--email', 'ada@example.com', '--password', 'correct horse', '--name', 'Ada']
    const { code, json } = await tollgate(['user', 'create', ...args, '--json'])
    expect(code).toBe(0)
    expect(json()).toEqual({ id: expect.any(String), email: 'ada@example.com' })
    const signedIn = await service.browser().signIn('ada@example.com', 'correct horse')
    expect(signedIn.status).toBe(303)
  })

  it('reads the password from standard input', async () => {
    const args = ['user', 'create', '--email', 'bob@example.com']
    const { code, stdout } = await tollgate(args, { input: 'another horse\n' })
    expect(code).toBe(0)
    expect(stdout).toContain('bob@example.com')
    const signedIn = await service.browser().signIn('bob@example.com', 'another horse')
    expect(signedIn.status).toBe(303)
  })

  it.each([
    ['a taken address', ['--email', 'demo@example.com', '--password', 'long enough'], 'already'],
    ['a short password', ['--email', 'x@example.com', '--password', 'short'], 'at least 8'],
    ['no address', ['--password', 'long enough'], '--email'],
    ['no password at all', ['--email', 'x@example.com'], 'contains no password'],
    ['a bad address, before it wants a password', ['--email', 'bad'], 'such as ada@example.com'],
    ['an unknown option', ['--email', 'x@example.com', '--color', 'red'], "'--color'"],
    ['an unknown role', ['--email', 'x@example.com', '--role', 'king'], 'viewer, support'],
  ])('rejects %s with exit code 2 and an explanation', async (_, args, message) => {
    const { code, stdout, stderr } = await tollgate(['user', 'create', ...args])
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
  })

  it('prints the error as JSON with --json', async () => {
    const args = ['user', 'create', '--email', 'x', '--password', 'long enough', '--json']
    const { code, stderr } = await tollgate(args)
    expect(code).toBe(2)
    expect(JSON.parse(stderr).error).toContain('email address')
  })
})

describe('tollgate client create', () => {
  const create = async (...args: string[]) => {
    const { code, json, stderr } = await tollgate([
      'client',
      'create',
      '--name',
      'App',
      ...args,
      '--json',
    ])
    expect(stderr).toBe('')
    expect(code).toBe(0)
    return json() as { id: string; secret: string | null }
  }
  const redirect = ['--redirect', 'https://shop.example/cb']

  it.each([
    ['web', redirect, ['authorization_code', 'refresh_token'], true],
    ['--password', ['--password'], ['password', 'refresh_token'], true],
    ['--public', ['--public', ...redirect], ['authorization_code', 'refresh_token'], false],
    ['--credentials', ['--credentials'], ['client_credentials'], true],
    [
      '--device',
      ['--device'],
      ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
      false,
    ],
    ['--exchange', ['--exchange'], ['urn:ietf:params:oauth:grant-type:token-exchange'], true],
    [
      '--implicit',
      ['--public', '--implicit', ...redirect],
      ['authorization_code', 'refresh_token', 'implicit'],
      false,
    ],
  ])('creates a client of the kind %s', async (_, args, grants, confidential) => {
    const { id, secret } = await create(...args)
    const client = await service.oauth.clients.find(id)
    expect(client?.grantTypes).toEqual(grants)
    expect(secret !== null).toBe(confidential)
    expect(JSON.stringify(client)).not.toContain(secret ?? 'tgs_')
  })

  it('accepts client metadata as text and as JSON', async () => {
    const { id } = await create(
      ...redirect,
      '--setting',
      'backchannel_logout_uri=https://shop.example/ended?of=a=b',
      '--setting',
      'post_logout_redirect_uris=["https://shop.example/bye"]',
      '--setting',
      'claims_in_id_token=false',
    )
    expect((await service.oauth.clients.find(id))?.settings).toEqual({
      backchannel_logout_uri: 'https://shop.example/ended?of=a=b',
      post_logout_redirect_uris: ['https://shop.example/bye'],
      claims_in_id_token: false,
    })
  })

  it.each([
    ['nothing', '--setting expects name=value'],
    ['backchannel_logout_url=https://shop.example', 'is not a client setting'],
    ['post_logout_redirect_uris=https://shop.example/bye', 'post_logout_redirect_uris'],
  ])('explains what is wrong with --setting %s', async (text, problem) => {
    const args = ['client', 'create', '--name', 'App', ...redirect, '--setting', text]
    const { code, stderr } = await tollgate(args)
    expect(code).toBe(2)
    expect(stderr).toContain(problem)
  })

  it('creates a client that a running service accepts immediately', async () => {
    const { id, secret } = await create('--credentials')
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret ?? '' }
    expect((await getToken(form)).status).toBe(200)
  })

  it('assigns the client to a user, and accepts several redirect URIs', async () => {
    const user = await service.users.create({ email: 'own@example.com', password: 'long enough' })
    const { id } = await create(
      '--user',
      user.id,
      ...redirect,
      '--redirect',
      'https://two.example/cb',
    )
    const client = await service.oauth.clients.find(id)
    expect(client).toMatchObject({ userId: user.id })
    expect(client?.redirectUris).toEqual(['https://shop.example/cb', 'https://two.example/cb'])
  })

  it('returns the personal access client, to which personal access tokens belong', async () => {
    expect(await create('--personal')).toEqual({ id: 'personal-access', secret: null })
  })

  it.each([
    ['two kinds', ['--public', '--credentials'], '--public and --credentials'],
    ['an unknown person', ['--user', '999', ...redirect], 'no user 999'],
    ['a dangerous address', ['--redirect', 'javascript:alert(1)'], 'javascript:'],
    ['no address', [], 'redirect field is required'],
  ])('is rejected with the arguments: %s', async (_, args, message) => {
    const { code, stderr } = await tollgate(['client', 'create', '--name', 'App', ...args])
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })

  it('creates a client that `client list` shows, and that `client revoke` ends on a running service within a second', async () => {
    const { id, secret } = await create('--credentials')
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret ?? '' }
    const { access_token } = await getToken(form)
    const listed = (await tollgate(['client', 'list', '--json'])).json() as { id: string }[]
    expect(listed.find((client) => client.id === id)).toMatchObject({ name: 'App', revoked: false })
    expect(JSON.stringify(listed)).not.toContain('secret')

    expect((await tollgate(['client', 'revoke', id])).code).toBe(0)
    await expect.poll(async () => (await getToken(form)).status).toBe(401)
    const introspected = await fetch(`${service.url}/api/user`, {
      headers: { authorization: `Bearer ${access_token}` },
    })
    expect(introspected.status).toBe(401)
    expect((await tollgate(['client', 'revoke', id])).code).toBe(2)
  })
})

describe('tollgate keys rotate', () => {
  it('creates a new signing key, which the running service publishes, and old tokens stay valid', async () => {
    const { id = '', secret } = service.demo?.clients.service ?? {}
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret ?? '' }
    const { access_token: before } = await getToken(form)
    const { code, json } = await tollgate(['keys', 'rotate', '--immediately', '--json'])
    expect(code).toBe(0)
    const { kid } = json()
    const published = async () => {
      const jwks = await (await fetch(`${service.url}/.well-known/jwks.json`)).json()
      return (jwks as { keys: { kid: string }[] }).keys.map((key) => key.kid)
    }
    await expect.poll(published).toContain(kid)
    const active = await fetch(`${service.url}/oauth/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: id, client_secret: secret ?? '', token: before }),
    })
    expect(await active.json()).toMatchObject({ active: true })
  })
})

/** Whether the running service considers the token active. */
async function introspect(token: string): Promise<boolean> {
  const { id = '', secret } = service.demo?.clients.service ?? {}
  const body = new URLSearchParams({ client_id: id, client_secret: secret ?? '', token })
  const reply = await fetch(`${service.url}/oauth/introspect`, { method: 'POST', body })
  return ((await reply.json()) as { active: boolean }).active
}

async function newToken(): Promise<string> {
  const { id = '', secret } = service.demo?.clients.service ?? {}
  const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret ?? '' }
  return (await getToken(form)).access_token
}

describe('tollgate keys rotate --algorithm', () => {
  it('creates a key for another algorithm, and lists the algorithms', async () => {
    const { code, json } = await tollgate(['keys', 'rotate', '--algorithm', 'RS256', '--json'])
    expect(code).toBe(0)
    const { kid } = json()
    await expect
      .poll(async () => (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()).keys)
      .toContainEqual(expect.objectContaining({ kid, alg: 'RS256' }))
    const wrong = await tollgate(['keys', 'rotate', '--algorithm', 'none'])
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('EdDSA, ES256, RS256')])
  })
})

describe('tollgate keys revoke', () => {
  it('invalidates all tokens signed by the key on a running service, and another key signs new tokens', async () => {
    const token = await newToken()
    const [header = ''] = token.split('.')
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const { code, json } = await tollgate(['keys', 'revoke', kid, '--json'])
    expect(code).toBe(0)
    expect(json()).toMatchObject({ kid, revoked: true, signing: expect.not.stringMatching(kid) })
    await expect.poll(() => introspect(token)).toBe(false)
    expect(await introspect(await newToken())).toBe(true)
  })

  it('lists the existing keys if the given key does not exist', async () => {
    const { code, stderr } = await tollgate(['keys', 'revoke', 'nonsense'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/no signing key nonsense; the keys are \w{16}/)
  })

  // A kid of an older version may begin with a dash.
  it('accepts a key id that begins with a dash if it comes after --, and its error message says so', async () => {
    const bare = await tollgate(['keys', 'revoke', '-9fKq'])
    expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('after --')])
    const { code, stderr } = await tollgate(['keys', 'revoke', '--json', '--', '-9fKq'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('no signing key -9fKq;')])
  })
})

describe('tollgate keys reseal', () => {
  const [before, after] = ['B', 'A'].map((letter) => `${letter}-${'7f3k9q'.repeat(8)}`)

  it('encrypts all keys with the current secret, so that the previous secret can be removed, as doctor reports', async () => {
    const { url, drop } = await createTestDatabase()
    const env = (secrets: object) => ({ env: { DATABASE_URL: url, ...secrets } })
    const both = env({ TOLLGATE_SECRET: after, TOLLGATE_PREVIOUS_SECRET: before })
    const finding = async () => {
      const { json } = await tollgate(['doctor', '--json'], both)
      const { findings } = json() as { findings: { check: string; level: string }[] }
      return findings.find(({ check }) => check === 'secret')
    }
    try {
      await tollgate(['migrate'], env({ TOLLGATE_SECRET: before }))
      await tollgate(['keys', 'rotate'], env({ TOLLGATE_SECRET: before }))
      const early = await tollgate(
        ['keys', 'reseal'],
        env({ TOLLGATE_SECRET: before, TOLLGATE_NEXT_SECRET: after }),
      )
      expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('NEXT_SECRET')])
      const dropped = await tollgate(['purge'], env({ TOLLGATE_SECRET: after }))
      expect([dropped.code, dropped.stderr]).toEqual([1, expect.stringContaining('keys reseal')])
      expect(await finding()).toMatchObject({ level: 'warning' })
      const { code, json } = await tollgate(['keys', 'reseal', '--json'], both)
      expect([code, json()]).toEqual([0, { resealed: 4 }])
      expect(await finding()).toMatchObject({ level: 'ok' })
      const done = await tollgate(['purge'], env({ TOLLGATE_SECRET: after }))
      expect(done.code).toBe(0)
    } finally {
      await drop()
    }
  })
})

describe('tollgate restore-finish', () => {
  it('asks for confirmation, and changes nothing unless the answer is yes', async () => {
    const token = await newToken()
    for (const args of [['restore-finish'], ['restore-finish', '--json']]) {
      const { code, stderr } = await tollgate(args)
      expect(code).toBe(2)
      expect(stderr).toMatch(/personal access tokens/)
      expect(stderr).toMatch(/--yes/)
    }
    const answered = await tollgate(['restore-finish'], { input: 'no\n', isTTY: true })
    expect([answered.code, answered.stderr]).toEqual([2, expect.stringContaining('Type yes')])
    expect(answered.stderr).toContain('Nothing was changed')
    expect(await introspect(token)).toBe(true)
  })

  it('ends all tokens and sessions on a running service, where people can then sign in again', async () => {
    const token = await newToken()
    const account = ['--email', 'eve@example.com', '--password', 'correct horse']
    expect((await tollgate(['user', 'create', ...account])).code).toBe(0)
    const browser = service.browser()
    await browser.signIn('eve@example.com', 'correct horse')
    expect((await browser.get('/account')).status).toBe(200)
    const answered = await tollgate(['restore-finish'], { input: 'yes\n', isTTY: true })
    expect([answered.code, answered.stdout]).toEqual([0, expect.stringContaining('billing sync')])
    await expect.poll(() => introspect(token)).toBe(false)
    expect((await browser.get('/account')).status).not.toBe(200)
    expect(await introspect(await newToken())).toBe(true)
    const again = await tollgate(['restore-finish', '--yes', '--json'])
    expect(again.json()).toMatchObject({ sessions: 0, personal_access_tokens: 0 })
  })
})

describe('other commands of tollgate', () => {
  it('`migrate` reports that there is nothing to do', async () => {
    const { code, json } = await tollgate(['migrate', '--json'])
    expect(code).toBe(0)
    expect(json()).toEqual({ applied: [] })
  })

  it('`purge` deletes expired rows', async () => {
    const past = Date.now() - 60_000
    const times = { created_at: past, seen_at: past, expires_at: past, authenticated_at: past }
    const row = { id_hash: 'old', user_id: 1, methods: 'pwd', ...times }
    await service.database.kysely.insertInto('sessions').values(row).execute()
    const { code, json } = await tollgate(['purge', '--json'])
    expect(code).toBe(0)
    expect(json().sessions).toBeGreaterThan(0)
    expect(json()).toMatchObject({ events: 0, deliveries: 0, notices: 0 })
    const left = await service.database.kysely
      .selectFrom('sessions')
      .selectAll()
      .where('id_hash', '=', 'old')
      .execute()
    expect(left).toEqual([])
  })

  it('`billing sync` shows differences to the provider, and corrects them unless --dry-run is given', async () => {
    const user = await service.users.create({ email: 'pay@example.com', password: 'long enough' })
    const billable = await service.billing.user(Number(user.id))
    await billable.newSubscription('main', 'monthly').create('pm_card_visa')
    await service.advance({ hours: 1 })
    const subscriptions = service.database.kysely.updateTable('subscriptions')
    await subscriptions.set({ provider_plan: 'something else' }).execute()
    const dry = await tollgate(['billing', 'sync', '--dry-run', '--json'])
    expect(dry.code).toBe(0)
    expect(dry.json()).toMatchObject({ dry_run: true, drift: [{ what: 'outdated row' }] })
    const real = await tollgate(['billing', 'sync'])
    expect(real.stdout).toContain('1 difference resolved')
    expect((await tollgate(['billing', 'sync', '--json'])).json().drift).toEqual([])
  })

  it('`billing sync` compares changes since a date, resumes an interrupted run, and reports provider objects without an account', async () => {
    const user = await service.users.create({ email: 'gone@example.com', password: 'long enough' })
    const billable = await service.billing.user(Number(user.id))
    await billable.newSubscription('main', 'monthly').create('pm_card_visa')
    const customer = billable.providerId ?? ''
    const since = await tollgate(['billing', 'sync', '--since', '2020-01-01', '--json'])
    expect([since.code, since.json()]).toMatchObject([0, { drift: [], complete: true }])
    const resumed = await tollgate(['billing', 'sync', '--resume', '--json'])
    expect([resumed.code, resumed.json()]).toMatchObject([0, { drift: [], complete: true }])
    for (const wrong of [
      ['--since', 'never'],
      ['--dry-run', '--resume'],
    ]) {
      expect((await tollgate(['billing', 'sync', ...wrong])).code).toBe(2)
    }
    const users = service.database.kysely.updateTable('users').where('id', '=', user.id)
    await users.set({ provider_id: null }).execute()
    const told = await tollgate(['billing', 'sync'])
    expect(told.stdout).toContain('no owner')
    expect(told.stdout).toContain(`the customer ${customer}`)
    expect(told.stdout).toContain('--cancel-unowned')
    await tollgate(['billing', 'sync', '--cancel-unowned'])
    expect((await tollgate(['billing', 'sync', '--json'])).json().drift).toEqual([])
  })

  it('`billing webhooks` registers the webhook endpoint once, checks it, and handles events again', async () => {
    const check = await tollgate(['billing', 'webhooks', 'check', '--json'])
    expect([check.code, check.stderr]).toEqual([0, ''])
    expect(check.json()).toMatchObject([
      { provider: 'stripe', id: expect.stringMatching(/^we_/), missing: [], problems: [] },
      { provider: 'braintree', id: null, problems: [] },
    ])
    const twice = await tollgate(['billing', 'webhooks', 'create'])
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('There is an endpoint')])
    const url = 'https://other.example.com/hook'
    const made = await tollgate(['billing', 'webhooks', 'create', '--url', url])
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringMatching(/STRIPE_WEBHOOK_SECRET=whsec_/),
    ])
    const usage = await tollgate(['billing', 'webhooks', 'create', '--usage'])
    expect([usage.code, usage.stdout]).toEqual([0, expect.stringMatching(/_SECRET=…,whsec_/)])
    const both = await tollgate(['billing', 'webhooks', 'check', '--json'])
    expect(both.json()[0]).toMatchObject({
      problems: [],
      usage: { id: expect.stringMatching(/^ed_/), missing: [] },
      note: null,
    })
    const replay = (...args: string[]) => tollgate(['billing', 'webhooks', 'replay', ...args])
    const from = '2020-01-01'
    const replayed = await replay('--from', from, '--type', 'customer.updated', '--json')
    expect([replayed.code, replayed.json()]).toEqual([0, { replayed: expect.any(Number) }])
    expect((await replay('--id', 'evt_none')).stdout).toContain('no event "evt_none"')
    expect((await replay()).stderr).toContain('Give --id or --from')
    for (const wrong of [
      ['--from', 'yesterday'],
      ['--from', from, '--source', 'mail'],
    ]) {
      expect((await replay(...wrong)).code).toBe(2)
    }
  })

  it('`doctor` reports no problem on a running demo', async () => {
    const { code, json } = await tollgate(['doctor', '--json'])
    const { healthy, findings } = json()
    expect(findings.filter(({ level }: { level: string }) => level !== 'ok')).toEqual([])
    expect(healthy).toBe(true)
    expect(code).toBe(0)
    const checks = new Set(findings.map(({ check }: { check: string }) => check))
    for (const check of [
      'configuration',
      'database',
      'clock',
      'keys',
      'issuer',
      'providers',
      'webhooks',
    ]) {
      expect(checks).toContain(check)
    }
  })

  it.each([
    ['half a configuration', { STRIPE_SECRET: 'sk_live_1' }, 'STRIPE_WEBHOOK_SECRET is missing'],
    [
      'another secret',
      { TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da' },
      'TOLLGATE_PREVIOUS_SECRET',
    ],
    [
      'no database',
      { DATABASE_URL: 'postgres://app:hunter2@127.0.0.1:1/app' },
      'Check DATABASE_URL',
    ],
    ['another address', { TOLLGATE_URL: 'ORIGIN' }, 'set exactly the same TOLLGATE_URL'],
  ])('`doctor` gives advice for %s, and exits with 1', async (_, env, advice) => {
    const { hostname, port } = new URL(service.url)
    const other = hostname === 'localhost' ? `http://127.0.0.1:${port}` : `http://localhost:${port}`
    const filled = Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, value === 'ORIGIN' ? other : value]),
    )
    const { code, stdout } = await tollgate(['doctor'], { env: filled })
    expect(code).toBe(1)
    expect(stdout).toContain('PROBLEM')
    expect(stdout).toContain(advice)
    for (const secret of ['sk_live_1', 'hunter2', 'kS9x1Q']) expect(stdout).not.toContain(secret)
  })

  it('`doctor` finds the URL of a running demo without PORT and TOLLGATE_URL', async () => {
    const { json } = await tollgate(['doctor', '--json'], { env: { TOLLGATE_URL: undefined } })
    expect(json().findings).toContainEqual(
      expect.objectContaining({
        check: 'issuer',
        level: 'ok',
        message: expect.stringContaining(service.url),
      }),
    )
  })

  it('`doctor` checks, in production with Stripe, whether webhooks arrive', async () => {
    const port = String(await findFreePort())
    const stripe = await startSandbox({ stripe: true })
    for (const plan of ['monthly', 'pro', 'yearly']) {
      stripe.stripe.seedPrice({ id: plan, unitAmount: 1000 })
    }
    const production = await startTestService({
      environment: {
        PORT: port,
        TOLLGATE_URL: `http://localhost:${port}`,
        TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
        STRIPE_SECRET: stripe.stripe.apiKey,
        STRIPE_WEBHOOK_SECRET: 'whsec_1',
        STRIPE_API_URL: stripe.stripe.url,
      },
    })
    const env = {
      DATABASE_URL: production.databaseUrl,
      TOLLGATE_DATA_DIR: production.dataDir,
      PORT: port,
      TOLLGATE_URL: production.url,
      TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
      STRIPE_SECRET: stripe.stripe.apiKey,
      STRIPE_WEBHOOK_SECRET: 'whsec_1',
      STRIPE_API_URL: stripe.stripe.url,
    }
    const without = await tollgate(['doctor'], { env })
    const url = `${production.url}/stripe/webhook`
    expect(without.stdout).toContain(`stripe sends nothing to ${url}`)
    expect(without.stdout).toContain('run: tollgate billing webhooks create,')
    expect(without.code).toBe(1)
    const created = await tollgate(['billing', 'webhooks', 'create', '--json'], { env })
    const registered = await tollgate(['doctor'], { env })
    expect(registered.stdout).toContain(`stripe sends its events to ${url}`)
    expect(registered.stdout).toContain('/stripe/webhook responds and requires a signature')
    expect(registered.stdout).toContain('Billing by usage needs another')
    expect(registered.stdout).not.toContain('PROBLEM')
    expect(registered.code).toBe(0)

    // The same two endpoints as event destinations, and their problems.
    const { webhookEndpoints, v2 } = new Stripe(stripe.stripe.apiKey, stripe.stripe.config)
    await webhookEndpoints.del(created.json().id)
    const whole = await v2.core.eventDestinations.create({
      name: 'By hand',
      type: 'webhook_endpoint',
      event_payload: 'snapshot',
      enabled_events: ['*'],
      webhook_endpoint: { url },
    })
    const usage = await tollgate(['billing', 'webhooks', 'create', '--usage', '--json'], { env })
    const destinations = await tollgate(['doctor'], { env })
    expect(destinations.stdout).toContain(`stripe sends its events to ${url}`)
    expect(destinations.stdout).not.toContain('Billing by usage needs another')
    expect(destinations.code).toBe(0)
    await v2.core.eventDestinations.disable(usage.json().id)
    await v2.core.eventDestinations.update(whole.id, { enabled_events: ['invoice.paid'] })
    const ill = await tollgate(['doctor'], { env })
    const { stdout: checked } = await tollgate(['billing', 'webhooks', 'check'], { env })
    for (const text of [`${usage.json().id} is switched off`, `${whole.id} does not send`]) {
      expect(ill.stdout).toContain(text)
      expect(checked).toContain(text)
    }
    expect(ill.stdout).toContain('webhooks create --replace')
    expect(ill.code).toBe(1)
    await production.stop()
    await stripe.close()
  })

  it('`--help` explains the first steps, and describes each group of commands', async () => {
    const { code, stdout } = await tollgate(['--help'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('Start with tollgate serve')])
    const { stdout: payments } = await tollgate(['billing', '--help'])
    expect(payments).toContain('payment providers send: check, create, replay')
    expect(stdout + payments).not.toContain('undefined')
  })

  it('an unknown command exits with 2 and mentions the help', async () => {
    const { code, stderr } = await tollgate(['frobnicate'])
    expect(code).toBe(2)
    expect(stderr).toContain('--help')
  })
})

it('tollgate --version prints the version', async () => {
  const { code, stdout } = await tollgate(['--version'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

describe('tollgate client create, with redirect URIs or options for grants,', () => {
  const create = (...args: string[]) =>
    tollgate(['client', 'create', '--name', 'App', ...args, '--json'])

  it('keeps a comma in a redirect URI, and accepts several URIs as several options', async () => {
    const addresses = ['https://a.example/cb?list=1,2', 'https://b.example/cb']
    const { json } = await create(...addresses.flatMap((each) => ['--redirect', each]))
    const stored = await service.oauth.clients.find(json().id)
    expect(stored?.redirectUris).toEqual(addresses)
    // The output of the API can be sent back unchanged.
    const redirect = addresses.join(',')
    const updated = await service.oauth.clients.update(json().id, { name: 'App', redirect })
    expect(updated.redirectUris).toEqual(addresses)
  })

  it.each([
    ['https://a.example/cb,https://b.example/cb', 'one by one'],
    ['http://a.example/cb', 'https'],
    ['mailto:ada@example.com', 'mailto:'],
  ])('rejects the redirect URI %s with an explanation', async (address, why) => {
    const { code, stderr } = await create('--redirect', address)
    expect(code).toBe(2)
    expect(stderr).toContain(why)
  })

  it.each([
    ['--password', 'TOLLGATE_PASSWORD_GRANT'],
    ['--device', 'TOLLGATE_DEVICE_GRANT'],
    ['--exchange', 'TOLLGATE_EXCHANGE_GRANT'],
  ])('rejects the option %s if its grant is switched off', async (kind, variable) => {
    const args = ['client', 'create', '--name', 'App', kind]
    const { code, stderr } = await tollgate(args, { env: { [variable]: 'off' } })
    expect([code, stderr]).toEqual([2, expect.stringContaining('switched off')])
  })

  it.each([
    ['--assertion', true],
    ['--workload', false],
  ])('accepts the option %s only if a trusted issuer is configured', async (kind, confidential) => {
    const args = ['client', 'create', '--name', 'App', kind, '--json']
    const refused = await tollgate(args)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('trustedIssuers')])
    const file = join(service.dataDir, 'issuers.config.mjs')
    const issuer = "issuer: 'https://ci.example', jwksUri: 'https://ci.example/keys'"
    const trusted = `trustedIssuers: [{ ${issuer}, scopes: [], clientOf: {} }]`
    writeFileSync(file, `export default { ${trusted} }`)
    const made = await tollgate(args, { env: { TOLLGATE_CONFIG: file } })
    expect(made.code).toBe(0)
    const { id, secret } = made.json()
    expect(secret !== null).toBe(confidential)
    expect((await service.oauth.clients.find(id))?.grantTypes).toEqual([
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
    ])
  })
})

it('tollgate doctor lists stored redirect URIs that would now be rejected, although they still work', async () => {
  const { client } = await service.oauth.clients.create({
    name: 'Old',
    redirect: 'https://old.example/cb',
  })
  const redirect_uris = JSON.stringify(['http://old.example/cb'])
  await service.database.kysely
    .updateTable('oauth_clients')
    .set({ redirect_uris })
    .where('id', '=', client.id)
    .execute()
  const { json } = await tollgate(['doctor', '--json'])
  expect(json().findings).toContainEqual(
    expect.objectContaining({
      check: 'redirects',
      level: 'warning',
      message: expect.stringContaining(`Old (${client.id}): http://old.example/cb must use https:`),
    }),
  )
  const query = new URLSearchParams({
    client_id: client.id,
    response_type: 'code',
    redirect_uri: 'http://old.example/cb',
  })
  const response = await fetch(`${service.url}/oauth/authorize?${query}`, { redirect: 'manual' })
  // The redirect to sign in shows that the URI was accepted; otherwise there would be an error
  // page.
  expect(response.status).toBe(303)
})
