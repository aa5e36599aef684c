import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Subscription } from '@tollgate/billing'
import { kyselyStorage } from '@tollgate/oauth'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../../test-support/create-test-database.ts'
import { runCli } from '../../src/program.ts'
import type { Role } from '../../src/users/roles.ts'
import { newAddress, PASSWORD } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'

const REDIRECT = 'https://shop.example/callback'
const CARD = 'pm_card_visa'
const NAME = 'Ada of the night shift'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ options: { keepDemo: true, mailbox: true } })
})
afterAll(() => service.stop())

interface Run {
  readonly input?: string
  readonly env?: Record<string, string>
}

/** Runs a command as a shell would. */
async function tollgate(args: readonly string[], { input = '', env = {} }: Run = {}) {
  const out: string[] = []
  const err: string[] = []
  const environment = {
    DATABASE_URL: service.databaseUrl,
    TOLLGATE_DATA_DIR: service.dataDir,
    TOLLGATE_URL: service.url,
    ...env,
  }
  const code = await runCli(args, environment, {
    stdout: { write: (text) => void out.push(text) },
    stderr: { write: (text) => void err.push(text) },
    stdin: Readable.from([input]) as never,
  })
  const stdout = out.join('')
  return { code, stdout, stderr: err.join(''), json: () => JSON.parse(stdout) }
}

async function person(role: Role | null = null) {
  const email = newAddress('person')
  const { id } = await service.users.create({ email, password: PASSWORD, role })
  return { id, email }
}

/** A person who pays at Stripe, whose subscription was changed by `change`. */
async function subscriber(
  change: (subscription: Subscription) => Promise<unknown> = async () => {},
) {
  const { id } = await person()
  const payer = await service.billing.user(Number(id))
  await payer.newSubscription('main', 'pro').create('pm_card_visa')
  await change(await payer.subscription('main'))
  return id
}

async function client(owner: string | null = null) {
  const { client } = await service.oauth.clients.create({
    name: 'Shop',
    redirect: REDIRECT,
    ...(owner !== null && { userId: owner }),
  })
  return client.id
}

async function token() {
  const owner = await person()
  const { token } = await service.oauth.tokens.createPersonal({ userId: owner.id, name: 'Backup' })
  return { id: token.id, owner }
}

async function customer() {
  const { id, email } = await person()
  const user = await service.billing.user(id)
  return { id, email, subscription: await user.newSubscription('main', 'monthly').create(CARD) }
}

/** A date by the clock of the database, which commands use. */
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

/** A person with an open session. */
async function signedInPerson() {
  const { id } = await person()
  const now = Date.now()
  const times = {
    created_at: now,
    seen_at: now,
    authenticated_at: now,
    expires_at: now + 3_600_000,
  }
  const row = { id_hash: `session-of-${id}`, user_id: Number(id), methods: 'pwd', ...times }
  await service.database.kysely.insertInto('sessions').values(row).execute()
  return id
}

const entries = () =>
  service.database.kysely.selectFrom('audit_entries').selectAll().orderBy('id').execute()

/** Runs a command, and returns the audit entries that it left. */
async function runAndListEntries(args: readonly string[], run: Run = {}) {
  const before = new Set((await entries()).map(({ id }) => id))
  const result = await tollgate(args, run)
  const left = (await entries()).filter(({ id }) => !before.has(id))
  return { ...result, left }
}

const password = { input: 'new horse battery\n' }

