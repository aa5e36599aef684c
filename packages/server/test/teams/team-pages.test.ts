import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperatorHelpers } from '../admin/operators.ts'
import { startTestService, type TestService } from '../support.ts'
import { newTeam, newTeamPerson, rolesIn, tokenIn } from './team-people.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    settings: {
      teams: true,
      plans: [
        { id: 'pro', name: 'Pro', amount: 2500, months: 1 },
        { id: 'crew', name: 'Crew', amount: 1000, months: 1, seats: () => 1 },
      ],
    },
  })
})
afterAll(() => service?.stop())

const PEOPLE = ['stranger', 'member', 'admin', 'owner'] as const
type Who = (typeof PEOPLE)[number]

describe('the pages of a team', () => {
  it.each<[string, number, readonly Who[]]>([
    ['', 200, ['member', 'admin', 'owner']],
    ['/leave', 200, ['member', 'admin', 'owner']],
    ['/billing', 200, ['admin', 'owner']],
    ['/billing/cancel', 303, ['admin', 'owner']],
    ['/billing/subscribed', 303, ['admin', 'owner']],
    ['/delete', 200, ['owner']],
  ])('answer %j with %i to those who may open it, and with 404 to all others', async (...row) => {
    const [path, status, allowed] = row
    const team = await newTeam(service)
    for (const who of PEOPLE) {
      const { status: got } = await team[who].browser.get(`${team.path}${path}`)
      expect([who, got]).toEqual([who, allowed.includes(who) ? status : 404])
    }
    const signedOut = await service.browser().get(`${team.path}${path}`)
    expect(signedOut.headers.get('location')).toContain('/login?return_to=')
  })

  it.each<[string, Record<string, string>, readonly Who[]]>([
    ['/rename', { name: 'Other' }, ['admin', 'owner']],
    ['/invite', { email: 'new@example.com', role: 'member' }, ['admin', 'owner']],
    ['/invite', { email: 'new@example.com', role: 'admin' }, ['owner']],
    ['/invite', { email: 'new@example.com', role: 'owner' }, []],
    ['/withdraw', { invitation: 'unknown' }, ['admin', 'owner']],
    ['/remove', { user: 'member' }, ['admin', 'owner']],
    ['/remove', { user: 'admin' }, ['owner']],
    ['/remove', { user: 'owner' }, []],
    ['/role', { user: 'member', role: 'admin' }, ['owner']],
    ['/role', { user: 'admin', role: 'owner' }, ['owner']],
    ['/hand-over', { user: 'member' }, ['owner']],
    [
      '/billing/subscribe',
      { plan: 'pro', provider: 'stripe', token: 'pm_card_visa' },
      ['admin', 'owner'],
    ],
    ['/billing/price', { plan: 'pro', provider: 'stripe' }, ['admin', 'owner']],
    ['/delete', {}, ['owner']],
  ])('accept the form %s with %j only from those who may send it (threat N10)', async (...row) => {
    const [path, given, allowed] = row
    let team = await newTeam(service)
    for (const who of PEOPLE) {
      const before = await rolesIn(service, team.id)
      const fields = { ...given }
      const named = PEOPLE.find((each) => each === fields.user)
      if (named) fields.user = team[named].id
      const { status } = await team[who].post(`${team.path}${path}`, fields)
      const isAllowed = allowed.includes(who)
      expect([who, status]).toEqual([
        who,
        isAllowed ? expect.toBeOneOf([200, 303]) : expect.toBeOneOf([404, 422]),
      ])
      if (isAllowed) {
        if (who !== 'owner') team = await newTeam(service)
        continue
      }
      expect(await rolesIn(service, team.id)).toEqual(before)
      expect(await service.teams.find(team.id)).toMatchObject({ name: 'Acme', billedBy: null })
      expect(await service.teams.invitations(team.id)).toEqual([])
    }
  })

  it('reject a form without the CSRF token of the session', async () => {
    const team = await newTeam(service)
    const { status } = await team.owner.browser.post(`${team.path}/delete`, { csrf_token: 'wrong' })
    expect([status, await service.teams.find(team.id)]).toEqual([403, expect.anything()])
  })

  it.each([
    ['', 'Enter a name'],
    ['   ', 'Enter a name'],
    ['x'.repeat(101), 'Enter a name'],
    ['Acme\u202e', 'Enter a name'],
  ])('reject the name %j', async (name, text) => {
    const ada = await newTeamPerson(service)
    const { status, html } = await ada.refused('/teams', { name })
    expect([status, html]).toEqual([422, expect.stringContaining(text)])
    expect(await service.teams.listOf(ada.id)).toEqual([])
  })

  it('show a name with markup as text', async () => {
    const { owner, path } = await newTeam(service, '<img src=x>')
    expect(await (await owner.browser.get(path)).text()).not.toContain('<img src=x>')
  })

  it('keep the last owner in the team, and let an owner leave once there is another', async () => {
    const { owner, admin, id, path } = await newTeam(service)
    const last = 'A team needs an owner. Make another member an owner first.'
    expect((await owner.refused(`${path}/leave`)).alert).toBe(last)
    expect((await owner.refused(`${path}/role`, { user: owner.id, role: 'admin' })).alert).toBe(
      last,
    )
    await owner.done(`${path}/role`, { user: admin.id, role: 'owner' })
    expect(await owner.done(`${path}/leave`)).toBe('/teams?done=left')
    expect(await rolesIn(service, id)).toMatchObject({ [admin.id]: 'owner' })
    expect(await service.teams.find(id)).toMatchObject({ email: admin.email })
    expect((await owner.browser.get(path)).status).toBe(404)
  })

  it('do not count an owner whose account is disabled', async () => {
    const { owner, admin, id, path } = await newTeam(service)
    await owner.done(`${path}/role`, { user: admin.id, role: 'owner' })
    await service.users.setDisabled(admin.id, true)
    expect((await owner.refused(`${path}/leave`)).status).toBe(422)
    expect(await rolesIn(service, id)).toMatchObject({ [owner.id]: 'owner' })
  })

  it('hand over a team: the other member becomes an owner, the former owner an admin', async () => {
    const { owner, member, id, path } = await newTeam(service)
    await owner.done(`${path}/hand-over`, { user: member.id })
    expect(await rolesIn(service, id)).toMatchObject({ [owner.id]: 'admin', [member.id]: 'owner' })
    expect((await owner.post(`${path}/hand-over`, { user: member.id })).status).toBe(404)
    expect(await service.teams.find(id)).toMatchObject({ email: member.email })
  })
})

