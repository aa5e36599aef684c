import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { computeTotpCode, totpStepAt } from '../../src/factors/totp.ts'
import type { Role } from '../../src/users/roles.ts'
import { PASSWORD } from '../accounts.ts'
import { createSoftAuthenticator } from '../soft-authenticator.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
beforeAll(async () => {
  service = await startTestService()
  operators = createOperatorHelpers(service)
})
afterAll(() => service?.stop())

/** An operator who uses the pages. */
async function operator(role: Role | null) {
  const { id, email, browser } = await operators.operator(role)
  return {
    id,
    email,
    browser,
    read: async (path: string) => (await browser.get(path)).text(),
    async post(path: string, fields: Record<string, string> = {}) {
      const form = { csrf_token: await browser.csrfToken(), ...fields }
      const response = await browser.post(path, form)
      const to = response.headers.get('location')
      return { status: response.status, to, text: await response.text() }
    },
  }
}

const keyIn = (html: string) => /name="request_key" value="([\w-]+)"/.exec(html)?.[1] ?? ''

/** A person who pays at Stripe. */
async function customer() {
  const person = await operators.person()
  const billable = await service.billing.user(Number(person.id))
  await billable.chooseProvider('stripe')
  await billable.newSubscription('main', 'pro').create('pm_card_visa')
  const subscription = await billable.subscription('main')
  return {
    ...person,
    billable,
    subscription: subscription.id,
    customerId: billable.providerId ?? '',
  }
}

describe("access to the operators' pages", () => {
  it.each(['', '/people', '/people/1', '/people/1/timeline', '/people/1/disable'])(
    'is allowed only to operators at /admin%s, and other people are not told that the page exists',
    async (path) => {
      const { id } = await operators.person()
      const address = `/admin${path.replace('1', id)}`
      const stranger = await service.browser().get(address)
      const signIn = `/login?return_to=${encodeURIComponent(address)}`
      expect(stranger.headers.get('location')).toBe(signIn)
      expect((await (await operator(null)).browser.get(address)).status).toBe(404)
      expect((await (await operator('viewer')).browser.get(address)).status).toBe(200)
    },
  )

  it('depends on the role, and each operator sees only the actions of that role', async () => {
    const { id } = await operators.person()
    const acts = ['sign-out', 'disable', 'delete', 'role']
    const seen = async (role: Role) => {
      const html = await (await operator(role)).read(`/admin/people/${id}`)
      return acts.filter((act) => html.includes(`/admin/people/${id}/${act}"`))
    }
    expect(await seen('viewer')).toEqual([])
    expect(await seen('support')).toEqual(['sign-out', 'disable'])
    expect(await seen('admin')).toEqual(['sign-out', 'disable', 'delete'])
    expect(await seen('owner')).toEqual(acts)
  })

  it('is refused to a support person who sends the form of an owner, and the attempt is recorded', async () => {
    const support = await operator('support')
    const { id } = await operators.person()
    const refused = await support.post(`/admin/people/${id}/role`, { role: 'owner' })
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining('Your role does not allow this.'),
    ])
    expect((await service.users.findAccount(id))?.role).toBeNull()
    const rows = await operators.entries('users.setRole')
    expect(rows.filter(({ actor_id }) => actor_id === support.id)).toMatchObject([
      { outcome: 'refused', door: 'page' },
    ])
  })

  it('does not let operators change the accounts of operators with the same role, or their own', async () => {
    const [support, other] = [await operator('support'), await operator('support')]
    const page = await support.read(`/admin/people/${other.id}`)
    expect(page).toContain('Only operators with a higher role')
    expect(page).not.toContain(`/admin/people/${other.id}/disable`)
    expect((await support.post(`/admin/people/${other.id}/disable`)).status).toBe(403)
    const own = `/admin/people/${support.id}`
    expect(await support.read(own)).toContain('This is your own account.')
    expect((await support.browser.get(`${own}/disable`)).headers.get('location')).toBe(own)
    const refused = await support.post(`${own}/disable`)
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining('You cannot do this to your own account.'),
    ])
    expect((await support.browser.get('/account')).status).toBe(200)
  })

  it('does not let owners demote themselves', async () => {
    const owner = await operator('owner')
    const refused = await owner.post(`/admin/people/${owner.id}/role`, { role: '' })
    expect(refused.status).toBe(409)
    expect((await service.users.findAccount(owner.id))?.role).toBe('owner')
  })
})

