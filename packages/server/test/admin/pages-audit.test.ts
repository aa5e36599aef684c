import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support.ts'
import { operatorWithForms } from './page-forms.ts'

let answer = 500
let application: Server
let service: TestService
let endpoint: string
beforeAll(async () => {
  application = createServer((request, response) => {
    request.resume()
    response.statusCode = answer
    response.end()
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  const { port } = application.address() as AddressInfo
  endpoint = `http://127.0.0.1:${port}/events`
  service = await startTestService({
    environment: {
      TOLLGATE_DELIVERIES_URL: endpoint,
      TOLLGATE_DELIVERIES_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    },
  })
})
afterAll(async () => {
  await service?.stop()
  await new Promise((resolve) => application?.close(resolve))
})

const operator = (role: Parameters<typeof operatorWithForms>[1]) => operatorWithForms(service, role)

const ROLES = ['viewer', 'support', 'admin', 'owner'] as const

it.each([
  ['/admin/webhooks', 'viewer'],
  ['/admin/webhooks/sent', 'viewer'],
  ['/admin/mail', 'viewer'],
  ['/admin/mail/accounts', 'viewer'],
  ['/admin/mail/preview', 'viewer'],
  ['/admin/mail/preview/html', 'viewer'],
  ['/admin/settings', 'viewer'],
  ['/admin/audit', 'admin'],
  ['/admin/audit/verify', 'admin'],
  ['/admin/audit/export', 'admin'],
] as const)("the operators' page %s requires the role %s", async (path, least) => {
  for (const role of ROLES) {
    const { status } = await (await operator(role)).open(path)
    const allowed = ROLES.indexOf(role) >= ROLES.indexOf(least)
    expect([role, status]).toEqual([role, allowed ? 200 : 403])
  }
  expect((await (await operator(null)).open(path)).status).toBe(404)
  const stranger = await service.browser().get(path)
  expect(stranger.headers.get('location')).toBe(`/login?return_to=${encodeURIComponent(path)}`)
})

/** Lets an admin do something to a new person. */
async function act() {
  const admin = await operator('admin')
  const person = await operator(null)
  const done = await admin.call('POST', `/users/${person.id}/sign-out`)
  expect(done.status).toBeLessThan(300)
  return { admin, person }
}

/** The ids of the entries on a page of the audit log. */
const entriesIn = (html: string) =>
  [...html.matchAll(/<a href="\/admin\/audit\/([\w-]+)" aria-label/g)].map(([, id]) => id)

describe("the operators' pages about the audit log", () => {
  it('find what was done to a person, by whom and when, without an e-mail address in the URL', async () => {
    const { admin, person } = await act()
    await act()
    const found = await admin.submit('/admin/audit', { person: person.email })
    expect(found.location).toBe(`/admin/audit?owner=${person.id}`)
    const page = await admin.open(found.location ?? '')
    expect(entriesIn(page.html)).toHaveLength(1)
    expect(page.html).toContain(admin.email)
    expect(page.html).toContain(`/admin/people/${person.id}`)
    const today = service.clock.now().toISOString().slice(0, 10)
    const all = {
      person: person.id,
      actor_kind: 'operator',
      actor: admin.email,
      operation: 'users.signOut',
      outcome: 'done',
      from: today,
      to: today,
    }
    const precise = await admin.submit('/admin/audit', all)
    expect(precise.location).toContain(`actor_id=${admin.id}`)
    expect(precise.location).not.toContain('example.com')
    expect(entriesIn((await admin.open(precise.location ?? '')).html)).toHaveLength(1)
    const failed = await admin.submit('/admin/audit', { ...all, outcome: 'failed' })
    const none = await admin.open(failed.location ?? '')
    expect(entriesIn(none.html)).toEqual([])
    expect(none.html).toContain('Nothing that operators did matches.')
  })

  it('explain at the field that a person was not found', async () => {
    const admin = await operator('admin')
    const unknown = await admin.submit('/admin/audit', { person: 'nobody@example.com' })
    expect(unknown.status).toBe(422)
    expect(unknown.html).toMatch(/id="person-problem"[^>]*>Nobody was found/)
    expect(unknown.html).toContain('value="nobody@example.com"')
    const missing = await admin.submit('/admin/audit', { actor_kind: 'client' })
    expect(missing.html).toMatch(/id="actor-problem"[^>]*>Enter who it was/)
  })

  it('reject an invalid filter, and a forged cursor', async () => {
    const admin = await operator('admin')
    expect((await admin.open('/admin/audit?from=yesterday')).status).toBe(422)
    expect((await admin.open('/admin/audit?after=forged.cursor')).status).toBe(400)
    expect((await admin.open('/admin/audit/nothing')).status).toBe(404)
  })

  it('show an entry with its details, its network address and its place in the chain', async () => {
    const { admin, person } = await act()
    const list = await admin.open(`/admin/audit?owner=${person.id}`)
    const [id = ''] = entriesIn(list.html)
    expect((await admin.open(`/admin/audit/${id}`)).html).toContain('Not chained yet')
    await service.auditChain.process()
    const page = await admin.open(`/admin/audit/${id}`)
    expect(page.html).toContain('127.0.0.1')
    expect(page.html).toMatch(/Position in the chain<\/dt><dd>\d+</)
    const about = `/admin/audit?subject_kind=user&amp;subject_id=${person.id}`
    expect(page.html).toContain(about)
    expect(entriesIn((await admin.open(about.replace('&amp;', '&'))).html)).toContain(id)
  })

  it('show forged entries as text', async () => {
    const admin = await operator('admin')
    const { person } = await act()
    await service.database.kysely
      .updateTable('audit_entries')
      .set({ outcome: '<b>x</b>', door: '<i>p</i>', subject_kind: '__proto__' })
      .where('subject_id', '=', person.id)
      .execute()
    const list = await admin.open(`/admin/audit?owner=${person.id}`)
    expect(list.html).toContain('&lt;b&gt;x&lt;/b&gt;')
    const [id = ''] = entriesIn(list.html)
    const page = await admin.open(`/admin/audit/${id}`)
    expect(page.status).toBe(200)
    expect(page.html).toContain('&lt;i&gt;p&lt;/i&gt;')
    expect(page.html).toContain('__proto__')
    await service.auditChain.process()
    const verified = await admin.open('/admin/audit/verify')
    expect(verified.html).toContain('was not written by this service')
    expect(verified.html).toContain(`/admin/audit/${id}`)
    await service.database.kysely.deleteFrom('audit_entries').execute()
  })

  it('verify the chain, and detect by an entry noted earlier that later entries were cut off', async () => {
    const { admin } = await act()
    await act()
    await service.auditChain.process()
    const intact = await admin.open('/admin/audit/verify')
    expect(intact.html).toContain('The log is unchanged.')
    const [, number = ''] = /Position in the chain<\/dt><dd>(\d+)</.exec(intact.html) ?? []
    const [, hash = ''] = /Hash<\/dt><dd><code>([\w-]{43})</.exec(intact.html) ?? []
    const known = `/admin/audit/verify?${new URLSearchParams({ known_number: number, known_hash: hash })}`
    expect((await admin.open(known)).html).toContain('The log is unchanged.')
    await service.database.kysely
      .deleteFrom('audit_entries')
      .where('number', '=', Number(number))
      .execute()
    const cut = await admin.open(known)
    expect(cut.html).toContain(`Number ${number} is missing`)
    expect((await admin.open('/admin/audit/verify?known_number=1')).status).toBe(422)
  })

  it('export the filtered entries as JSON lines', async () => {
    const { admin, person } = await act()
    await service.auditChain.process()
    const file = await admin.open(`/admin/audit/export?owner=${person.id}`)
    expect(file.headers.get('content-disposition')).toContain('audit-log.jsonl')
    const lines = file.html.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).subject)).toEqual([{ kind: 'user', id: person.id }])
    expect(file.html).not.toContain(person.email)
  })
})