describe('an invitation to a team', () => {
  async function invite(role = 'member') {
    const team = await newTeam(service)
    const { stranger: guest } = team
    const response = await team.owner.post(`${team.path}/invite`, { email: guest.email, role })
    const token = tokenIn(await response.text())
    const open = () => guest.browser.get(`/teams/join?invitation=${token}`)
    const accept = (by = guest) => by.post('/teams/join', { invitation: token })
    return { ...team, guest, token, open, accept }
  }

  it('names the team and the role, and makes the person a member once', async () => {
    const { guest, id, open, accept, path } = await invite('admin')
    const page = await (await open()).text()
    expect(page).toContain('Acme')
    expect(page).toContain('role Admin')
    const done = await accept()
    expect(done.headers.get('location')).toBe(`${path}?done=joined`)
    expect(await rolesIn(service, id)).toMatchObject({ [guest.id]: 'admin' })
    expect([(await accept()).status, (await open()).status]).toEqual([404, 404])
  })

  it('is not accepted by another account, which learns neither the team nor the address', async () => {
    const { guest, id, token, accept } = await invite()
    const other = await newTeamPerson(service)
    const page = await other.browser.get(`/teams/join?invitation=${token}`)
    const html = await page.text()
    expect([page.status, html]).toEqual([404, expect.stringContaining('another email address')])
    expect(html).not.toContain('Acme')
    expect(html).not.toContain(guest.email)
    expect((await accept(other)).status).toBe(404)
    expect(await rolesIn(service, id)).not.toHaveProperty(other.id)
    // The right person can still accept it.
    expect((await accept()).status).toBe(303)
  })

  it.each(['', 'x', 'a'.repeat(43), `${'a'.repeat(42)}%00`])(
    'is not found by the guessed token %j',
    async (token) => {
      const { guest } = await invite()
      expect((await guest.post('/teams/join', { invitation: token })).status).toBe(404)
    },
  )

  it.each<[string, (made: Awaited<ReturnType<typeof invite>>) => Promise<unknown>]>([
    [
      'has expired',
      async ({ guest }) => {
        service.clock.advance({ days: 6 })
        // The session goes on, because it is used.
        await guest.look('/teams')
        service.clock.advance({ hours: 25 })
      },
    ],
    [
      'was withdrawn',
      async ({ owner, path, id }) => {
        const [invitation] = await service.teams.invitations(id)
        await owner.done(`${path}/withdraw`, { invitation: invitation?.id ?? '' })
      },
    ],
    [
      'was replaced by a newer one',
      ({ owner, path, guest }) =>
        owner.post(`${path}/invite`, { email: guest.email.toUpperCase(), role: 'member' }),
    ],
    ['belongs to a deleted team', ({ owner, path }) => owner.done(`${path}/delete`)],
    [
      'was written by a member who was removed since',
      async ({ owner, admin, path }) => {
        await owner.done(`${path}/role`, { user: admin.id, role: 'owner' })
        await admin.done(`${path}/remove`, { user: owner.id })
      },
    ],
    [
      'was written by a member whose role has changed since',
      async ({ owner, admin, path }) => owner.done(`${path}/hand-over`, { user: admin.id }),
    ],
  ])('cannot be accepted if it %s', async (_why, change) => {
    const made = await invite()
    await change(made)
    expect((await made.accept()).status).toBe(404)
    expect(await rolesIn(service, made.id)).not.toHaveProperty(made.guest.id)
  })

  it('does not bring a removed member back', async () => {
    const { guest, id, owner, path, accept } = await invite()
    await accept()
    const again = await owner.post(`${path}/invite`, { email: guest.email, role: 'member' })
    expect([again.status, await again.text()]).toEqual([
      422,
      expect.stringContaining('already in the team'),
    ])
    await owner.done(`${path}/remove`, { user: guest.id })
    expect((await guest.browser.get(path)).status).toBe(404)
    expect((await accept()).status).toBe(404)
    expect(await service.teams.invitations(id)).toEqual([])
  })

  it('cannot be replaced by an admin if an owner has written it for another admin', async () => {
    const { admin, guest, path, accept, id } = await invite('admin')
    const email = guest.email
    expect((await admin.refused(`${path}/invite`, { email, role: 'member' })).status).toBe(422)
    await accept()
    expect(await rolesIn(service, id)).toMatchObject({ [guest.id]: 'admin' })
  })

  it('is stored as a hash, and is neither in the log nor shown again', async () => {
    const { token, owner, path, open } = await invite()
    await open()
    const rows = await service.database.kysely.selectFrom('team_invitations').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(token)
    expect(service.log()).not.toContain(token)
    expect(await (await owner.browser.get(path)).text()).not.toContain(token)
  })
})