describe("finding people on the operators' pages", () => {
  it('finds a person by e-mail address, id, customer id or invoice number', async () => {
    const viewer = await operator('viewer')
    const ada = await customer()
    await service.advance({ hours: 1 })
    const [invoice] = await ada.billable.invoices()
    const page = `/admin/people/${ada.id}`
    const texts = [` ${ada.email.toUpperCase()} `, ada.id, ada.customerId, invoice?.number ?? '']
    for (const person of texts) {
      expect([person, (await viewer.post('/admin/people', { person })).to]).toEqual([person, page])
    }
    for (const person of [
      '',
      'nobody',
      '999999',
      'nobody@example.com',
      '<script>',
      '%',
      "' or 1",
    ]) {
      const { to } = await viewer.post('/admin/people', { person })
      expect([person, to]).toEqual([person, '/admin/people?done=unknown'])
    }
    expect(await viewer.read('/admin/people?done=unknown')).toContain('Nobody was found.')
  })

  it('lists the newest people, and lists operators by role', async () => {
    const viewer = await operator('viewer')
    const { id, email } = await operators.person()
    const all = await viewer.read('/admin/people')
    expect(all.indexOf(email)).toBeLessThan(all.lastIndexOf(viewer.email))
    const viewers = await viewer.read('/admin/people?role=viewer')
    expect(viewers).toContain(viewer.email)
    expect(viewers).not.toContain(`/admin/people/${id}"`)
  })

  it('lists people page by page, and rejects a cursor that was changed', async () => {
    const viewer = await operator('viewer')
    for (let at = 0; at < 30; at++) {
      const email = `member-${at}-${viewer.id}@example.com`
      await service.users.create({ email, password: PASSWORD })
    }
    const first = await viewer.read('/admin/people')
    const [, next = ''] = /href="(\/admin\/people\?after=[^"]+)" rel="next"/.exec(first) ?? []
    const second = await viewer.read(next)
    expect(second).toContain(`member-1-${viewer.id}@example.com`)
    expect(second).toContain('Back to the first page')
    const forged = await viewer.browser.get(`${next}x`)
    expect([forged.status, await forged.text()]).toEqual([
      400,
      expect.stringContaining('Start again at the top.'),
    ])
  })

  it('responds with 404 for a person who does not exist', async () => {
    const viewer = await operator('viewer')
    for (const id of ['999999', 'x', '0', '1e3']) {
      const { status } = await viewer.browser.get(`/admin/people/${id}`)
      expect([id, status]).toEqual([id, id === '999999' ? 404 : 422])
    }
  })
})