/** Commands by their operations, with their arguments. Each leaves one entry that it was done. */
const CHANGING: readonly (readonly [string, () => Promise<readonly string[]>, Run?])[] = [
  [
    'users.create',
    async () => ['user', 'create', '--email', newAddress('new'), '--password', PASSWORD],
  ],
  ['users.invite', async () => ['user', 'invite', newAddress('invited')]],
  ['users.setPassword', async () => ['user', 'password', (await person()).id], password],
  ['users.setRole', async () => ['user', 'role', (await person()).email, 'support']],
  ['users.signOut', async () => ['user', 'sign-out', (await person()).id]],
  ['users.resetFactors', async () => ['user', 'reset-factors', (await person()).id]],
  [
    'users.unlink',
    async () => {
      const { id } = await person()
      const identity = { provider: 'google', subject: id, email: null }
      await service.users.identities.link(id, identity)
      const [link] = await service.users.identities.list(id)
      return ['user', 'unlink', id, '--link', link?.id ?? '']
    },
  ],
  ['users.disable', async () => ['user', 'disable', (await person()).id]],
  ['users.enable', async () => ['user', 'enable', (await person()).id]],
  ['users.delete', async () => ['user', 'delete', (await person()).id]],
  ['clients.create', async () => ['client', 'create', '--name', 'App', '--credentials']],
  [
    'clients.createForManagement',
    async () => [
      ...['client', 'create', '--name', 'Reports', '--management'],
      ...['--scope', 'admin.users:read'],
    ],
  ],
  ['clients.update', async () => ['client', 'update', await client(), '--name', 'Market']],
  ['clients.rotateSecret', async () => ['client', 'secret', await client()]],
  ['clients.replaceLeakedSecret', async () => ['client', 'secret', await client(), '--leaked']],
  ['clients.verify', async () => ['client', 'verify', await client((await person()).id)]],
  ['clients.unverify', async () => ['client', 'unverify', await client((await person()).id)]],
  ['clients.revoke', async () => ['client', 'delete', await client()]],
  ['clients.revokeToken', async () => ['token', 'revoke', '--id', (await token()).id]],
  ['clients.revokeTokensOf', async () => ['token', 'revoke', '--user', (await person()).email]],
  ['billing.planChange', async () => ['billing', 'plan-change', await subscriber(), 'monthly']],
  [
    'billing.cancelPlannedChange',
    async () => [
      ...['billing', 'cancel-plan-change'],
      await subscriber((subscription) => subscription.swapAtPeriodEnd('monthly')),
    ],
  ],
  [
    'billing.applyPromotionCode',
    async () => ['billing', 'promotion-code', await subscriber(), 'SPRING'],
  ],
  ['billing.removeDiscounts', async () => ['billing', 'remove-discounts', await subscriber()]],
  [
    'billing.applyCoupon',
    async () => {
      const { entries } = await service.billing.catalog.coupons({ provider: 'stripe' })
      return ['billing', 'coupon', await subscriber(), entries[0]?.id ?? '']
    },
  ],
  [
    'billing.issueCreditNote',
    async () => {
      const id = await subscriber()
      const [invoice] = await (await service.billing.user(Number(id))).invoices()
      const args = ['billing', 'credit-notes', 'issue', id, invoice?.id ?? '', 'balance']
      return [...args, '--amount', '5.00', '--idempotency-key', `note-${id}`]
    },
  ],
  ['billing.pause', async () => ['billing', 'pause', await subscriber(), '--bills', 'void']],
  [
    'billing.unpause',
    async () => ['billing', 'unpause', await subscriber((subscription) => subscription.pause())],
  ],
  [
    'billing.addTaxId',
    async () => ['billing', 'tax-ids', 'add', await subscriber(), 'eu_vat', 'DE123456789'],
  ],
  [
    'billing.removeTaxId',
    async () => {
      const id = await subscriber()
      const payer = await service.billing.user(Number(id))
      const taxId = await payer.createTaxId('eu_vat', 'DE123456789')
      return ['billing', 'tax-ids', 'remove', id, taxId.id]
    },
  ],
  ['billing.setTaxExempt', async () => ['billing', 'tax-exempt', await subscriber(), 'exempt']],
  [
    'billing.setAddress',
    async () => ['billing', 'address', await subscriber(), '--city', 'York', '--country', 'GB'],
  ],
  ['keys.rotate', async () => ['keys', 'rotate']],
  [
    'keys.revoke',
    async () => {
      const { json } = await tollgate(['keys', 'rotate', '--json'])
      return ['keys', 'revoke', '--', json().kid]
    },
  ],
  ['keys.reseal', async () => ['keys', 'reseal']],
  ['keys.endEverything', async () => ['restore-finish', '--yes']],
  ['billing.cancel', async () => ['billing', 'cancel', (await customer()).id]],
  ['billing.cancelNow', async () => ['billing', 'cancel', (await customer()).id, '--now']],
  [
    'billing.resume',
    async () => {
      const { id, subscription } = await customer()
      await subscription.cancel()
      return ['billing', 'resume', id, '--subscription', String(subscription.id)]
    },
  ],
  [
    'billing.refund',
    async () => {
      const { id } = await customer()
      const { json } = await tollgate(['billing', 'invoices', id, '--json'])
      const args = ['billing', 'refund', id, json()[0].id, '--amount', '1.00']
      return [...args, '--idempotency-key', `refund-${id}`]
    },
  ],
  [
    'users.endSession',
    async () => {
      const id = await signedInPerson()
      const { json } = await tollgate(['user', 'sessions', id, '--json'])
      return ['user', 'end-session', id, '--session', json()[0].id]
    },
  ],
  [
    'users.revokeApplication',
    async () => {
      const { id } = await person()
      return ['user', 'revoke-application', id, '--client', await client()]
    },
  ],
  ['billing.comp', async () => ['billing', 'comp', (await person()).id, '--until', inDays(30)]],
  [
    'billing.extendTrial',
    async () => {
      const { id } = await person()
      const payer = await service.billing.user(Number(id))
      await payer.newSubscription('main', 'pro').trialDays(7).create(CARD)
      return ['billing', 'extend-trial', id, '--until', inDays(30)]
    },
  ],
  [
    'billing.credit',
    async () => {
      const id = await subscriber()
      const args = ['billing', 'credit', id, '--amount', '5.00', '--description', 'Sorry']
      return [...args, '--idempotency-key', `credit-${id}`]
    },
  ],
  [
    'billing.debit',
    async () => {
      const id = await subscriber()
      return ['billing', 'debit', id, '--amount', '5.00', '--idempotency-key', `debit-${id}`]
    },
  ],
  [
    'mail.retry',
    async () => {
      service.sandbox?.mail?.fail('unknown-recipient')
      await subscriber()
      await service.sandbox?.outbox.flush()
      await expect.poll(() => service.billing.notices?.deadLetters()).not.toEqual([])
      service.sandbox?.mail?.recover()
      const { json } = await tollgate(['mail', 'list', '--json'])
      return ['mail', 'retry', String(json()[0].id)]
    },
  ],
  [
    'mail.retryAboutAccount',
    async () => {
      const user = { ...(await person()), locale: null }
      service.sandbox?.mail?.fail('unknown-recipient')
      // Without a link, which would have expired by the clock of commands.
      await service.recovery.notify(user, 'password_changed')
      await service.recovery.process()
      service.sandbox?.mail?.recover()
      const { json } = await tollgate(['mail', 'list', '--about', 'accounts', '--json'])
      return ['mail', 'retry', String(json()[0].id), '--about', 'accounts']
    },
  ],
  ['settings.migrate', async () => ['migrate']],
  ['settings.repairClock', async () => ['clock', 'repair']],
  ['settings.purge', async () => ['purge']],
  ['clients.purgeTokens', async () => ['token', 'purge']],
  ['mail.test', async () => ['mail', 'test', newAddress('operations')]],
  ['billing.syncAll', async () => ['billing', 'sync']],
  [
    'webhooks.createEndpoint',
    async () => ['billing', 'webhooks', 'create', '--url', 'https://shop.example/hook'],
  ],
  ['webhooks.replay', async () => ['billing', 'webhooks', 'replay', '--from', '2020-01-01']],
]

