import { timestamp } from '@tollgate/database'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { personTables, tablesWithoutPeople } from '../src/storage/person-tables.ts'
import { completeDeletions } from '../src/users/own-account.ts'
import { createAccountHelpers, newAddress, PASSWORD, PROVIDERS } from './accounts.ts'
import { startTestService, type TestService } from './support.ts'

let service: TestService
let accounts: ReturnType<typeof createAccountHelpers>
beforeAll(async () => {
  service = await startTestService({ options: { keepDemo: true } })
  accounts = createAccountHelpers(service)
})
afterAll(() => service.stop())

async function signedIn(email: string) {
  const browser = service.browser()
  await browser.signIn(email, PASSWORD)
  return browser
}
type Browser = Awaited<ReturnType<typeof signedIn>>

async function post(browser: Browser, path: string, fields: Record<string, string>) {
  const response = await browser.post(path, { csrf_token: await browser.csrfToken(), ...fields })
  return { status: response.status, response, text: await response.text() }
}

async function newPerson() {
  const email = newAddress('person')
  const { id } = await service.users.create({ email, password: PASSWORD })
  return { id, email, browser: await signedIn(email) }
}

type Export = { exported_at: string } & Record<string, Record<string, unknown>[] | undefined>

describe('the list of tables with data about people', () => {
  it('names every table of the database and each of its columns, as exported or as withheld', async () => {
    const tables = await service.database.kysely.introspection.getTables()
    expect(tables.length).toBeGreaterThan(25)
    for (const { name, columns } of tables) {
      const found = columns.map((column) => column.name).sort()
      const listed = personTables.find(({ shown }) => shown.name === name)
      if (listed) {
        const known = [...listed.shown.columns, ...Object.keys(listed.withheld)].sort()
        expect([name, known]).toEqual([name, found])
        continue
      }
      expect(Object.keys(tablesWithoutPeople), `storage/person-tables.ts lacks ${name}`).toContain(
        name,
      )
      const named = found.filter((column) =>
        /^(user_id|owner_id|account|person|email)$/.test(column),
      )
      expect([name, named]).toEqual([name, []])
    }
  })
})

