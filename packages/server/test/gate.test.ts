import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBilling } from '@tollgate/billing'
import { connect, hasTable } from '@tollgate/database'
import { createGate, meter, plan } from '@tollgate/gate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SettingsInput } from '../src/config/settings.ts'
import type { ServiceMail } from '../src/config/shapes.ts'
import { runCli } from '../src/program.ts'
import { listCurrentUse } from '../src/storage/gate-data.ts'
import { newAddress, PASSWORD } from './accounts.ts'
import { createOperatorHelpers } from './admin/operators.ts'
import { explain } from './admin/query-plan.ts'
import { newPerson, textOf } from './billing-person.ts'
import { startTestService, type TestService } from './support.ts'

/** Sorts and unbounded scans of the query for those who have used most. */
async function stepsOfCurrentUse(): Promise<string[]> {
  const sent: string[] = []
  const database = await connect(service.databaseUrl, { onQuery: (text) => sent.push(text) })
  await listCurrentUse(database, database.clock.now(), 10)
  const statement = sent.find((text) => text.includes('order by "taken"')) ?? ''
  expect(statement).toMatch(/ limit /)
  const steps = await explain(database, statement)
  await database.close()
  const isByUse = ({ text }: { text: string }) => text.includes('gate_counters_by_use')
  return steps.filter((step) => step.isSort || !isByUse(step)).map(({ text }) => text)
}

const PRO = {
  id: 'pro',
  name: 'Pro',
  quota: { calls: '100/month', words: '1000/month' },
  intervals: [
    { months: 1, amount: 2500 },
    { months: 12, amount: 25_000 },
  ],
}
const SETTINGS = {
  meters: { calls: { kind: 'count', name: 'API calls' }, words: { unit: 'words' } },
  freePlan: {
    scopes: ['check-status'],
    features: ['Support by e-mail'],
    quota: { calls: '3/month' },
  },
  plans: [PRO],
} satisfies SettingsInput

let service: TestService
beforeAll(async () => {
  service = await startTestService({ settings: SETTINGS })
})
afterAll(() => service?.stop())

/** A signed-in person with a token for both scopes. */
async function newCaller() {
  const person = await newPerson(service)
  const body = { name: 'script', scopes: ['check-status', 'place-orders'] }
  const made = await person.browser.api('/oauth/personal-access-tokens', { method: 'POST', body })
  const token = String((made.body as { accessToken?: string }).accessToken)
  const get = (path: string) =>
    fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const { id } = (await service.users.findByEmail(person.email)) ?? { id: '' }
  const subscribe = async (price: string) => {
    const user = await service.billing.user(Number(id))
    await user.newSubscription('main', price).create('pm_card_visa')
    await service.advance({ minutes: 1 })
  }
  return { ...person, id, token, get, subscribe, subject: { type: 'user', id } }
}