describe("the operators' pages that change a person's account", () => {
  it('sign a person out everywhere, and show this in the timeline', async () => {
    const support = await operator('support')
    const target = await operator(null)
    const page = `/admin/people/${target.id}`
    expect(await support.read(`${page}/sign-out`)).toContain('end immediately')
    const stay = await support.post(`${page}/sign-out`, { decision: 'stay' })
    expect([stay.status, stay.to]).toEqual([303, page])
    expect((await target.browser.get('/account')).status).toBe(200)
    const done = await support.post(`${page}/sign-out`, { decision: 'go' })
    expect([done.status, done.to]).toEqual([303, `${page}?done=signed-out`])
    expect((await target.browser.get('/account')).status).toBe(302)
    const shown = await support.read(done.to ?? '')
    expect(shown).toContain('The person is signed out everywhere.')
    expect(shown).toContain('Signed out everywhere')
    expect(shown).toContain(`by <bdi>${support.email}</bdi>`)
  })

  it('end one session, and revoke one token', async () => {
    const support = await operator('support')
    const target = await operator(null)
    const page = `/admin/people/${target.id}`
    const made = await service.oauth.tokens.createPersonal({
      userId: target.id,
      name: 'Backup',
      scopes: [],
    })
    const html = await support.read(page)
    expect(html).toContain('Backup')
    const [, session = ''] = /(\/end-session\?object=[^"]+)"/.exec(html) ?? []
    const [, token = ''] = /(\/revoke-token\?object=[^"]+)"/.exec(html) ?? []
    expect((await support.post(page + session)).to).toBe(`${page}?done=session-ended`)
    expect((await target.browser.get('/account')).status).toBe(302)
    expect((await support.post(page + token)).to).toBe(`${page}?done=token-revoked`)
    expect(made).toBeTruthy()
    expect(await service.oauth.tokens.listByUser(target.id)).toEqual([])
    // The session belongs to another person.
    const other = await operators.person()
    expect((await support.post(`/admin/people/${other.id}${session}`)).status).toBe(404)
  })

  it('show when tokens, passkeys and the authenticator app were last used', async () => {
    const viewer = await operator('viewer')
    const { id, email } = await operators.person()
    const { passkeys } = service.factors
    const authenticator = createSoftAuthenticator()
    const origin = service.url
    const { challenge } = await passkeys.registration({ id, email, name: null }, 's')
    const response = authenticator.create({ origin, challenge })
    await service.factors.addPasskey(id, { session: 's', response, name: 'My laptop' })
    const enrolment = service.factors.beginTotp({ id, email })
    const code = computeTotpCode(enrolment.secret, totpStepAt(service.clock.now()))
    expect(await service.factors.addTotp(id, enrolment, code)).toBe(true)
    const personal = { userId: id, scopes: [] }
    const { accessToken } = await service.oauth.tokens.createPersonal({ ...personal, name: 'Used' })
    await service.oauth.tokens.createPersonal({ ...personal, name: 'Kept' })

    service.clock.advance({ days: 1 })
    const today = service.clock.now().toISOString().slice(0, 10)
    const options = await passkeys.request(null, '')
    await passkeys.verify(null, '', authenticator.get({ origin, ...options }))
    const used = await fetch(new URL('/api/user', service.url), {
      headers: { authorization: `Bearer ${accessToken}` },
    })
    expect(used.status).toBe(200)
    const page = `/admin/people/${id}`
    const rowOf = async (text: string) => {
      const rows = (await viewer.read(page)).match(/<tr[^>]*>[\s\S]*?<\/tr>/g) ?? []
      return rows.find((row) => row.includes(text)) ?? ''
    }
    await expect.poll(() => rowOf('>Used<')).toContain(`datetime="${today}`)
    expect(await rowOf('>Kept<')).toContain('Not used yet')
    expect(await rowOf('My laptop')).toContain(`datetime="${today}`)
    expect(await rowOf('Authenticator app')).toContain('Not used yet')
  })

  it("show and remove a person's links with other providers", async () => {
    const support = await operator('support')
    const { id, email } = await operators.person()
    const page = `/admin/people/${id}`
    await service.users.identities.link(id, { provider: 'acme', subject: `of-${id}`, email })
    const html = await support.read(page)
    const [, unlink = ''] = /(\/unlink\?object=[^"]+)"/.exec(html) ?? []
    expect(await support.read(page + unlink)).toContain('Remove this link of')
    expect((await support.post(page + unlink)).to).toBe(`${page}?done=unlinked`)
    const shown = await support.read(`${page}?done=unlinked`)
    expect(shown).toContain('The link was removed.')
    expect(shown).toContain('Link with another provider removed')
    expect(await service.users.identities.list(id)).toEqual([])
    expect((await support.post(page + unlink)).status).toBe(404)
  })

  it('perform an action once, even if its form was sent twice', async () => {
    const support = await operator('support')
    const { id } = await operators.person()
    const page = `/admin/people/${id}`
    const request_key = keyIn(await support.read(`${page}/sign-out`))
    const twice = await Promise.all(
      [1, 2].map(() => support.post(`${page}/sign-out`, { request_key })),
    )
    expect(twice.map(({ to }) => to)).toEqual(Array(2).fill(`${page}?done=signed-out`))
    const entries = await operators.entries('users.signOut')
    expect(entries.filter(({ subject_id }) => subject_id === id)).toHaveLength(1)
  })

  it('require the CSRF token of the operator, and a form from this service', async () => {
    const support = await operator('support')
    const { id } = await operators.person()
    const page = `/admin/people/${id}/disable`
    expect((await support.browser.post(page, {})).status).toBe(403)
    const foreign = (await (await operator('support')).browser.csrfToken()) ?? ''
    expect((await support.browser.post(page, { csrf_token: foreign })).status).toBe(403)
    const form = { csrf_token: await support.browser.csrfToken() }
    const evil = await support.browser.post(page, form, { origin: 'https://evil.example' })
    expect(evil.status).toBe(403)
    expect((await service.users.findAccount(id))?.disabledAt).toBeNull()
  })

  it('require a sign-in within the last ten minutes for a deletion', async () => {
    const admin = await operator('admin')
    const { id } = await operators.person()
    const page = `/admin/people/${id}/delete`
    expect(await admin.read(page)).toContain('name="decision" value="go"')
    const request_key = keyIn(await admin.read(page))
    service.clock.advance({ minutes: 11 })
    const asked = await admin.read(page)
    expect(asked).toContain('This needs a sign-in of the last ten minutes.')
    expect(asked).not.toContain('name="decision" value="go"')
    const again = `/login?prompt=login&amp;return_to=${encodeURIComponent(page)}`
    expect(asked).toContain(`href="${again}"`)
    const late = await admin.post(page, { confirm: 'yes', decision: 'go', request_key })
    expect([late.status, late.text]).toEqual([403, expect.stringContaining(`href="${again}"`)])
    expect(await service.users.findAccount(id)).not.toBeNull()
    const signIn = await admin.read(again.replace('&amp;', '&'))
    expect(signIn).toContain('Sign in again')
    expect(signIn).toContain('This needs a sign-in of the last ten minutes.')
    const returned = await admin.browser.post('/login', {
      email: admin.email,
      password: PASSWORD,
      prompt: 'login',
      return_to: page,
    })
    expect(returned.headers.get('location')).toBe(page)
    expect((await admin.post(page, { confirm: 'yes', decision: 'go' })).status).toBe(200)
    expect(await service.users.findAccount(id)).toBeNull()
  })

  it('report a deletion again if its form was sent twice', async () => {
    const admin = await operator('admin')
    const { id } = await operators.person()
    const page = `/admin/people/${id}/delete`
    const form = { confirm: 'yes', request_key: keyIn(await admin.read(page)) }
    expect((await admin.post(page, form)).status).toBe(200)
    const again = await admin.post(page, form)
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('Account deleted')])
  })

  it('let an owner make a person an operator, and sign that person out', async () => {
    const owner = await operator('owner')
    const target = await operator(null)
    const page = `/admin/people/${target.id}`
    expect(await owner.read(`${page}/role`)).toContain('id="role-support"')
    const done = await owner.post(`${page}/role`, { role: 'support' })
    expect(done.to).toBe(`${page}?done=role-changed`)
    expect((await service.users.findAccount(target.id))?.role).toBe('support')
    expect((await target.browser.get('/admin')).status).toBe(302)
  })
})

describe("a person's subscriptions and invoices on the operators' pages", () => {
  it('include actions to cancel, resume and end a subscription', async () => {
    const support = await operator('support')
    const ada = await customer()
    const page = `/admin/people/${ada.id}`
    const object = `?object=${ada.subscription}`
    expect(await support.read(page)).toContain(`${page}/cancel${object}`)
    const cancelled = await support.post(`${page}/cancel${object}`, { decision: 'go' })
    expect(cancelled.to).toBe(`${page}?done=cancelled`)
    const html = await support.read(page)
    expect(html).toContain('is cancelled and ends on')
    expect(html).toContain(`action="${page}/resume${object}"`)
    expect((await support.post(`${page}/resume${object}`)).to).toBe(`${page}?done=resumed`)
    const ended = await support.post(`${page}/cancel-now${object}`, { decision: 'go' })
    expect(ended.to).toBe(`${page}?done=ended`)
    const again = await support.post(`${page}/resume${object}`)
    expect([again.status, again.text]).toEqual([
      409,
      expect.stringContaining('The current state does not allow this.'),
    ])
  })

  it('include actions to refund a part of an invoice once, and then the rest', async () => {
    const support = await operator('support')
    const ada = await customer()
    const [invoice] = await ada.billable.invoices()
    const page = `/admin/people/${ada.id}`
    const refund = `${page}/refund?object=${invoice?.id}`
    expect(await support.read(page)).toContain(refund)
    const form = await support.read(refund)
    expect(form).toContain('Leave it empty to refund the rest, $25.00.')
    for (const amount of ['nothing', '-5', '0', '1.234', '5,000,00']) {
      const wrong = await support.post(refund, {
        amount,
        currency: 'usd',
        request_key: keyIn(form),
      })
      expect([amount, wrong.status]).toEqual([amount, 422])
      expect(wrong.text).toContain(`value="${amount}"`)
    }
    const part = { amount: '5,50', currency: 'usd', request_key: keyIn(form) }
    for (const _ of [1, 2]) {
      expect((await support.post(refund, part)).to).toBe(`${page}?done=refunded`)
    }
    const rest = await support.read(refund)
    expect(rest).toContain('Leave it empty to refund the rest, $19.50.')
    const all = await support.post(refund, { amount: '', request_key: keyIn(rest) })
    expect(all.to).toBe(`${page}?done=refunded`)
    const [now] = await ada.billable.invoices()
    expect(await now?.refunded()).toMatchObject({ amount: 2500 })
  })

  it('include actions to give credit and free access', async () => {
    const support = await operator('support')
    const ada = await customer()
    const page = `/admin/people/${ada.id}`
    const form = await support.read(`${page}/credit`)
    const credit = { amount: '12.50', currency: 'usd', request_key: keyIn(form) }
    expect((await support.post(`${page}/credit`, credit)).to).toBe(`${page}?done=credited`)
    expect(await support.read(page)).toContain('$12.50')
    const eve = await operators.person()
    const comp = `/admin/people/${eve.id}/comp`
    const asked = await support.read(comp)
    const wrong = await support.post(comp, { date: 'soon', request_key: keyIn(asked) })
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('Choose a day.')])
    const now = service.sandbox?.clock.now() ?? service.clock.now()
    const until = new Date(now.getTime() + 20 * 86_400_000)
    const date = until.toISOString().slice(0, 10)
    const given = await support.post(comp, { date, request_key: keyIn(asked) })
    expect(given.to).toBe(`/admin/people/${eve.id}?done=comped`)
    expect(await support.read(`/admin/people/${eve.id}`)).toContain('Free until')
  })

  it('are left out while the provider is unavailable, and everything else is shown', async () => {
    const support = await operator('support')
    const ada = await customer()
    service.sandbox?.trouble.failNext(100, '500', 'stripe')
    const html = await support.read(`/admin/people/${ada.id}`)
    service.sandbox?.trouble.clear()
    expect(html).toContain('The payment provider does not answer.')
    expect(html).toContain('continues: Stripe charges each renewal')
  })
})