describe("the export of a person's data", () => {
  it('is the same whether a requested new address is free, taken, or of a disabled account (threat Q11)', async () => {
    const quiet = await startTestService({ settings: { mail: { send: async () => {} } } })
    const create = async () => {
      const email = newAddress('person')
      return quiet.users.create({ email, password: PASSWORD })
    }
    const [taken, disabled] = [await create(), await create()]
    await quiet.users.setDisabled(disabled.id, true)
    const exports = []
    for (const address of [newAddress('free'), taken.email, disabled.email]) {
      const { email } = await create()
      const browser = quiet.browser()
      await browser.signIn(email, PASSWORD)
      const own = { csrf_token: await browser.csrfToken() }
      const request = { ...own, email: address, current: PASSWORD }
      expect((await browser.post('/account/email', request)).status).toBe(303)
      await quiet.recovery.process()
      const text = await (await browser.post('/account/export', own)).text()
      const { exported_at: _, account, known_networks: __, ...rest } = JSON.parse(text) as Export
      expect(account).toMatchObject([{ email }])
      expect(rest.mail_about_the_account).toMatchObject([{ kind: 'address_change_requested' }])
      exports.push(JSON.stringify(rest).replaceAll(email, 'OWN ADDRESS'))
    }
    await quiet.stop()
    expect(exports[1]).toBe(exports[0])
    expect(exports[2]).toBe(exports[0])
  })

  /** Inserts a row about the person into every table of the list, with a secret in each text. */
  async function fillTables(id: string): Promise<void> {
    const { introspection } = service.database.kysely
    const tables = await introspection.getTables()
    for (const { shown, owned } of personTables) {
      const table = tables.find(({ name }) => name === shown.name)
      const own = (Array.isArray(owned) ? owned[0] : owned) as Record<string, unknown>
      if (!table || ['users', 'known_networks', 'subscriptions'].includes(table.name)) continue
      const values = table.columns
        // SQLite numbers every integer primary key, also one that is the person's id.
        .filter(({ isAutoIncrementing, name }) => !isAutoIncrementing || name in own)
        .map(({ name, dataType }) => {
          const by = own[name]
          if (by === 'number') return [name, Number(id)] as const
          if (by === 'text') return [name, id] as const
          if (by !== undefined && typeof by === 'object' && by !== null && 'equals' in by)
            return [name, by.equals] as const
          if (by !== undefined)
            return [
              name,
              sql`(select ${sql.ref((by as { column: string }).column)} from ${sql.table((by as { of: string }).of)} where user_id = ${Number(id)})`,
            ] as const
          if (name === 'id' && !/int/i.test(dataType) && !shown.columns.includes('id'))
            return [name, `SECRET-${table.name}`] as const
          if (/int/i.test(dataType)) return [name, 1] as const
          if (/time/i.test(dataType)) return [name, timestamp(new Date(0))] as const
          const isJson =
            /^(scopes|declined|redirect_uris|grant_types|settings|bill|content|details|request|commitments)$/
          if (isJson.test(name)) return [name, '["shown"]'] as const
          if (name === 'currency') return [name, 'usd'] as const
          const isShown = shown.columns.includes(name)
          return [name, isShown ? 'shown' : `SECRET-${name}`.slice(0, 7)] as const
        })
      await service.database.kysely
        .insertInto(table.name as never)
        .values(Object.fromEntries(values) as never)
        .execute()
    }
  }

  it('contains a row of every table of the list and the invoices, and no secret', async () => {
    const ada = await accounts.customer('stripe')
    const browser = await signedIn(ada.email)
    const body = { name: 'script', scopes: ['check-status'] }
    const made = await browser.api('/oauth/personal-access-tokens', { method: 'POST', body })
    // Webhooks that arrive later would replace the rows with the provider's state.
    await service.advance({ hours: 1 })
    await fillTables(ada.id)
    const other = await newPerson()
    const { status, response, text } = await post(browser, '/account/export', {})
    expect(status).toBe(200)
    expect(response.headers.get('content-disposition')).toContain('account.json')
    const data: Export = JSON.parse(text)
    for (const { section } of personTables) expect(Object.keys(data)).toContain(section)
    expect(data.account).toEqual([
      expect.objectContaining({ email: ada.email, provider: 'stripe' }),
    ])
    expect(data.tokens?.map(({ name }) => name)).toContain('script')
    expect(data.invoices).toEqual([expect.objectContaining({ paid: true, total: 2500 })])
    expect(data.payment_methods).toEqual([
      { label: 'Visa •••• 4242', kind: 'card', is_default: true },
    ])
    expect(text).not.toContain('SECRET')
    expect(text).not.toContain(made.body.accessToken)
    expect(text).not.toContain(other.email)
    for (const secret of browser.cookies.values()) expect(text).not.toContain(secret)
  })

  it('is the same document for operators at the command line, and JSON lines in the API', async () => {
    const { id, email } = await newPerson()
    const { code, stdout } = await accounts.tollgate('user', 'export', email)
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ account: [expect.objectContaining({ id: Number(id), email })] }),
    ])
    expect((await accounts.tollgate('user', 'export', 'nobody@example.com')).code).toBe(2)
  })

  it('asks for the password if the sign-in is more than ten minutes old, and rejects a wrong one', async () => {
    const { browser } = await newPerson()
    service.clock.advance({ minutes: 11 })
    expect(await (await browser.get('/account/export')).text()).toContain('name="current"')
    expect((await post(browser, '/account/export', {})).status).toBe(422)
    expect((await post(browser, '/account/export', { current: 'wrong' })).status).toBe(422)
    const { status } = await post(browser, '/account/export', { current: PASSWORD })
    expect(status).toBe(200)
    expect((await browser.post('/account/export', { current: PASSWORD })).status).toBe(403)
  })

  it('fails before it begins while the provider is unavailable, and says so', async () => {
    const ada = await accounts.customer('stripe')
    const browser = await signedIn(ada.email)
    service.sandbox?.trouble.failNext(100, '500', 'stripe')
    const { status, text } = await post(browser, '/account/export', {})
    service.sandbox?.trouble.clear()
    expect([status, text]).toEqual([503, expect.stringContaining('cannot be reached')])
  })
})