describe('the audit log of commands', () => {
  for (const [operation, args, run] of CHANGING) {
    it(`has one entry about ${operation}, with the name given with --as`, async () => {
      const { code, stderr, left } = await runAndListEntries(['--as', NAME, ...(await args())], run)
      expect([code, stderr]).toEqual([0, ''])
      const done = left.filter(({ outcome }) => outcome !== 'started')
      expect(done).toEqual([
        expect.objectContaining({
          operation,
          outcome: 'done',
          actor_kind: 'command',
          actor_id: NAME,
          door: 'command',
          request_id: null,
        }),
      ])
      expect(left.filter(({ id }) => id !== done[0]?.id).map((each) => each.actor_id)).toEqual(
        done[0]?.intent_id ? [NAME] : [],
      )
      expect(JSON.stringify(left)).not.toMatch(/@example|horse|tgs_|whsec_/)
    })
  }

  it('lists sessions, approved applications and mail as tables with headers', async () => {
    const id = await signedInPerson()
    const sessions = await tollgate(['user', 'sessions', id])
    expect(sessions.stdout).toMatch(/^ID +STARTED +LAST SEEN +ADDRESS +BROWSER\n\S+ +\d{4}-/)
    const none = await tollgate(['user', 'applications', id])
    expect([none.code, none.stdout]).toEqual([0, 'No application was approved\n'])
    const mail = await tollgate(['mail', 'list', '--state', 'pending', '--json'])
    expect([mail.code, mail.json()]).toEqual([0, []])
  })

  it('`billing comp` without a date, and `billing credit` in another currency than the balance, change nothing', async () => {
    const id = await subscriber()
    const rejected = [
      await runAndListEntries(['billing', 'comp', id]),
      await runAndListEntries(['billing', 'comp', id, '--end', '--until', inDays(3)]),
      await runAndListEntries(['billing', 'extend-trial', id]),
      await runAndListEntries(['billing', 'credit', id, '--amount', '5']),
      await runAndListEntries(['user', 'end-session', id, '--session', 'none']),
    ]
    expect(rejected.map(({ code, left }) => [code, left])).toEqual(rejected.map(() => [2, []]))
    const foreign = ['billing', 'credit', id, '--amount', '5.00', '--currency', 'chf']
    const { code, stderr, left } = await runAndListEntries(foreign)
    expect([code, left.map(({ outcome }) => outcome)]).toEqual([2, ['started', 'failed']])
    expect(stderr).toContain('This balance is in usd, not in chf.')
  })

  it('gives the credit once if `billing credit` is repeated with the same idempotency key', async () => {
    const id = await subscriber()
    const args = ['billing', 'credit', id, '--amount', '7.00', '--idempotency-key', `twice-${id}`]
    expect((await tollgate(args)).stdout).toContain('The balance is now $7.00')
    expect((await tollgate(args)).code).toBe(0)
    const balance = await (await service.billing.user(Number(id))).balance()
    expect(balance).toMatchObject({ amount: 700, currency: 'usd' })
  })

  it('has one entry about the account and one about the role after `user create --role`', async () => {
    const email = newAddress('owner')
    const args = ['user', 'create', '--email', email, '--password', PASSWORD, '--role', 'owner']
    const { json, left } = await runAndListEntries([...args, '--json'])
    const { id } = json()
    expect(json()).toEqual({ id, email })
    expect(left.map((each) => [each.operation, each.subject_id])).toEqual([
      ['users.create', id],
      ['users.setRole', id],
    ])
    expect((await service.users.findAccount(id))?.role).toBe('owner')
  })

  it("contains the name of the operating system's user if --as is not given", async () => {
    const { left } = await runAndListEntries(['user', 'sign-out', (await person()).id])
    expect(left.map((each) => each.actor_id)).toEqual([userInfo().username])
  })

  it.each([
    ['before the command', (args: string[]) => ['--as', 'grace', ...args]],
    ['after its arguments', (args: string[]) => [...args, '--as', 'grace']],
  ])('contains the name given with --as %s', async (_, withName) => {
    const { left } = await runAndListEntries(
      withName(['user', 'sign-out', (await person()).id, '--json']),
    )
    expect(left.map((each) => each.actor_id)).toEqual(['grace'])
  })

  it.each(['', '  ', 'x'.repeat(192), 'two\nlines', 'ada\u001b[2J', 'ada\u202eecila'])(
    'rejects %j as a name for --as',
    async (name) => {
      const { id } = await person()
      const { code, stderr, left } = await runAndListEntries(['user', 'sign-out', id, '--as', name])
      expect([code, left]).toEqual([2, []])
      expect(stderr).toContain('--as expects a name of 1 to 191 printable characters')
    },
  )

  it.each([
    ['user', 'list'],
    ['client', 'list'],
    ['keys', 'list'],
    ['billing', 'sync', '--dry-run'],
    ['user', 'disable', 'nobody@example.com'],
    ['client', 'update', 'nobody', '--name', 'X'],
  ])('has no entry about a command that changes nothing: %s %s %s', async (...args) => {
    expect((await runAndListEntries(args.filter((word) => word !== undefined))).left).toEqual([])
  })

  it('has an entry about the failed attempt to remove the role of the last owner', async () => {
    const owners = await service.users.page({ role: 'owner', before: null, limit: 100 })
    const { id } = await person('owner')
    for (const owner of owners) await service.users.setRole(owner.id, null)
    const { code, stderr, left } = await runAndListEntries(['user', 'role', id, 'none'])
    expect([code, stderr]).toEqual([2, 'This is the last owner. Appoint another one first.\n'])
    expect(left).toEqual([
      expect.objectContaining({ operation: 'users.setRole', outcome: 'failed' }),
    ])
    expect((await service.users.findAccount(id))?.role).toBe('owner')
  })
})