/** A client that may count the use of people, and a function that calls the gate's paths. */
async function newApi(scopes = ['gate:use']) {
  const { client, secret } = await service.oauth.clients.create({
    name: 'API',
    scopes,
    grants: ['client_credentials'],
  })
  const form = { grant_type: 'client_credentials', client_id: client.id, scope: scopes.join(' ') }
  const reply = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...form, client_secret: secret ?? '' }),
  })
  const { access_token: token } = (await reply.json()) as { access_token: string }
  return async (name: string, body: object) => {
    const response = await fetch(`${service.url}/gate/v1/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests look at members of many shapes
    return { status: response.status, body: (await response.json()) as any }
  }
}

describe('the tokens of a service whose plans have limits (threat Q10)', () => {
  it('do what the free plan allows, and with a subscription what its plan allows', async () => {
    const ada = await newCaller()
    expect((await ada.get('/api/orders/status')).status).toBe(200)
    const refused = await ada.get('/api/orders')
    expect(refused.status).toBe(402)
    expect(refused.headers.get('www-authenticate')).toBeNull()
    expect(await refused.json()).toMatchObject({
      reason: 'scope_not_in_plan',
      plan: 'free',
      missing: ['place-orders'],
      upgrade_url: `${service.url}/billing`,
    })
    await ada.subscribe('pro-yearly')
    await expect.poll(async () => (await ada.get('/api/orders')).status).toBe(200)
  })

  it('are introspected with the scopes that the plan withholds', async () => {
    const ada = await newCaller()
    const { client, secret } = await service.oauth.clients.create({
      name: 'API',
      grants: ['client_credentials'],
      resourceServer: true,
    })
    const reply = await fetch(`${service.url}/oauth/introspect`, {
      method: 'POST',
      body: new URLSearchParams({
        token: ada.token,
        client_id: client.id,
        client_secret: secret ?? '',
      }),
    })
    expect(await reply.json()).toMatchObject({ active: true, withheld_scope: 'place-orders' })
  })

  it('are not limited if they belong to a client that acts for itself', async () => {
    const { client, secret } = await service.oauth.clients.create({
      name: 'Machine',
      grants: ['client_credentials'],
    })
    const reply = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: secret ?? '',
        scope: 'place-orders',
      }),
    })
    const { access_token: token } = (await reply.json()) as { access_token: string }
    const found = await service.oauth.guard.authenticate('client', {
      authorization: `Bearer ${token}`,
      cookie: undefined,
      csrfToken: undefined,
    })
    expect(found.tokenCan('place-orders')).toBe(true)
  })
})

describe('POST /gate/v1/…, for APIs in other processes and languages', () => {
  it('admits until the quota of the plan is used up, and returns the response that the API should send', async () => {
    const [call, ada] = [await newApi(), await newCaller()]
    const use = { subject: ada.subject, meter: 'calls' }
    for (let left = 2; left >= 0; left -= 1) {
      expect((await call('admit', use)).body).toMatchObject({ allowed: true, plan: 'free' })
      expect((await call('check', use)).body).toMatchObject({ allowed: left > 0, remaining: left })
    }
    const { status, body } = await call('admit', use)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      allowed: false,
      reason: 'quota_used_up',
      problem: { status: 402, missing: ['calls'], upgrade_url: `${service.url}/billing` },
    })
    expect(await service.metrics.read()).toMatch(
      /tollgate_gate_decisions_total\{meter="calls",outcome="quota_used_up"\} [1-9]/,
    )
    const { body: found } = await call('usage', { subject: ada.subject })
    expect(found).toEqual({
      plan: 'free',
      usage: [
        { meter: 'calls', unit: null, used: 3, quota: 3, remaining: 0, resets_at: body.resets_at },
      ],
    })
    await ada.subscribe('pro-monthly')
    await expect.poll(async () => (await call('admit', use)).body.allowed).toBe(true)
    expect((await call('admit', { ...use, meter: 'words', amount: 900 })).body.allowed).toBe(true)
  })

  it('records each use once by its id', async () => {
    const [call, ada] = [await newApi(), await newCaller()]
    const job = { subject: ada.subject, meter: 'calls', amount: 1, id: 'job-1' }
    expect((await call('record', job)).body).toEqual({ recorded: true })
    expect((await call('record', job)).body).toEqual({ recorded: false })
    expect((await call('usage', { subject: ada.subject })).body.usage[0].used).toBe(1)
  })

  it.each([
    ['an unknown meter', 'admit', { meter: 'letters' }, /There is no meter "letters"/],
    ['a negative amount', 'admit', { meter: 'words', amount: -1 }, /not an amount of use/],
    ['an unknown field', 'admit', { meter: 'calls', many: 1 }, /many/],
    ['another kind of subject', 'check', { subject: { type: 'robot', id: '1' } }, /subject.type/],
    ['a use without an id', 'record', { meter: 'calls', amount: 1 }, /id/],
  ])('refuses %s with 422', async (_what, name, given, detail) => {
    const call = await newApi()
    const { status, body } = await call(name, { subject: { type: 'user', id: '1' }, ...given })
    expect({ status, detail: body.detail }).toEqual({
      status: 422,
      detail: expect.stringMatching(detail),
    })
  })

  it('answers only clients with the scope gate:use, which gives no access to the management API', async () => {
    const ada = await newCaller()
    const use = { subject: ada.subject, meter: 'calls' }
    expect((await (await newApi(['admin.users:read']))('admit', use)).status).toBe(403)
    const url = `${service.url}/gate/v1/admit`
    const json = { 'content-type': 'application/json' }
    const body = JSON.stringify(use)
    for (const headers of [json, { ...json, authorization: `Bearer ${ada.token}` }]) {
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(401)
    }
    const { client, secret } = await service.oauth.clients.create({
      name: 'API',
      scopes: ['gate:use'],
      grants: ['client_credentials'],
    })
    const reply = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: secret ?? '',
        scope: 'gate:use',
      }),
    })
    const { access_token: token } = (await reply.json()) as { access_token: string }
    const admin = createOperatorHelpers(service).with({ authorization: `Bearer ${token}` })
    expect((await admin('GET', '/users')).status).toBe(403)
  })
})

describe('an API with the library on the database of the service', () => {
  it('shares the quotas of people with the service', async () => {
    const ada = await newCaller()
    const database = await connect(service.databaseUrl)
    const billing = createBilling({
      database,
      users: { table: 'users', idType: 'integer' },
      stripe: { secret: 'sk_test_unused', webhookSecret: 'whsec_unused' },
      clock: service.sandbox?.clock ?? service.clock,
      processEvery: false,
      migrate: false,
    })
    const gate = createGate({
      database,
      billing,
      meters: { calls: meter({ kind: 'count' }) },
      plans: {
        free: plan({ quota: { calls: '3/month' } }),
        pro: plan({
          price: { stripe: ['pro-monthly', 'pro-yearly'] },
          quota: { calls: '100/month' },
        }),
      },
      otherwise: 'free',
      clock: service.sandbox?.clock ?? service.clock,
      migrate: false,
    })
    const subject = { type: 'user', id: ada.id }
    for (let calls = 0; calls < 2; calls += 1) {
      expect(await gate.admit(subject, 'calls')).toMatchObject({ allowed: true })
    }
    expect(await service.gate?.admit(subject, 'calls')).toMatchObject({ allowed: true })
    expect(await gate.admit(subject, 'calls')).toMatchObject({ reason: 'quota_used_up' })
    await ada.subscribe('pro-monthly')
    await expect.poll(() => gate.planOf(subject)).toBe('pro')
    await gate.close()
    await billing.close()
    await database.close()
  })
})

describe('the quotas on the pages', () => {
  it('show a person what is used and left, what the plan allows, and where to find the plans', async () => {
    const ada = await newCaller()
    for (let calls = 0; calls < 3; calls += 1) await service.gate?.admit(ada.subject, 'calls')
    const free = await ada.look()
    expect(free).toMatch(/Quotas Free API calls 3 of 3 0 left, starts over on \d+ \w+ \d{4}/)
    expect(free).toContain('Support by e-mail What your applications may do Check order status')
    const html = await (await ada.browser.get('/billing')).text()
    expect(html).toMatch(/<svg[^>]*role="img" aria-label="API calls: 100 % used"/)
    expect(html).toMatch(/<a href="#subscribe-title">See the plans<\/a>/)
    const german = await ada.look('/billing?ui_locales=de')
    expect(german).toMatch(/Kontingente Kostenlos API calls 3 von 3 noch 0, beginnt neu am/)
    await ada.subscribe('pro-monthly')
    await expect.poll(() => ada.look()).toMatch(/Quotas Pro API calls 3 of 100 97 left, starts/)
    expect(await ada.look()).toMatch(/0 of 1,000 words/)
  })

  it('show operators the use of a person, and who is close to a quota', async () => {
    const ada = await newCaller()
    for (let calls = 0; calls < 3; calls += 1) await service.gate?.admit(ada.subject, 'calls')
    const { browser, call } = await createOperatorHelpers(service).operator('viewer')
    const read = async (path: string) => textOf(await (await browser.get(path)).text())
    expect(await read(`/admin/people/${ada.id}`)).toMatch(/Quotas Free API calls 3 of 3 0 left/)
    expect(await read('/admin')).toContain(`${ada.email} Free API calls 3 of 3 100%`)
    const { body } = await call('GET', `/users/${ada.id}/quotas`)
    expect(body).toMatchObject({
      plan: 'free',
      data: [{ meter: 'calls', name: 'API calls', used: 3, quota: 3, remaining: 0 }],
    })
    const { body: top } = await call('GET', '/quotas/top?limit=50')
    if (process.env.TEST_DATABASE === 'sqlite') expect(await stepsOfCurrentUse()).toEqual([])
    expect(top.data).toContainEqual(
      expect.objectContaining({ user_id: ada.id, email: ada.email, plan: 'free', used: 3 }),
    )
    expect((await call('GET', '/users/999999/quotas')).status).toBe(404)
  })
})

describe('the mail about a quota', () => {
  it('is sent once to a person who has used 80 % or all of it', async () => {
    const mails: ServiceMail[] = []
    const mailing = await startTestService({
      settings: {
        ...SETTINGS,
        freePlan: { quota: { calls: '5/month' } },
        mail: { send: async (mail) => void mails.push(mail) },
      },
    })
    const { id, email } = await mailing.users.create({ email: newAddress('p'), password: PASSWORD })
    const subjects = () => mails.filter(({ to }) => to === email).map(({ subject }) => subject)
    for (let job = 1; job <= 4; job += 1) {
      await mailing.gate?.record({ type: 'user', id }, 'calls', 1, { id: `job-${job}` })
    }
    const first = 'You have used 80 % of your quota: API calls'
    await expect.poll(subjects).toEqual([first])
    await mailing.gate?.record({ type: 'user', id }, 'calls', 1, { id: 'job-5' })
    await expect.poll(subjects).toEqual([first, 'You have used 100 % of your quota: API calls'])
    expect(mails.at(-1)?.text).toContain(`is used up: API calls.`)
    expect(mails.at(-1)?.text).toContain(`${mailing.url}/billing`)
    await mailing.stop()
  })
})

describe('the commands about plans', () => {
  const MORE = [
    { id: 'max', name: 'Max', amount: 9900, months: 1, braintree: null },
    {
      id: 'metered',
      name: 'Metered',
      amount: 500,
      months: 3,
      prices: [{ id: 'extra', name: 'Extra', meter: 'nothing', unitAmount: '0.5' }],
    },
  ]

  let files = 0

  /** Runs a command on the demo that runs in this process, perhaps with other plans. */
  async function run(demo: TestService, args: readonly string[], plans: readonly object[]) {
    files += 1
    const file = join(demo.dataDir, `config-${files}.mjs`)
    writeFileSync(file, `export default ${JSON.stringify({ ...SETTINGS, plans })}`)
    const out: string[] = []
    const write = (text: string) => void out.push(text)
    const code = await runCli(
      args,
      {
        PORT: '0',
        DATABASE_URL: demo.databaseUrl,
        TOLLGATE_DATA_DIR: demo.dataDir,
        TOLLGATE_CONFIG: file,
      },
      { stdout: { write }, stderr: { write } },
    )
    return { code, text: out.join('') }
  }

  it('compare the plans with both providers, create what Stripe lacks once, and delete nothing', async () => {
    const demo = await startTestService({ settings: SETTINGS, options: { keepDemo: true } })
    const [mine, more] = [SETTINGS.plans, [...SETTINGS.plans, ...MORE]]
    expect(await run(demo, ['plans', 'check'], mine)).toMatchObject({
      code: 0,
      text: expect.stringContaining('All prices are there (4)'),
    })
    const lacking = await run(demo, ['plans', 'check'], more)
    expect(lacking.code).toBe(1)
    expect(lacking.text).toContain('+ max (Max) at Stripe is missing')
    expect(lacking.text).toContain('+ metered (Metered) at Braintree is missing')
    expect(lacking.text).not.toContain('+ max (Max) at Braintree')

    const pushed = await run(demo, ['plans', 'push'], more)
    expect(pushed.code).toBe(1)
    expect(pushed.text).toContain('Created max at Stripe\nCreated metered at Stripe')
    expect(pushed.text).toContain('Stripe has no meter with the event name nothing')
    expect(pushed.text).toContain('create it in the control panel of Braintree')
    expect((await run(demo, ['plans', 'push'], more)).text).not.toContain('Created')
    const entries = await createOperatorHelpers(demo).entries('settings.pushPlans')
    expect(entries.map(({ outcome }) => outcome)).toContain('done')

    const changed = [{ ...MORE[0], amount: 8800 }]
    const { text: diff } = await run(demo, ['plans', 'diff'], changed)
    expect(diff).toContain('~ max (Max) at Stripe costs 9900, not 8800')
    expect(diff).toContain('- pro-yearly (Pro) at Stripe belongs to no plan')
    const { text: pulled } = await run(demo, ['plans', 'pull', '--json'], mine)
    expect(JSON.parse(pulled)).toContainEqual({
      ...{ id: 'max', name: 'Max', amount: 9900, months: 1 },
      ...{ stripe: 'max', braintree: null },
    })
    expect((await run(demo, ['plans', 'pull'], mine)).text).toContain(
      "{ id: 'pro-yearly', name: 'Pro', amount: 25000, months: 12, stripe: 'pro-yearly', braintree: 'pro-yearly' },",
    )
    await demo.stop()
  })

  it('print what a person has used, as a table or as JSON', async () => {
    const demo = await startTestService({ settings: SETTINGS, options: { keepDemo: true } })
    const email = newAddress('person')
    const { id } = await demo.users.create({ email, password: PASSWORD })
    await demo.gate?.record({ type: 'user', id }, 'calls', 1, { id: 'job-1' })
    const usage = (...args: string[]) => run(demo, ['usage', email, ...args], SETTINGS.plans)
    const { code, text } = await usage()
    expect(code).toBe(0)
    expect(text).toMatch(/\): free\nQUOTA +USED +OF +LEFT +STARTS OVER\nAPI calls +1 +3 +2 +2/)
    expect(JSON.parse((await usage('--json')).text)).toMatchObject({
      plan: 'free',
      data: [{ meter: 'calls', used: 1, quota: 3, remaining: 2 }],
    })
    const wrong = await run(demo, ['usage', 'unknown@example.com'], SETTINGS.plans)
    expect(wrong).toMatchObject({ code: 2, text: expect.stringContaining('There is no user') })
    await demo.stop()
  })
})

describe('the data of the gate about a person', () => {
  it('is part of the export, and deleted with the account', async () => {
    const ada = await newCaller()
    await service.gate?.admit(ada.subject, 'calls')
    await service.gate?.record(ada.subject, 'calls', 1, { id: 'job-1' })
    await service.gate?.override(ada.subject, { terms: { quota: { calls: '9/month' } } })
    const text = await (await ada.post('/account/export')).text()
    const exported = JSON.parse(text) as Record<string, unknown[]>
    expect(exported.use_of_quotas).toMatchObject([{ meter: 'calls', taken: expect.any(Number) }])
    expect(exported.recorded_use).toMatchObject([{ id: 'job-1', amount: 1 }])
    expect(exported.exceptions_from_plans).toHaveLength(1)
    await service.users.delete(ada.id)
    for (const table of ['gate_counters', 'gate_records', 'gate_overrides', 'gate_changes']) {
      const rows = await service.database.kysely
        .selectFrom(table as never)
        .select('subject' as never)
        .where('subject' as never, '=', `user:${ada.id}` as never)
        .execute()
      expect([table, rows]).toEqual([table, []])
    }
  })
})

describe('the settings of limits', () => {
  const start = async (settings: SettingsInput) => {
    const error = await startTestService({ settings }).then(
      async (started) => {
        await started.stop()
        return null
      },
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(Error)
    return (error as Error).message
  }
  const { meters } = SETTINGS

  it('are refused at start with the name and the fix, all mistakes at once', async () => {
    const message = await start({
      plans: [{ ...PRO, scopes: ['admin'], quota: { letters: '1/month' } }],
      meters,
    })
    expect(message).toContain(
      "plans.pro.scopes has 'admin', which is not defined: add it to scopes, or remove it.",
    )
    expect(message).toContain(
      "plans.pro.quota has 'letters', which is not in meters: add it there, or remove it.",
    )
    expect(message).toContain('plans.pro has limits, but nothing says what people without')
  })

  it.each([
    ['a quota', { freePlan: { quota: { calls: '5/week' } } }, /plans.free.quota.calls: "5\/week"/],
    ['a rate', { freePlan: { rate: 'fast' } }, /plans.free.rate: "fast" is not a rate/],
    ['a kind', { meters: { calls: { kind: 'sums' as 'sum' } } }, /meters.calls.kind: expected/],
    ['a free plan with the id of another', { plans: [{ ...PRO, id: 'free' }] }, /the id 'free'/],
  ])('are refused at start with a mistake in %s', async (_what, wrong, message) => {
    expect(await start({ ...SETTINGS, ...(wrong as SettingsInput) })).toMatch(message)
  })

  it('add no tables, paths or limits if there are none', async () => {
    const plain = await startTestService()
    expect(plain.gate).toBeNull()
    expect(await hasTable(plain.database, 'gate_counters')).toBe(false)
    const { status } = await fetch(`${plain.url}/gate/v1/admit`, { method: 'POST' })
    expect(status).toBe(404)
    const { email } = { email: newAddress('person') }
    const { id } = await plain.users.create({ email, password: PASSWORD })
    await plain.users.delete(id)
    expect(await plain.users.findByEmail(email)).toBeNull()
    await plain.stop()
  })

  it('create their tables with tollgate migrate, and need it while the setting migrate is off', async () => {
    expect(await start({ ...SETTINGS, migrate: false })).toContain('Run tollgate migrate')
  })
})