describe('the deletion of an account by its owner (threat Q4)', () => {
  const go = { decision: 'go', confirm: 'yes' }

  it('names beforehand the applications that the person registered, which keep working for other people (threat N4)', async () => {
    const { id, browser } = await newPerson()
    const before = await (await browser.get('/account/delete')).text()
    expect(before).not.toContain('keep working')
    const create = (name: string) =>
      service.oauth.clients.create({ name, userId: id, grants: ['client_credentials'] })
    const { client, secret } = await create('Weather <app>')
    const ended = await create('Old app')
    await service.oauth.clients.revoke(ended.client.id)
    const page = await (await browser.get('/account/delete')).text()
    expect(page).toContain('keep working without you')
    expect(page).toContain('Weather &lt;app&gt;')
    expect(page).not.toContain('Old app')
    expect((await post(browser, '/account/delete', go)).status).toBe(200)
    const token = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: secret ?? '',
      }),
    })
    expect(token.status).toBe(200)
  })

  it('says beforehand what will happen, ends all tokens, and lets the address register again', async () => {
    const { id, email, browser } = await newPerson()
    const body = { name: 'script', scopes: [] }
    const made = await browser.api('/oauth/personal-access-tokens', { method: 'POST', body })
    const authorization = `Bearer ${made.body.accessToken}`
    const callApi = async () =>
      (await fetch(`${service.url}/api/user`, { headers: { authorization } })).status
    expect(await callApi()).toBe(200)
    const page = await (await browser.get('/account/delete')).text()
    expect(page).toContain('cannot be undone')
    expect(page).not.toContain('Invoices are kept')
    expect((await post(browser, '/account/delete', { decision: 'go' })).status).toBe(422)
    expect((await post(browser, '/account/delete', { ...go, decision: 'stay' })).status).toBe(303)
    expect(await callApi()).toBe(200)
    const { status, text } = await post(browser, '/account/delete', go)
    expect([status, text]).toEqual([200, expect.stringContaining('and its data were deleted')])
    expect(await callApi()).toBe(401)
    expect((await browser.get('/account')).status).toBe(302)
    expect(await accounts.exists(id)).toBe(false)
    const networks = await service.database.kysely
      .selectFrom('sessions' as never)
      .selectAll()
      .where('user_id' as never, '=', Number(id) as never)
      .execute()
    expect(networks).toEqual([])
    const back = await service.browser().post('/register', { email, password: PASSWORD })
    expect(back.status).toBe(303)
    expect((await service.users.findByEmail(email))?.id).not.toBe(id)
  })

  it('asks for the password if the sign-in is more than ten minutes old', async () => {
    const { id, browser } = await newPerson()
    service.clock.advance({ minutes: 11 })
    for (const fields of [go, { ...go, current: 'wrong' }]) {
      const { status, text } = await post(browser, '/account/delete', fields)
      expect([status, text]).toEqual([422, expect.stringContaining('not your current password')])
    }
    expect(await accounts.exists(id)).toBe(true)
    expect((await post(browser, '/account/delete', { ...go, current: PASSWORD })).status).toBe(200)
    expect(await accounts.exists(id)).toBe(false)
  })

  it.each(PROVIDERS)(
    'ends running and cancelled subscriptions at %s at once (threat Q4)',
    async (provider) => {
      for (const isCancelled of [false, true]) {
        const ada = await accounts.customer(provider)
        const billable = await service.billing.user(Number(ada.id))
        if (isCancelled) await (await billable.subscription('main')).cancel()
        const browser = await signedIn(ada.email)
        const page = await (await browser.get('/account/delete')).text()
        expect(page).toContain('will end today')
        expect(page).toContain('Invoices are kept')
        const { status, text } = await post(browser, '/account/delete', go)
        expect([status, text]).toEqual([200, expect.stringContaining('ended on')])
        expect([
          await accounts.exists(ada.id),
          accounts.renewing(provider, ada.customerId),
        ]).toEqual([false, 0])
      }
    },
  )

  it('is refused while a payment is missing, and names the amount (threat Q4)', async () => {
    const ada = await accounts.customer('stripe')
    service.sandbox?.trouble.declineNextCharge(ada.customerId, 'card_declined')
    await service.advance({ months: 1, hours: 2 })
    const browser = await signedIn(ada.email)
    expect(await (await browser.get('/account/delete')).text()).toContain('not paid: $25.00')
    expect((await post(browser, '/account/delete', go)).status).toBe(409)
    expect([await accounts.exists(ada.id), await accounts.canSignIn(ada.email)]).toEqual([
      true,
      true,
    ])
  })

  it('is refused while a payment is disputed, and for operators', async () => {
    const ada = await accounts.customer('stripe')
    const [charge] = service.sandbox?.stripe.paidInvoices(ada.customerId) ?? []
    const now = service.clock.now()
    await service.database.kysely
      .insertInto('billing_disputes' as never)
      .values({
        provider: 'stripe',
        provider_id: `dp_${ada.id}`,
        owner_type: 'user',
        owner_id: ada.id,
        charge: charge?.id ?? 'ch',
        amount: 2500,
        currency: 'usd',
        status: 'open',
        opened_at: now.getTime(),
      } as never)
      .execute()
    const browser = await signedIn(ada.email)
    expect(await (await browser.get('/account/delete')).text()).toContain('disputed at your bank')
    expect((await post(browser, '/account/delete', go)).status).toBe(409)
    const email = newAddress('operator')
    const { id } = await service.users.create({ email, password: PASSWORD, role: 'admin' })
    const operator = await signedIn(email)
    expect((await post(operator, '/account/delete', go)).status).toBe(409)
    expect(await accounts.exists(id)).toBe(true)
  })

  it('happens once when the form is sent twice at once', async () => {
    const ada = await accounts.customer('stripe', ['pro', 'yearly'])
    const browser = await signedIn(ada.email)
    const form = { csrf_token: await browser.csrfToken(), ...go }
    const sent = await Promise.all([1, 2].map(() => browser.post('/account/delete', form)))
    expect(sent.map(({ status }) => status)).toContain(200)
    expect(sent.every(({ status }) => status < 500)).toBe(true)
    expect([await accounts.exists(ada.id), accounts.renewing('stripe', ada.customerId)]).toEqual([
      false,
      0,
    ])
  })

  it('is completed later if the provider becomes unavailable, and an operator can stop it', async () => {
    const provide = { rows: async () => service.billing, provider: async () => service.billing }
    const interrupted = async () => {
      const ada = await accounts.customer('stripe')
      await service.users.setDisabled(ada.id, true, { isOwnRequest: true })
      return ada
    }
    const [ada, grace] = [await interrupted(), await interrupted()]
    await service.users.setDisabled(grace.id, true)
    const soon = service.clock.now()
    expect(await completeDeletions(service, provide, soon)).toBe(0)
    expect(await accounts.exists(ada.id)).toBe(true)
    const later = new Date(soon.getTime() + 61_000)
    service.sandbox?.trouble.failNext(100, '500', 'stripe')
    expect(await completeDeletions(service, provide, later)).toBe(1)
    service.sandbox?.trouble.clear()
    const muchLater = new Date(later.getTime() + 61_000)
    expect(await completeDeletions(service, provide, muchLater)).toBe(0)
    expect([await accounts.exists(ada.id), await accounts.exists(grace.id)]).toEqual([false, true])
  })

  it('lets the person sign in again if something turns out to be unpaid', async () => {
    const ada = await accounts.customer('stripe')
    service.sandbox?.trouble.declineNextCharge(ada.customerId, 'card_declined')
    await service.advance({ months: 1, hours: 2 })
    await service.users.setDisabled(ada.id, true, { isOwnRequest: true })
    const provide = { rows: async () => service.billing, provider: async () => service.billing }
    const later = new Date(service.clock.now().getTime() + 61_000)
    expect(await completeDeletions(service, provide, later)).toBe(0)
    expect([await accounts.exists(ada.id), await accounts.canSignIn(ada.email)]).toEqual([
      true,
      true,
    ])
  })
})
