import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers, PROVIDERS } from '../accounts.ts'
import { textOf } from '../billing-person.ts'
import { startTestService, type TestService } from '../support.ts'
import { join, newTeam } from '../teams/team-people.ts'
import { createOperatorHelpers } from './operators.ts'
import { operatorWithForms } from './page-forms.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
let tollgate: ReturnType<typeof createAccountHelpers>['tollgate']
beforeAll(async () => {
  service = await startTestService({ settings: { teams: true }, options: { keepDemo: true } })
  operators = createOperatorHelpers(service)
  tollgate = createAccountHelpers(service).tollgate
})
afterAll(() => service?.stop())

const usd = (amount: number) => ({ amount, currency: 'usd' })
const keyed = (key: string, body: object) => ({ body, headers: { 'idempotency-key': key } })
const CARDS = { stripe: 'pm_card_visa', braintree: 'fake-valid-visa-nonce' } as const

/** A team that has paid one invoice. */
async function payingTeam(provider: 'stripe' | 'braintree' = 'stripe', name?: string) {
  const team = await newTeam(service, name)
  const billable = await service.billing.owner('team', team.id)
  await billable.chooseProvider(provider)
  await billable.newSubscription('main', 'pro').create(CARDS[provider])
  // Else the handlers of its webhooks would meet the faults of a test.
  await service.advance({})
  const paid = await service.billing.owner('team', team.id)
  const [invoice] = await paid.invoicesIncludingPending()
  if (!invoice) throw new Error('Nothing was invoiced')
  const { id: subscription } = await paid.subscription('main')
  return { ...team, billable: paid, invoice, subscription, api: `/teams/${team.id}` }
}

const refundedOf = async (teamId: string) => {
  const [invoice] = await (await service.billing.owner('team', teamId)).invoices()
  return (await invoice?.refunded())?.amount
}

/** The newest entry of an operation about a team. */
async function lastEntry(operation: string, teamId: string) {
  const entries = await operators.entries(operation)
  return entries.filter(({ owner_id }) => owner_id === `team:${teamId}`).at(-1)
}