describe('tollgate user role', () => {
  it('makes a person an operator who must sign in again, and removes the role', async () => {
    const { id, email } = await person()
    const browser = service.browser()
    await browser.signIn(email, PASSWORD)
    const made = await tollgate(['user', 'role', email, 'admin', '--json'])
    expect([made.code, made.json()]).toEqual([0, { id, email, role: 'admin' }])
    expect((await browser.get('/account')).status).toBe(302)
    const taken = await tollgate(['user', 'role', id, 'none', '--json'])
    expect(taken.json()).toEqual({ id, email, role: null })
  })

  it('lists the roles if the given role does not exist', async () => {
    const { code, stderr } = await tollgate(['user', 'role', '1', 'king', '--json'])
    expect([code, JSON.parse(stderr)]).toEqual([
      2,
      {
        error: 'The role must be one of viewer, support, admin, owner, none, not "king"',
        choices: ['viewer', 'support', 'admin', 'owner', 'none'],
      },
    ])
  })
})

describe('tollgate user sign-out', () => {
  it('ends the sessions of a person, who may sign in again', async () => {
    const { id, email } = await person()
    const browser = service.browser()
    await browser.signIn(email, PASSWORD)
    const { code, json } = await tollgate(['user', 'sign-out', email, '--json'])
    expect([code, json()]).toEqual([0, { id, email, signed_out: true }])
    expect((await browser.get('/account')).status).toBe(302)
    expect((await browser.signIn(email, PASSWORD)).status).toBe(303)
  })
})