/** Stores an event as if it had failed at every attempt. */
async function deadEvent(): Promise<string> {
  const person = await operator(null)
  const payer = await service.billing.user(Number(person.id))
  await payer.newSubscription('main', 'pro').create('pm_card_visa')
  await service.advance({})
  const [event] = await service.billing.webhooks.page('done', { limit: 1 })
  const id = String(event?.id)
  await service.database.kysely
    .updateTable('billing_webhooks')
    .set({ state: 'dead', last_error: 'It <failed>', attempts: 12 })
    .where('id', '=', Number(id))
    .execute()
  return id
}

describe("the operators' pages about webhooks", () => {
  it('show a failed event with its payload and error, and handle it again only once', async () => {
    const id = await deadEvent()
    const path = `/admin/webhooks/received/${id}`
    const support = await operator('support')
    const list = await support.open('/admin/webhooks')
    expect(list.html).toContain('It &lt;failed&gt;')
    expect(list.html).toContain(path)
    const page = await support.open(path)
    expect(page.html).toContain('&quot;object&quot;: &quot;event&quot;')
    const twice = await Promise.all([
      support.send(page, `${path}/retry`),
      support.send(page, `${path}/retry`),
    ])
    expect(twice.map(({ location }) => location)).toEqual(Array(2).fill(`${path}?done=retried`))
    await service.billing.process()
    expect((await support.open(path)).html).toContain('<span class="badge good">Done</span>')
    const entries = await service.database.kysely
      .selectFrom('audit_entries')
      .selectAll()
      .where('operation', '=', 'webhooks.retry')
      .where('subject_id', '=', id)
      .execute()
    expect(entries.map(({ outcome }) => outcome).sort()).toEqual(['done', 'started'])
  })

  it('show the list to viewers, but neither payloads nor actions', async () => {
    const id = await deadEvent()
    const viewer = await operator('viewer')
    const list = await viewer.open('/admin/webhooks')
    expect(list.html).not.toContain(`/received/${id}`)
    expect((await viewer.open(`/admin/webhooks/received/${id}`)).status).toBe(403)
    const csrf_token = await viewer.browser.csrfToken()
    const refused = await viewer.post(`/admin/webhooks/received/${id}/retry`, { csrf_token })
    expect(refused.status).toBe(403)
    expect((await viewer.open('/admin/webhooks/sent')).html).not.toContain('resend-all')
    const support = await operator('support')
    expect((await support.post(`/admin/webhooks/received/${id}/retry`, {})).status).toBe(403)
  })

  it('send one event to the application again, or all events that were held back', async () => {
    answer = 410
    await deadEvent()
    await service.billing.process()
    const support = await operator('support')
    const list = await support.open('/admin/webhooks/sent?state=gone')
    expect(list.html).toContain('410')
    const [, id = ''] = /href="\/admin\/webhooks\/sent\/(\d+)"/.exec(list.html) ?? []
    const path = `/admin/webhooks/sent/${id}`
    expect((await support.open(path)).html).toContain(endpoint)
    answer = 200
    const one = await support.send(await support.open(path), `${path}/resend`)
    expect(one.location).toBe(`${path}?done=resent`)
    const all = await support.send(list, '/admin/webhooks/sent/resend-all', { endpoint })
    expect(all.location).toBe('/admin/webhooks/sent?state=pending&done=all')
    await service.billing.process()
    const gone = await support.open('/admin/webhooks/sent?state=gone')
    expect(gone.html).toContain('No event has this status.')
    const wrong = await support.send(gone, '/admin/webhooks/sent/resend-all', { endpoint: 'x' })
    expect(wrong.status).toBe(404)
  })

  it('respond with 404 or 422 to unknown and to invalid ids', async () => {
    const support = await operator('support')
    for (const id of ['999999', '0', 'x', '1e3']) {
      for (const place of ['received', 'sent']) {
        const { status } = await support.open(`/admin/webhooks/${place}/${id}`)
        expect([404, 422]).toContain(status)
      }
    }
  })
})

it("the operators' page about settings shows the source of each setting, and no secret", async () => {
  const viewer = await operator('viewer')
  const page = await viewer.open('/admin/settings')
  expect(page.html).toContain('TOLLGATE_DELIVERIES_URL')
  expect(page.html).toContain(endpoint)
  expect(page.html).not.toContain(Buffer.alloc(32, 7).toString('base64'))
  const german = await viewer.browser.get('/admin/settings', { 'accept-language': 'de' })
  expect(await german.text()).toContain('Voreinstellungen')
})