describe.each([
  ['stripe', 'pm_card_visa'],
  ['braintree', 'fake-valid-visa-nonce'],
] as const)('the subscription of a team at %s', (provider, token) => {
  const wanted = { plan: 'pro', provider, token }

  it('is managed by an admin, seen by a member, and separate from the plan of each person', async () => {
    const { id, path, admin, member, owner } = await newTeam(service)
    const billing = `${path}/billing`
    expect(await admin.done(`${billing}/subscribe`, wanted)).toBe(`${billing}?done=subscribed`)
    expect(await admin.look(billing)).toContain('Billing of Acme')
    expect(await member.look(path)).toContain('Pro 1 seat Active')
    for (const person of [owner, admin, member]) {
      expect(await person.subscription()).toMatchObject({ subscribed: false })
    }
    const team = await service.billing.owner('team', id)
    expect(await team.subscribed('main')).toBe(true)
    // Every link and form of the pages stays with the team.
    for (const page of ['', '/cancel']) {
      const html = await (await admin.browser.get(`${billing}${page}`)).text()
      expect([...html.matchAll(/(?:action|href)="(\/billing[^"]*)"/g)].map(([, to]) => to)).toEqual(
        ['/billing'],
      )
    }
    const html = await (await admin.browser.get(billing)).text()
    const [, invoice = ''] = /href="([^"]+\/billing\/invoice\/[^"]+)"/.exec(html) ?? []
    const pdf = await owner.browser.get(invoice)
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    expect((await member.browser.get(invoice)).status).toBe(404)
    // An invoice of another team is not found, either.
    const other = await newTeam(service)
    const theirs = invoice.replace(path, other.path)
    expect((await other.owner.browser.get(theirs)).status).toBe(404)
    const asOwn = await owner.browser.get(invoice.replace(`${billing}/invoice`, '/user/invoice'))
    expect(asOwn.headers.get('location')).toContain('reason=invoice_not_found')
  })

  it('must be cancelled before the team is deleted, and ends with it', async () => {
    const { id, path, owner } = await newTeam(service)
    await owner.done(`${path}/billing/subscribe`, wanted)
    const refused = await owner.refused(`${path}/delete`)
    expect(refused).toMatchObject({ status: 422, alert: expect.stringContaining('Cancel it') })
    expect((await owner.browser.get(path)).status).toBe(200)
    await owner.done(`${path}/billing/cancel`)
    const { providerId } = await service.billing.owner('team', id)
    expect(await owner.done(`${path}/delete`)).toBe('/teams?done=deleted')
    expect(await service.teams.find(id)).toBeNull()
    expect(await service.billing.findOwnerByCustomer(provider, providerId ?? '')).toBeNull()
    const { sandbox } = service
    const left =
      provider === 'stripe'
        ? sandbox?.stripe.subscriptions(providerId ?? '').filter((one) => one.status !== 'canceled')
        : sandbox?.braintree
            .subscriptions(providerId ?? '')
            .filter((one) => one.status !== 'Canceled')
    expect(left).toEqual([])
  })
})