describe('tollgate user list', () => {
  it('lists accounts page by page, newest first', async () => {
    const people = [await person(), await person(), await person()].map(({ id }) => id).reverse()
    const first = await tollgate(['user', 'list', '--limit', '2', '--json'])
    const ids = (json: unknown) => (json as { id: string }[]).map(({ id }) => id)
    expect(ids(first.json())).toEqual(people.slice(0, 2))
    expect(first.stderr).toBe(`There are more accounts: add --after ${people[1]}\n`)
    const next = ['user', 'list', '--limit', '1', '--after', people[1] ?? '', '--json']
    expect(ids((await tollgate(next)).json())).toEqual(people.slice(2))
  })

  it('lists only the operators with the given role, below column headers', async () => {
    const { email } = await person('viewer')
    await person()
    const { stdout, stderr } = await tollgate(['user', 'list', '--role', 'viewer'])
    const [headers = '', ...lines] = stdout.trimEnd().split('\n')
    expect(headers.split(/ {2,}/)).toEqual(['ID', 'EMAIL', 'NAME', 'ROLE', 'CREATED', 'STATE'])
    expect([lines.length, stderr]).toEqual([1, ''])
    expect(lines[0]).toContain(email)
    expect(headers.indexOf('ROLE')).toBe(lines[0]?.indexOf('viewer'))
  })

  it.each([
    [['--limit', '0'], '--limit must be a whole number from 1 to 10000, not 0'],
    [['--limit', 'all'], '--limit must be a whole number from 1 to 10000, not all'],
    [['--after', 'ada@example.com'], '--after expects the id of a user'],
    [['--role', 'king'], '--role must be one of viewer, support, admin, owner'],
  ])('rejects the options %j', async (args, message) => {
    const { code, stderr } = await tollgate(['user', 'list', ...args])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('tollgate client', () => {
  const URN = 'urn:ietf:params:oauth:grant-type:'
  const show = async (id: string) => (await tollgate(['client', 'show', id, '--json'])).json()

  it('creates a client with several grants and scopes, shows it and changes it', async () => {
    const { code, json, stderr } = await tollgate([
      ...['client', 'create', '--name', 'Shop', '--redirect', REDIRECT],
      ...['--grant', 'token-exchange', '--grant', 'client_credentials'],
      ...['--scope', 'place-orders', '--scope', 'check-status'],
      ...['--first-party', '--resource-server', '--json'],
    ])
    expect([code, stderr]).toEqual([0, ''])
    const { id } = json()
    expect(json()).toEqual({ id, secret: expect.any(String) })
    expect(await show(id)).toMatchObject({
      grants: ['authorization_code', 'refresh_token', `${URN}token-exchange`, 'client_credentials'],
      scopes: ['place-orders', 'check-status'],
      first_party: true,
      resource_server: true,
    })
    const changed = await tollgate([
      ...['client', 'update', id, '--grant', 'client_credentials', '--any-scope'],
      ...['--first-party', 'no', '--setting', 'client_uri=https://shop.example', '--json'],
    ])
    expect(changed.code).toBe(0)
    expect(await show(id)).toEqual(changed.json())
    expect(changed.json()).toMatchObject({
      name: 'Shop',
      grants: ['client_credentials'],
      scopes: null,
      first_party: false,
      resource_server: true,
      settings: { client_uri: 'https://shop.example' },
    })
    const removed = await tollgate(['client', 'update', id, '--setting', 'client_uri=null'])
    expect(removed.stdout).not.toContain('client_uri')
    const { stdout } = await tollgate(['client', 'show', id])
    expect(stdout).toMatch(/^Id +\S+\nName +Shop\n/)
    expect(stdout).toContain('Resource server      yes')
  })

  it('creates a client of the management API, which can then call it', async () => {
    const { json } = await tollgate([
      ...['client', 'create', '--name', 'Reports', '--management'],
      ...['--scope', 'admin.users:read', '--json'],
    ])
    const { id, secret } = json()
    const token = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: secret,
        scope: 'admin.users:read',
      }),
    })
    const { access_token } = (await token.json()) as { access_token: string }
    const headers = { authorization: `Bearer ${access_token}` }
    const listed = await fetch(`${service.url}/admin/v1/users`, { headers })
    expect(listed.status).toBe(200)
  })

  it('replaces a secret with an overlap, or immediately if it leaked', async () => {
    const { client: shop, secret: first } = await service.oauth.clients.create({
      name: 'Robot',
      grants: ['client_credentials'],
    })
    const accepts = async (secret: string | null) => {
      const form = { client_id: shop.id, client_secret: secret ?? '' }
      const body = new URLSearchParams({ ...form, grant_type: 'client_credentials' })
      return (await fetch(`${service.url}/oauth/token`, { method: 'POST', body })).ok
    }
    const planned = await tollgate(['client', 'secret', shop.id, '--overlap', '2d', '--json'])
    const { secret: second, previous_secret_until: until } = planned.json()
    expect(planned.json()).toEqual({ id: shop.id, secret: second, previous_secret_until: until })
    expect(until).not.toBeNull()
    await expect.poll(() => accepts(second)).toBe(true)
    expect(await accepts(first)).toBe(true)
    const leaked = await tollgate(['client', 'secret', shop.id, '--leaked', '--json'])
    const { secret: third } = leaked.json()
    expect(leaked.json().previous_secret_until).toBeNull()
    await expect.poll(() => accepts(second)).toBe(false)
    expect([await accepts(first), await accepts(third)]).toEqual([false, true])
  })

  it.each([
    ['create --name A --management', '--management needs at least one --scope'],
    ['create --name A --management --public --scope admin.users:read', 'cannot be combined'],
    ['create --name A --management --scope place-orders', 'scopes.0'],
    [
      `create --name A --management --scope admin.users:read --redirect ${REDIRECT}`,
      '--management takes only --name and --scope',
    ],
    ['create --name A --credentials --scope admin.users:read', 'admin.users:read is for clients'],
    ['create --name A --credentials --grant none-such', 'none-such'],
    ['update nobody', 'Nothing to change'],
    ['update nobody --any-scope --scope place-orders', 'cannot be combined'],
    ['update nobody --first-party maybe', 'must be one of yes, no'],
    ['update nobody --name X', '"nobody": There is no such client.'],
    ['show nobody', '"nobody": There is no such client. `tollgate client list`'],
    ['secret nobody', '"nobody": There is no such client.'],
    ['secret nobody --leaked --overlap 1h', 'cannot be combined'],
    ['secret nobody --overlap 31d', 'a time of up to 30 days, such as 24h or 7d, not 31d'],
    ['secret nobody --overlap soon', 'a time of up to 30 days'],
    ['unverify nobody', '"nobody": There is no such client.'],
  ])('explains what is wrong with the arguments %s', async (words, message) => {
    const { code, stderr } = await tollgate(['client', ...words.split(' ')])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('tollgate token', () => {
  it('lists the valid tokens of a person page by page until they are revoked', async () => {
    const { id, owner } = await token()
    const again = { userId: owner.id, name: 'Restore', scopes: ['place-orders'] }
    const { token: newer } = await service.oauth.tokens.createPersonal(again)
    const all = await tollgate(['token', 'list', '--user', owner.email, '--json'])
    expect(all.json()).toHaveLength(2)
    expect(all.json()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: newer.id, user_id: owner.id, name: 'Restore' }),
        expect.objectContaining({ id, user_id: owner.id, scopes: [] }),
      ]),
    )
    const page = await tollgate(['token', 'list', '--user', owner.id, '--limit', '1'])
    expect(page.stdout).toMatch(
      /^ID +USER +CLIENT +SCOPES +EXPIRES +LAST USED +NAME\n.* never +\w+\n$/,
    )
    expect(page.stderr).toContain('There are more tokens: add --after ')
    expect((await tollgate(['token', 'revoke', '--id', id])).code).toBe(0)
    expect((await tollgate(['token', 'revoke', '--id', id])).code).toBe(0)
    expect((await tollgate(['token', 'list', '--user', owner.id, '--json'])).json()).toHaveLength(1)
    expect((await tollgate(['token', 'revoke', '--user', owner.id])).code).toBe(0)
    const none = await tollgate(['token', 'list', '--user', owner.id])
    expect(none.stdout).toBe('There are no valid tokens\n')
  })

  it.each([
    ['revoke', 'Give either --id or --user'],
    ['revoke --id 1 --user 1', 'Give either --id or --user'],
    ['revoke --id none', 'There is no token "none". Give an id that `tollgate token list` shows'],
    ['revoke --user nobody@example.com', 'There is no user "nobody@example.com"'],
    ['list --limit 0', 'from 1 to 1000'],
  ])('explains what is wrong with the arguments %s', async (words, message) => {
    const { code, stderr } = await tollgate(['token', ...words.split(' ')])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('tollgate billing, for a person,', () => {
  it('lists the subscriptions of one person or of all people', async () => {
    const { id, email, subscription } = await customer()
    const own = await tollgate(['billing', 'subscriptions', '--user', email, '--json'])
    expect(own.json()).toEqual([
      expect.objectContaining({ id: subscription.id, user_id: id, name: 'main' }),
    ])
    const { stdout, stderr } = await tollgate(['billing', 'subscriptions', '--limit', '1'])
    expect(stdout).toMatch(/^ID +OWNER +NAME +PLAN +PROVIDER +STATES +ENDS\n/)
    expect(stderr).toContain('There are more subscriptions: add --after ')
  })

  it('refunds once per idempotency key, and refuses to refund more than was paid', async () => {
    const { id } = await customer()
    const { json } = await tollgate(['billing', 'invoices', id, '--json'])
    const [{ id: invoice, total }] = json()
    const args = ['billing', 'refund', id, invoice, '--amount', '1.00']
    const hinted = await tollgate([...args, '--json'])
    expect(hinted.stderr).toMatch(
      /^If this is interrupted, repeat it with --idempotency-key \S+\n$/,
    )
    const key = hinted.stderr.trim().split(' ').at(-1) ?? ''
    args.push('--idempotency-key', key)
    const first = await tollgate([...args, '--json'])
    expect(first.json()).toMatchObject({ amount: { amount: 100 }, status: 'succeeded' })
    expect((await tollgate([...args, '--json'])).json()).toEqual(first.json())
    const rest = await tollgate(['billing', 'refund', id, invoice, '--json'])
    expect(rest.json().amount.amount).toBe(total.amount - 100)
    // Nothing is left, so this is the refund of before.
    expect((await tollgate(['billing', 'refund', id, invoice, '--json'])).json()).toEqual(
      rest.json(),
    )
    const more = await tollgate(['billing', 'refund', id, invoice, '--amount', '0.01'])
    expect([more.code, more.stdout]).toEqual([2, ''])
    expect(more.stderr).toContain('can still be refunded')
    const foreign = await tollgate(['billing', 'refund', (await customer()).id, invoice])
    expect([foreign.code, foreign.stdout]).toEqual([2, ''])
  })

  it('explains what is wrong with its arguments', async () => {
    const { id } = await customer()
    for (const [words, message] of [
      [`cancel ${id} --subscription other`, 'has no subscription "other". Their subscriptions are'],
      ['cancel nobody@example.com', 'There is no user "nobody@example.com"'],
      [`refund ${id} in_none --amount 5.00`, 'There is no invoice "in_none"'],
      [`refund ${id} in_none --currency usd`, '--currency needs --amount'],
      [`subscriptions --user ${id} --limit 5`, '--user lists all subscriptions'],
    ] as const) {
      const { code, stderr } = await tollgate(['billing', ...words.split(' ')])
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    }
  })
})

it('commands that move money reject an amount without the decimals of its currency', async () => {
  const { id } = await customer()
  const { json } = await tollgate(['billing', 'invoices', id, '--json'])
  const [{ id: invoice }] = json()
  for (const args of [
    ['refund', id, invoice],
    ['credit-notes', 'issue', id, invoice, 'balance'],
  ]) {
    const { code, stdout, stderr } = await tollgate(['billing', ...args, '--amount', '1250'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain("'1250' is not an amount above 0 with the decimals of USD")
  }
})

describe('tollgate keys list', () => {
  it('marks the key that is signing now, for each algorithm', async () => {
    const { json } = await tollgate(['keys', 'list', '--json'])
    const keys = json() as { algorithm: string; signing: boolean }[]
    const algorithms = new Set(keys.map(({ algorithm }) => algorithm))
    expect(keys.filter(({ signing }) => signing)).toHaveLength(algorithms.size)
    const { stdout } = await tollgate(['keys', 'list'])
    expect(stdout).toMatch(/^KID +ALGORITHM +SIGNS FROM +SIGNS NOW\n/)
  })
})

describe('tollgate billing credit-notes', () => {
  it('issues one credit note for repeated calls with the same idempotency key, and lists it', async () => {
    const id = await subscriber()
    const [invoice] = await (await service.billing.user(Number(id))).invoices()
    const issue = (...more: string[]) =>
      tollgate(['billing', 'credit-notes', 'issue', id, invoice?.id ?? '', 'refund', ...more])
    const wrong = await issue('--amount', 'much')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--amount: ')])
    const hinted = await issue('--amount', '1.50')
    expect(hinted.stderr).toMatch(
      /^If this is interrupted, repeat it with --idempotency-key \S+\n$/,
    )
    const key = hinted.stderr.trim().split(' ').at(-1) ?? ''
    const again = await issue('--amount', '1.50', '--idempotency-key', key, '--json')
    expect(again.json()).toMatchObject({ refunded: { amount: 150, currency: 'usd' } })
    const listed = (await tollgate(['billing', 'credit-notes', 'list', id, '--json'])).json()
    expect(listed).toEqual([again.json()])
    const { stdout } = await tollgate(['billing', 'credit-notes', 'list', id])
    expect(stdout).toMatch(/^ID +NUMBER +INVOICE +TOTAL +DATE/)
  })
})

describe('tollgate billing, for taxes,', () => {
  it('adds, lists and removes a tax id', async () => {
    const id = await subscriber()
    const add = ['billing', 'tax-ids', 'add', id, 'eu_vat', 'DE123456789', '--json']
    const added = (await tollgate(add)).json()
    const listed = await tollgate(['billing', 'tax-ids', 'list', id])
    expect(listed.stdout).toMatch(/^ID +TYPE +VALUE +COUNTRY +VERIFICATION\n/)
    expect(listed.stdout).toContain('DE123456789')
    await tollgate(['billing', 'tax-ids', 'remove', id, added.id])
    const { stdout } = await tollgate(['billing', 'tax-ids', 'list', id, '--json'])
    expect(JSON.parse(stdout)).toEqual([])
  })

  it.each([
    [['tax-ids', 'add', '$id', 'eu_vat', 'nonsense'], ''],
    [['tax-exempt', '$id', 'sometimes'], 'tax_exempt'],
    [['address', '$id'], 'Give the parts of the address, or --none'],
    [['address', '$id', '--none', '--city', 'York'], 'Give the parts of the address, or --none'],
    [['address', '$id', '--country', 'Germany'], 'country'],
  ])('explains what is wrong with the arguments %j', async (words, message) => {
    const id = await subscriber()
    const args = ['billing', ...words.map((word) => (word === '$id' ? id : word))]
    const { code, stderr } = await tollgate(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('tollgate billing, for a subscription,', () => {
  it('prints the changed subscription, and requires --subscription if there are several', async () => {
    const id = await subscriber()
    const planned = await tollgate(['billing', 'plan-change', id, 'monthly', '--json'])
    expect(planned.json()).toMatchObject({ plan: 'pro', planned: { plan: 'monthly' } })
    const payer = await service.billing.user(Number(id))
    await payer.newSubscription('extra', 'yearly').create(null)
    const { code, stderr } = await tollgate(['billing', 'cancel-plan-change', id])
    const { id: main } = await payer.subscription('main')
    expect([code, stderr]).toEqual([2, expect.stringContaining(`--subscription: `)])
    expect(stderr).toContain(`${main} (main, pro)`)
    const args = ['billing', 'cancel-plan-change', id, '--subscription', String(main)]
    const { stdout } = await tollgate(args)
    expect(stdout).toBe(`The subscription main (${main}) of ${id} keeps pro.\n`)
  })

  it.each([
    ['pause', 'has no subscription that has not ended'],
    ['pause --until yesterday', "--until: 'yesterday' is not a date"],
    ['pause --bills frame', '--bills must be one of void, keep_as_draft, mark_uncollectible'],
    ['unpause --subscription 999999', 'has no subscription "999999"'],
  ])('explains what is wrong with the arguments %s', async (words, message) => {
    const [name = '', ...options] = words.split(' ')
    const args = ['billing', name, (await person()).id, ...options]
    const { code, stderr } = await tollgate(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

it('commands on the database of an application work without an audit log, and create no tables', async () => {
  const { url, database, drop } = await createTestDatabase()
  onTestFinished(drop)
  await kyselyStorage(database).migrate()
  const tables = async () =>
    (await database.kysely.introspection.getTables()).map((each) => each.name)
  const before = await tables()
  const env = { DATABASE_URL: url, TOLLGATE_DATA_DIR: join(service.dataDir, hostname()) }
  const run = (...args: string[]) => tollgate(args, { env })
  const created = await run('client', 'create', '--name', 'App', '--credentials', '--json')
  expect([created.code, created.stderr]).toEqual([0, ''])
  const { id } = created.json()
  for (const args of [
    ['client', 'show', id],
    ['client', 'update', id, '--name', 'Application'],
    ['client', 'secret', id],
    ['client', 'secret', id, '--leaked'],
    ['client', 'revoke', id],
    ['keys', 'rotate'],
    ['keys', 'list'],
    ['keys', 'reseal'],
    ['restore-finish', '--yes'],
  ]) {
    const { code, stderr } = await run(...args)
    expect([args, code, stderr]).toEqual([args, 0, ''])
  }
  const management = ['--name', 'App', '--management', '--scope', 'admin.users:read']
  for (const args of [
    ['client', 'create', ...management],
    ['user', 'role', '1', 'owner'],
  ]) {
    const { code, stderr } = await run(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining("an application's own tables")])
  }
  expect(await tables()).toEqual(before)
})