describe('the billing of a team in the management API (threat N10)', () => {
  it.each(PROVIDERS)('is listed, and its invoice is found by number, at %s', async (provider) => {
    const viewer = await operators.operator('viewer')
    const { id, api, invoice } = await payingTeam(provider)
    const names = { user_id: null, owner_type: 'team', owner_id: id, provider }
    const subscriptions = await viewer.call('GET', `${api}/subscriptions`)
    expect(subscriptions.body.data).toMatchObject([{ ...names, name: 'main' }])
    const invoices = await viewer.call('GET', `${api}/invoices`)
    expect(invoices.body).toMatchObject({ data: [{ ...names, id: invoice.id }], next: null })
    const shown = await viewer.call('GET', `${api}/invoices/${invoice.id}`)
    expect(shown.body).toMatchObject({ ...names, refunded: { amount: 0 } })
    const number = encodeURIComponent(invoice.number)
    const found = await viewer.call('GET', `/invoices?number=${number}`)
    expect(found.body.data).toMatchObject([{ ...names, id: invoice.id }])
    const customer = await viewer.call('GET', `${api}/customer`)
    expect(customer.body).toMatchObject({ provider, customer: expect.any(String) })
    for (const list of ['usage', 'tax-ids', 'credit-notes']) {
      expect((await viewer.call('GET', `${api}/${list}`)).body, list).toEqual({ data: [] })
    }
    const disputes = await viewer.call('GET', `/disputes?owner=team:${id}`)
    expect(disputes.body).toEqual({ data: [], next: null })
  })

  it('is changed by a support person, and every change is in the audit log of the team', async () => {
    const support = await operators.operator('support')
    const { id, api, subscription, invoice } = await payingTeam()
    const at = `${api}/subscriptions/${subscription}`
    const changes = [
      ['billing.pause', `${at}/pause`, {}],
      ['billing.unpause', `${at}/unpause`, undefined],
      ['billing.planChange', `${at}/plan-change`, { price: 'monthly' }],
      ['billing.cancelPlannedChange', `${at}/cancel-planned-change`, undefined],
      ['billing.cancel', `${at}/cancel`, undefined],
      ['billing.resume', `${at}/resume`, undefined],
      ['billing.sync', `${api}/sync`, undefined],
      ['billing.addTaxId', `${api}/tax-ids`, { type: 'eu_vat', value: 'DE123456789' }],
      ['billing.credit', `${api}/credit`, { amount: usd(300) }],
      ['billing.debit', `${api}/debit`, { amount: usd(100) }],
      [
        'billing.issueCreditNote',
        `${api}/invoices/${invoice.id}/credit-notes`,
        { to: 'balance', amount: usd(200) },
      ],
      ['billing.refund', `${api}/invoices/${invoice.id}/refund`, { amount: usd(500) }],
      ['billing.cancelNow', `${at}/cancel-now`, undefined],
      ['billing.comp', `${api}/comp`, { until: '2027-06-01T00:00:00Z' }],
    ] as const
    for (const [operation, path, body] of changes) {
      const headers = { 'idempotency-key': operation }
      const { status, body: answer } = await support.call('POST', path, { body, headers })
      expect([operation, status], JSON.stringify(answer)).toEqual([operation, 200])
      expect(await lastEntry(operation, id), operation).toMatchObject({
        actor_id: support.id,
        outcome: 'done',
      })
    }
    const address = { line1: 'Main Street 1', city: 'Berlin', country: 'DE' }
    for (const [path, body] of [
      ['tax-exempt', { tax_exempt: 'exempt' }],
      ['address', address],
    ] as const) {
      expect((await support.call('PUT', `${api}/${path}`, { body })).status).toBe(200)
    }
    const { body: customer } = await support.call('GET', `${api}/customer`)
    expect(customer).toMatchObject({
      balance: usd(400),
      tax_exempt: 'exempt',
      address,
      free_until: '2027-06-01T00:00:00.000Z',
    })
    expect(await lastEntry('billing.comp', id)).toMatchObject({
      subject_kind: 'team',
      subject_id: id,
    })
    expect(await lastEntry('billing.refund', id)).toMatchObject({
      subject_kind: 'invoice',
      subject_id: invoice.id,
    })
    const admin = await operators.operator('admin')
    const log = await admin.call('GET', `/audit/entries?owner=team:${id}&operation=billing.refund`)
    expect(log.body.data.map((each: { owner: string }) => each.owner)).toEqual([
      `team:${id}`,
      `team:${id}`,
    ])
  })

  it('is not changed by a viewer, by a client without the scopes, or by an operator who is a member', async () => {
    const { id, api, invoice, owner, admin } = await payingTeam()
    const refund = `${api}/invoices/${invoice.id}/refund`
    const viewer = await operators.operator('viewer')
    expect((await viewer.call('POST', refund, keyed('viewer', {}))).status).toBe(403)
    const support = await operators.operator('support')
    await join(service, id, { by: owner, person: support, role: 'member' })
    const own = await support.call('POST', refund, keyed('own', {}))
    expect([own.status, own.body.detail]).toEqual([
      409,
      'You cannot do this to a team that you are a member of.',
    ])
    expect((await support.call('GET', `${api}/invoices`)).status).toBe(200)
    expect((await admin.browser.api(`/admin/v1${api}/invoices`)).status).toBe(403)
    const operatorOwner = await operators.operator('owner')
    const callAs = async (scopes: readonly string[]) => {
      const body = { name: 'Robot', scopes }
      const { body: made } = await operatorOwner.call('POST', '/management-clients', { body })
      const response = await fetch(`${service.url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: made.id,
          client_secret: made.secret,
          scope: scopes.join(' '),
        }),
      })
      const { access_token: token } = (await response.json()) as { access_token: string }
      return operators.with({ authorization: `Bearer ${token}` })
    }
    const teams = await callAs(['admin.teams:read', 'admin.teams:write', 'admin:irreversible'])
    expect((await teams('GET', `${api}/invoices`)).status).toBe(403)
    expect((await teams('POST', refund, keyed('teams', {}))).status).toBe(403)
    expect(await refundedOf(id)).toBe(0)
    const billing = await callAs(['admin.billing:write', 'admin:irreversible'])
    expect((await billing('POST', refund, keyed('billing', {}))).status).toBe(200)
  })

  it('responds to a request for an unknown owner with the matching problem type', async () => {
    const support = await operators.operator('support')
    const { id, api, invoice, subscription, owner } = await payingTeam()
    const other = await payingTeam()
    const problem = async (method: string, path: string, body?: object) => {
      const headers = { 'idempotency-key': 'unknown' }
      const answer = await support.call(method, path, { ...(body && { body }), headers })
      return [answer.status, String(answer.body.type).split('#')[1], answer.body.errors]
    }
    const missing = [404, 'not-found', undefined]
    expect(await problem('GET', '/teams/unknown/subscriptions')).toEqual(missing)
    expect(await problem('GET', '/teams/unknown/invoices')).toEqual(missing)
    expect(await problem('POST', '/teams/unknown/sync')).toEqual(missing)
    expect(await problem('GET', `/users/${owner.id}/invoices/${invoice.id}`)).toEqual(missing)
    expect(await problem('GET', `${other.api}/invoices/${invoice.id}`)).toEqual(missing)
    const foreign = `${other.api}/subscriptions/${subscription}/cancel`
    expect(await problem('POST', foreign)).toEqual(missing)
    const wrong = [422, 'invalid-input', { owner: [expect.stringContaining('such as team:')] }]
    expect(await problem('GET', `/users/${id}/invoices`)).toEqual(wrong)
    expect(await problem('GET', '/teams/a%20b/invoices')).toEqual(wrong)
    expect(await problem('GET', '/disputes?owner=club:7')).toEqual(wrong)
    expect(await problem('GET', '/disputes?owner=team:')).toEqual(wrong)
    const twice = await problem('POST', `${api}/sync`, { owner: '1' })
    expect(twice).toEqual([400, 'invalid-request', undefined])
  })

  it('forgets the personal data of a team that is deleted, and the chain stays valid', async () => {
    const support = await operators.operator('support')
    const { id, api, owner } = await payingTeam()
    const body = { type: 'eu_vat', value: 'DE999999999' }
    expect((await support.call('POST', `${api}/tax-ids`, { body })).status).toBe(200)
    const stored = async () =>
      (await service.database.kysely.selectFrom('audit_personal').selectAll().execute()).filter(
        ({ content }) => content.includes('DE999999999'),
      )
    expect((await stored()).map(({ person }) => person)).toContain(`team:${id}`)
    const deleted = await tollgate('team', 'delete', id, '--subscription', 'now', '--void-open')
    expect([deleted.code, deleted.stderr]).toEqual([0, ''])
    expect(await stored()).toEqual([])
    expect(await service.users.findAccount(owner.id)).not.toBeNull()
    expect((await tollgate('audit', 'verify')).code).toBe(0)
  })
})

describe('a refund or cancellation by an operator for a team', () => {
  it('works through the management API', async () => {
    const support = await operators.operator('support')
    const { id, api, invoice, subscription, billable } = await payingTeam()
    const refund = `${api}/invoices/${invoice.id}/refund`
    const first = await support.call('POST', refund, keyed('door', { amount: usd(700) }))
    expect(first).toMatchObject({ status: 200, body: { amount: usd(700) } })
    const again = await support.call('POST', refund, keyed('door', { amount: usd(700) }))
    expect(again.body).toEqual(first.body)
    expect(await refundedOf(id)).toBe(700)
    const cancelled = await support.call('POST', `${api}/subscriptions/${subscription}/cancel`)
    expect(cancelled.body.states).toContain('on_grace_period')
    expect((await billable.subscription('main')).cancelled()).toBe(true)
  })

  it('works on the pages for operators', async () => {
    const support = await operatorWithForms(service, 'support')
    const { id, invoice, subscription, billable } = await payingTeam('stripe', 'Doors')
    const path = `/admin/teams/${id}`
    const refunding = `${path}/refund?object=${invoice.id}`
    expect(textOf((await support.open(refunding)).html)).toContain('Refund an invoice of Doors?')
    const fields = { amount: '7.00', decision: 'go' }
    const refunded = await support.submit(refunding, fields)
    expect([refunded.status, refunded.location]).toEqual([303, `${path}?done=refunded`])
    expect(await refundedOf(id)).toBe(700)
    const cancelling = `${path}/cancel?object=${subscription}`
    const kept = await support.submit(cancelling, { decision: 'stay' })
    expect([kept.location, (await billable.subscription('main')).cancelled()]).toEqual([
      path,
      false,
    ])
    const done = await support.submit(cancelling, { decision: 'go' })
    expect(done.location).toBe(`${path}?done=cancelled`)
    expect((await billable.subscription('main')).cancelled()).toBe(true)
    expect(await lastEntry('billing.cancel', id)).toMatchObject({ door: 'page', outcome: 'done' })
  })

  it('works with commands', async () => {
    const { id, invoice, billable } = await payingTeam()
    const owner = ['--owner', `team:${id}`]
    const listed = await tollgate('billing', 'invoices', ...owner, '--json')
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id: invoice.id, owner_id: id }])
    const args = [...owner, invoice.id, '--amount', '7.00', '--idempotency-key', 'door', '--json']
    const refunded = await tollgate('billing', 'refund', ...args)
    expect(JSON.parse(refunded.stdout)).toMatchObject({ amount: usd(700) })
    expect(await refundedOf(id)).toBe(700)
    const cancelled = await tollgate('billing', 'cancel', ...owner)
    expect([cancelled.code, cancelled.stdout]).toEqual([
      0,
      expect.stringContaining(`of team:${id} is cancelled`),
    ])
    expect((await billable.subscription('main')).cancelled()).toBe(true)
    expect(await lastEntry('billing.cancel', id)).toMatchObject({ door: 'command' })
  })
})

describe('the option --owner', () => {
  it('names a team in every command about the payments of an owner', async () => {
    const { id, invoice, subscription } = await payingTeam()
    const owner = `--owner=team:${id}`
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await tollgate('billing', ...args, '--json')
      expect([args, code, stderr.replace(/^If this is interrupted.*\n/, '')]).toEqual([args, 0, ''])
      return JSON.parse(stdout)
    }
    expect(await run('subscriptions', owner)).toMatchObject([{ id: subscription, owner_id: id }])
    expect((await run('pause', owner)).states).toContain('paused')
    expect((await run('unpause', owner)).states).toContain('recurring')
    expect((await run('plan-change', owner, 'monthly')).planned).toMatchObject({ plan: 'monthly' })
    expect((await run('cancel-plan-change', owner)).planned).toBeNull()
    expect((await run('cancel', owner, '--subscription', 'main')).ends_at).not.toBeNull()
    expect((await run('resume', owner)).ends_at).toBeNull()
    expect(await run('sync', owner)).toMatchObject([{ id: subscription }])
    const note = await run(
      'credit-notes',
      'issue',
      owner,
      invoice.id,
      'balance',
      '--amount',
      '1.00',
    )
    expect(await run('credit-notes', 'list', owner)).toEqual([note])
    const taxId = await run('tax-ids', 'add', owner, 'eu_vat', 'DE123456789')
    expect(await run('tax-ids', 'list', owner)).toMatchObject([{ id: taxId.id }])
    expect(await run('tax-ids', 'remove', owner, taxId.id)).toMatchObject({ removed: true })
    expect(await run('tax-exempt', owner, 'exempt')).toEqual({ tax_exempt: 'exempt' })
    expect(await run('address', owner, '--city', 'Berlin')).toMatchObject({ city: 'Berlin' })
    expect(await run('disputes', owner)).toEqual([])
  })

  it('names a person by id or e-mail address', async () => {
    const { owner } = await newTeam(service)
    for (const named of [owner.email, owner.id, `user:${owner.id}`]) {
      const { code, stdout } = await tollgate('billing', 'subscriptions', '--owner', named)
      expect([code, stdout]).toEqual([0, 'There are no subscriptions\n'])
    }
  })

  it.each([
    ['cancel', "missing required argument 'user'"],
    ['cancel ada@example.com --owner team:x', '--owner replaces user'],
    ['refund --owner team:x', "missing required argument 'invoice'"],
    ['refund in_1', "missing required argument 'invoice'"],
    ['cancel --owner team:unknown', 'There is no team unknown'],
    ['cancel --owner club:7', 'such as team:'],
    ['cancel --owner team:', '--owner expects a type and an id'],
    ['cancel --owner nobody@example.com', 'There is no user "nobody@example.com"'],
    ['subscriptions --owner team:x --user 7', 'Give --user or --owner'],
    ['subscriptions --owner team:x --limit 3', 'leave out the others'],
    ['sync --owner team:x --resume', '--owner has no further options'],
    ['invoices --owner team:unknown', 'There is no team unknown'],
  ])('explains what is wrong with tollgate billing %s', async (words, message) => {
    const { code, stderr } = await tollgate('billing', ...words.split(' '))
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('is named in the help instead of the argument', async () => {
    const { stdout } = await tollgate('billing', 'refund', '--help')
    expect(stdout).toContain('(<user> | --owner <owner>) <invoice>')
  })
})

describe("the operators' pages of teams", () => {
  it('are reached from the list, by name, by id, and by the number of an invoice', async () => {
    const viewer = await operatorWithForms(service, 'viewer')
    const { id, invoice, member } = await payingTeam('stripe', 'Grünwald & Söhne 100%')
    const link = `href="/admin/teams/${id}"`
    expect((await viewer.open('/admin')).html).toContain('href="/admin/teams"')
    expect((await viewer.open('/admin/teams')).html).toContain(link)
    for (const search of ['söhne 100%', 'Grünwald', 'GRüNWALD', id]) {
      const { html } = await viewer.open(`/admin/teams?search=${encodeURIComponent(search)}`)
      expect(html, search).toContain(link)
    }
    const none = await viewer.open('/admin/teams?search=100%25x')
    expect(none.html).not.toContain(link)
    for (const person of [invoice.number, invoice.id]) {
      const found = await viewer.post('/admin/people', {
        csrf_token: await viewer.browser.csrfToken(),
        person,
      })
      expect([found.status, found.location]).toEqual([303, `/admin/teams/${id}`])
    }
    const { html } = await viewer.open(`/admin/teams/${id}`)
    for (const text of [member.email, invoice.number, 'Grünwald &amp; Söhne 100%', 'Members']) {
      expect(html).toContain(text)
    }
    expect(html).toContain(`href="/admin/people/${member.id}"`)
    expect((await viewer.open(`/admin/teams/${id}/invoices`)).html).toContain(invoice.number)
    expect((await viewer.open('/admin/teams/unknown')).status).toBe(404)
    expect((await viewer.open('/admin/teams/unknown/cancel?object=1')).status).toBe(404)
  })

  it('are hidden from other people, and show only the actions that the role of the operator allows', async () => {
    const { id, owner } = await payingTeam()
    const path = `/admin/teams/${id}`
    for (const address of ['/admin/teams', path, `${path}/invoices`, `${path}/credit`]) {
      expect((await owner.browser.get(address)).status, address).toBe(404)
      const login = (await service.browser().get(address)).headers.get('location')
      expect(login).toBe(`/login?return_to=${encodeURIComponent(address)}`)
    }
    const acts = ['cancel', 'refund', 'credit', 'add-tax-id', 'pause', 'plan-change']
    const seen = async (role: 'viewer' | 'support') => {
      const { html } = await (await operatorWithForms(service, role)).open(path)
      return acts.filter((act) => html.includes(`${path}/${act}`))
    }
    expect(await seen('viewer')).toEqual([])
    expect(await seen('support')).toEqual(acts)
    const viewer = await operatorWithForms(service, 'viewer')
    const csrf_token = await viewer.browser.csrfToken()
    expect((await viewer.post(`${path}/sync`, { csrf_token })).status).toBe(403)
  })

  it('tell an operator who is a member that another operator has to act', async () => {
    const support = await operatorWithForms(service, 'support')
    const { id, owner, subscription } = await payingTeam()
    await join(service, id, { by: owner, person: support, role: 'member' })
    const path = `/admin/teams/${id}`
    const { html } = await support.open(path)
    expect(html).toContain('You are a member of this team.')
    expect(html).not.toContain(`${path}/cancel`)
    const asked = await support.open(`${path}/cancel?object=${subscription}`)
    expect([asked.status, asked.location]).toEqual([303, path])
  })

  it('still show the team while its payment provider does not respond', async () => {
    const viewer = await operatorWithForms(service, 'viewer')
    const { id, member } = await payingTeam()
    service.sandbox?.trouble.failNext(100, '500', 'stripe')
    try {
      const { status, html } = await viewer.open(`/admin/teams/${id}`)
      expect(status).toBe(200)
      expect(html).toContain(member.email)
      expect(html).toContain('The payment provider does not answer.')
    } finally {
      service.sandbox?.trouble.clear()
    }
  })
})