describe('the seats of a team', () => {
  it('follow the number of members if the plan counts seats', async () => {
    const { id, path, owner, member, stranger } = await newTeam(service)
    const form = { plan: 'crew', provider: 'stripe', token: 'pm_card_visa' }
    await owner.done(`${path}/billing/subscribe`, form)
    const quantity = async () =>
      (await (await service.billing.owner('team', id)).subscription('main')).quantity
    expect(await quantity()).toBe(3)
    const invited = await owner.post(`${path}/invite`, { email: stranger.email, role: 'member' })
    await stranger.done('/teams/join', { invitation: tokenIn(await invited.text()) })
    expect(await quantity()).toBe(4)
    await owner.done(`${path}/remove`, { user: member.id })
    await stranger.done(`${path}/leave`)
    expect(await quantity()).toBe(2)
  })

  it('can be corrected on the billing page if the provider was unavailable when a member left', async () => {
    const { id, path, owner, member } = await newTeam(service)
    const form = { plan: 'crew', provider: 'stripe', token: 'pm_card_visa' }
    await owner.done(`${path}/billing/subscribe`, form)
    service.sandbox?.trouble.failNext(50, '500', 'stripe')
    await member.done(`${path}/leave`)
    service.sandbox?.trouble.clear()
    expect(Object.keys(await rolesIn(service, id))).toHaveLength(2)
    expect(await owner.look(`${path}/billing`)).toContain('Change the quantity to 2')
    await owner.done(`${path}/billing/quantity`, { quantity: '2' })
    expect((await (await service.billing.owner('team', id)).subscription('main')).quantity).toBe(2)
  })

  it('can be counted again through the management API, by a support person', async () => {
    const support = await createOperatorHelpers(service).operator('support')
    const { id } = await newTeam(service)
    const team = await service.billing.owner('team', id)
    await team.newSubscription('main', 'crew').create('pm_card_visa')
    const subscription = await team.subscription('main')
    const count = (plan: number) =>
      support.call('POST', `/teams/${id}/subscriptions/${plan}/count-seats`)
    expect(await count(subscription.id)).toMatchObject({ status: 200, body: { quantity: 3 } })
    expect((await team.subscription('main')).quantity).toBe(3)
    const pro = await team.newSubscription('extra', 'pro').create(null)
    expect((await count(pro.id)).status).toBe(409)
  })
})

describe('a service without the setting `teams`', () => {
  it('has no pages about teams, and no links to them', async () => {
    const without = await startTestService()
    try {
      const browser = without.browser()
      await browser.signIn(without.demo?.email ?? '', without.demo?.password ?? '')
      const statuses = ['/teams', '/teams/join', '/teams/x', '/teams/x/billing'].map(
        async (path) => (await browser.get(path)).status,
      )
      expect(await Promise.all(statuses)).toEqual([404, 404, 404, 404])
      expect(await (await browser.get('/')).text()).not.toContain('/teams')
    } finally {
      await without.stop()
    }
  })
})
