import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support.ts'
import { type Fields, hiddenFields, operatorWithForms } from './page-forms.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service?.stop())

const BASE = '/admin/applications'
const REDIRECT = 'https://app.example/callback'
const SECRET = /tgs_[\w-]+/

const NEW: Fields = {
  name: 'Reports',
  redirect_uris: `${REDIRECT}\n`,
  grants: ['authorization_code', 'refresh_token', 'client_credentials'],
  limit: 'these',
  scopes: ['check-status', 'place-orders'],
  resource_server: 'yes',
  confidential: 'true',
  decision: 'go',
}

const operator = (role: Parameters<typeof operatorWithForms>[1]) => operatorWithForms(service, role)

/** Creates an application on the page. */
async function createOnPage(fields: Fields = {}) {
  const admin = await operator('admin')
  const page = await admin.submit(`${BASE}/new`, { ...NEW, ...fields })
  expect(page.status).toBe(200)
  const [secret = ''] = SECRET.exec(page.html) ?? []
  const [, id = ''] = /href="\/admin\/applications\/([\w-]+)"/.exec(page.html) ?? []
  return { admin, id, secret, path: `${BASE}/${id}` }
}

/** The status of a token request with the client credentials grant. */
async function tokenStatus(id: string, secret: string): Promise<number> {
  const body = { grant_type: 'client_credentials', client_id: id, client_secret: secret }
  const response = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(body),
  })
  return response.status
}

describe("the operators' pages for applications", () => {
  it.each([
    [BASE, 'viewer'],
    [`${BASE}/new`, 'admin'],
    [`${BASE}/new-management`, 'owner'],
    ['/admin/keys', 'viewer'],
    ['/admin/keys/rotate', 'admin'],
  ] as const)('show %s only to operators with the role %s or a higher one', async (path, least) => {
    const roles = ['viewer', 'support', 'admin', 'owner'] as const
    for (const role of roles) {
      const { status } = await (await operator(role)).open(path)
      const allowed = roles.indexOf(role) >= roles.indexOf(least)
      expect([role, status]).toEqual([role, allowed ? 200 : 403])
    }
    expect((await (await operator(null)).open(path)).status).toBe(404)
    const stranger = await service.browser().get(path)
    expect(stranger.headers.get('location')).toBe(`/login?return_to=${encodeURIComponent(path)}`)
  })

  it('create an application with several grants and a limit of scopes', async () => {
    const { id, secret } = await createOnPage()
    expect(await service.oauth.clients.find(id)).toMatchObject({
      name: 'Reports',
      redirectUris: [REDIRECT],
      grantTypes: NEW.grants,
      scopes: NEW.scopes,
      resourceServer: true,
      firstParty: false,
      userId: null,
    })
    expect(await tokenStatus(id, secret)).toBe(200)
  })

  it('create a public application, which has no secret', async () => {
    const admin = await operator('admin')
    const fields = { ...NEW, grants: ['authorization_code'], confidential: 'false', limit: 'any' }
    const made = await admin.submit(`${BASE}/new`, { ...fields, resource_server: [] })
    expect(made.status).toBe(303)
    const page = await admin.open(made.location ?? '')
    expect(page.html).toContain('The application was created.')
    expect(page.html).not.toMatch(SECRET)
    expect(page.html).not.toContain('rotate-secret')
  })

  it('keep what was typed if a field is invalid, and name the problem at the field', async () => {
    const admin = await operator('admin')
    const redirect_uris = 'https://app.example/#fragment'
    const page = await admin.submit(`${BASE}/new`, { ...NEW, redirect_uris })
    expect(page.status).toBe(422)
    expect(page.html).toContain(redirect_uris)
    expect(page.html).toMatch(/id="redirect_uris-problem"[^>]*>[^<]*fragment/)
    expect(page.html).toMatch(/value="place-orders"[^>]*checked/)
  })

  it('create one application even if the form is sent twice, and show its secret once', async () => {
    const admin = await operator('admin')
    const form = await admin.open(`${BASE}/new`)
    const fields = { ...NEW, name: 'Twice' }
    const [one, other] = await Promise.all([
      admin.send(form, `${BASE}/new`, fields),
      admin.send(form, `${BASE}/new`, fields),
    ])
    expect([one.status, other.status]).toEqual([200, 200])
    expect([one, other].filter(({ html }) => SECRET.test(html))).toHaveLength(1)
    const again = await admin.send(form, `${BASE}/new`, fields)
    expect(again.html).not.toMatch(SECRET)
    expect(again.html).toContain('cannot be shown again')
    const named = (await service.oauth.clients.list()).filter(({ name }) => name === 'Twice')
    expect(named).toHaveLength(1)
  })

  it('show a new secret only in one response: in no URL, on no other page, in no log', async () => {
    const { admin, path, secret } = await createOnPage()
    const rotated = await admin.submit(`${path}/rotate-secret`, { hours: '2', decision: 'go' })
    expect(rotated.headers.get('cache-control')).toBe('no-store')
    const [next = ''] = SECRET.exec(rotated.html) ?? []
    expect(next).not.toBe('')
    expect(next).not.toBe(secret)
    for (const page of [path, BASE, `${path}/edit`, `${path}/rotate-secret`]) {
      expect((await admin.open(page)).html).not.toMatch(SECRET)
    }
    const { kysely } = service.database
    const entries = await kysely.selectFrom('audit_entries').selectAll().execute()
    const requests = await kysely.selectFrom('admin_requests').selectAll().execute()
    for (const stored of [JSON.stringify([entries, requests]), service.log()]) {
      expect(stored).not.toContain(secret)
      expect(stored).not.toContain(next)
    }
  })

  it('keep both secrets valid after a planned rotation, until the overlap ends or an operator ends it', async () => {
    const { admin, id, path, secret } = await createOnPage()
    const rotated = await admin.submit(`${path}/rotate-secret`, { hours: '2', decision: 'go' })
    const [next = ''] = SECRET.exec(rotated.html) ?? []
    expect([await tokenStatus(id, secret), await tokenStatus(id, next)]).toEqual([200, 200])
    expect((await admin.open(path)).html).toContain('Two secrets work')
    const ended = await admin.submit(`${path}/end-previous-secret`, { decision: 'go' })
    expect(ended.location).toBe(`${path}?done=ended`)
    await expect.poll(() => tokenStatus(id, secret)).toBe(401)
    expect(await tokenStatus(id, next)).toBe(200)
  })

  it('reject an overlap that is not a valid number of hours', async () => {
    const { admin, path } = await createOnPage()
    for (const hours of ['', '0', '721', 'soon']) {
      const page = await admin.submit(`${path}/rotate-secret`, { hours, decision: 'go' })
      expect([hours, page.status]).toEqual([hours, 422])
      expect(page.html).not.toMatch(SECRET)
    }
  })

  it('end a leaked secret immediately, if the operator signed in within the last ten minutes', async () => {
    const { admin, id, path, secret } = await createOnPage()
    const page = `${path}/replace-leaked-secret`
    const form = await admin.open(page)
    service.clock.advance({ minutes: 11 })
    const late = await admin.send(form, page, { decision: 'go' })
    expect(late.status).toBe(403)
    expect(await tokenStatus(id, secret)).toBe(200)
    const asked = await admin.open(page)
    expect(asked.html).toContain('prompt=login')
    expect(asked.html).not.toContain('value="go"')
    const fresh = await operator('admin')
    const replaced = await fresh.submit(page, { decision: 'go' })
    const [next = ''] = SECRET.exec(replaced.html) ?? []
    expect([await tokenStatus(id, secret), await tokenStatus(id, next)]).toEqual([401, 200])
  })

  it('change nothing if the cancel button is pressed', async () => {
    const { admin, id, path, secret } = await createOnPage()
    for (const page of ['edit', 'rotate-secret', 'replace-leaked-secret', 'delete']) {
      const stayed = await admin.submit(`${path}/${page}`, { decision: 'stay', name: 'Changed' })
      expect([page, stayed.location]).toEqual([page, path])
    }
    expect(await tokenStatus(id, secret)).toBe(200)
    expect((await service.oauth.clients.find(id))?.name).toBe('Reports')
  })

  it('delete an application after confirmation', async () => {
    const { admin, id, path, secret } = await createOnPage()
    const done = await admin.submit(`${path}/delete`, { decision: 'go' })
    expect(done.location).toBe(`${BASE}?done=deleted`)
    await expect.poll(() => tokenStatus(id, secret)).toBe(401)
    const page = await admin.open(path)
    expect(page.html).toContain('Deleted')
    expect(page.html).not.toContain(`${path}/edit`)
  })

  it('verify an application of a person, and remove the verification', async () => {
    const { id: userId } = await operator(null)
    const redirect = REDIRECT
    const { client } = await service.oauth.clients.create({ name: 'Photos', redirect, userId })
    const admin = await operator('admin')
    const path = `${BASE}/${client.id}`
    const verified = await admin.send(await admin.open(path), `${path}/verify`)
    expect(verified.location).toBe(`${path}?done=verified`)
    const page = await admin.open(path)
    expect(page.html).toContain(`/admin/people/${userId}`)
    const taken = await admin.send(page, `${path}/unverify`)
    expect(taken.location).toBe(`${path}?done=unverified`)
  })

  describe('the form that changes an application', () => {
    const typed = (fields: Fields): Fields => ({
      name: 'Reports',
      redirect_uris: REDIRECT,
      grants: NEW.grants ?? [],
      limit: 'these',
      scopes: NEW.scopes ?? [],
      resource_server: 'yes',
      decision: 'go',
      ...fields,
    })

    it('saves only the changed fields, and names them in the audit log', async () => {
      const { admin, id, path } = await createOnPage()
      const policy_uri = 'https://app.example/privacy'
      const saved = await admin.submit(`${path}/edit`, typed({ name: 'Renamed', policy_uri }))
      expect(saved.location).toBe(`${path}?done=saved`)
      const client = await service.oauth.clients.find(id)
      expect(client).toMatchObject({ name: 'Renamed', settings: { policy_uri } })
      const entries = await service.database.kysely
        .selectFrom('audit_entries')
        .selectAll()
        .where('operation', '=', 'clients.update')
        .where('subject_id', '=', id)
        .execute()
      expect(entries).toHaveLength(1)
      expect(JSON.stringify(entries[0])).toMatch(/changed.*name.*settings/)
      expect(JSON.stringify(entries[0])).not.toMatch(/redirect_uris/)
      const removed = await admin.submit(`${path}/edit`, typed({ name: 'Renamed' }))
      expect(removed.status).toBe(303)
      expect((await service.oauth.clients.find(id))?.settings).not.toHaveProperty('policy_uri')
    })

    it('does nothing if no field was changed', async () => {
      const { admin, path } = await createOnPage()
      const same = await admin.submit(`${path}/edit`, typed({}))
      expect(same.location).toBe(`${path}?done=same`)
    })

    it('shows what another operator has changed in the meantime, and keeps what was typed', async () => {
      const { admin, id, path } = await createOnPage()
      const other = await operator('admin')
      const form = await admin.open(`${path}/edit`)
      const saved = await other.submit(
        `${path}/edit`,
        typed({ name: 'By the other', scopes: ['check-status'] }),
      )
      expect(saved.status).toBe(303)
      const stale = await admin.send(form, `${path}/edit`, typed({ name: 'Mine' }))
      expect(stale.status).toBe(412)
      expect(stale.html).toContain('Another operator has changed this application')
      expect(stale.html).toMatch(/<strong>Name<\/strong> is now <bdi>By the other<\/bdi>/)
      expect(stale.html).toMatch(/<strong>Scopes<\/strong> is now <bdi>check-status<\/bdi>/)
      expect(stale.html).toMatch(/name="name" value="Mine"/)
      expect(stale.html).toMatch(/value="check-status"[^>]*checked/)
      expect(stale.html).not.toMatch(/value="place-orders"[^>]*checked/)
      expect((await service.oauth.clients.find(id))?.name).toBe('By the other')
      const fields = typed({ name: 'Mine', scopes: ['check-status'] })
      const again = await admin.send(stale, `${path}/edit`, fields)
      expect(again.location).toBe(`${path}?done=saved`)
      expect(await service.oauth.clients.find(id)).toMatchObject({
        name: 'Mine',
        scopes: ['check-status'],
      })
    })

    it('is rejected if it does not contain the version that it was filled in for', async () => {
      const { admin, id, path } = await createOnPage()
      const { version: _, ...hidden } = hiddenFields(
        (await admin.open(`${path}/edit`)).html,
        `${path}/edit`,
      )
      const page = await admin.post(`${path}/edit`, { ...hidden, ...typed({ name: 'Blind' }) })
      expect(page.status).toBe(428)
      expect((await service.oauth.clients.find(id))?.name).toBe('Reports')
    })
  })

  it.each([
    ['rotate-secret', { hours: '1' }],
    ['replace-leaked-secret', {}],
    ['end-previous-secret', {}],
    ['edit', { name: 'Stolen' }],
    ['delete', {}],
    ['verify', {}],
  ])(
    'reject %s without a CSRF token, from another site, and from a lower role',
    async (act, more) => {
      const { admin, id, path, secret } = await createOnPage()
      const fields = { ...more, decision: 'go' }
      expect((await admin.post(`${path}/${act}`, fields)).status).toBe(403)
      const csrf_token = await admin.browser.csrfToken()
      const elsewhere = await admin.browser.post(
        `${path}/${act}`,
        { ...fields, csrf_token },
        { origin: 'https://evil.example' },
      )
      expect(elsewhere.status).toBe(403)
      const support = await operator('support')
      const theirs = { ...fields, csrf_token: await support.browser.csrfToken() }
      expect((await support.post(`${path}/${act}`, theirs)).status).toBe(403)
      const shown = (await support.open(path)).html
      expect(shown).not.toContain(`${path}/`)
      expect(await tokenStatus(id, secret)).toBe(200)
      expect((await service.oauth.clients.find(id))?.name).toBe('Reports')
    },
  )

  it('let only owners register and change clients of the management API', async () => {
    const owner = await operator('owner')
    const fields = { name: 'Support desk', scopes: ['admin.users:read'], decision: 'go' }
    const made = await owner.submit(`${BASE}/new-management`, fields)
    expect(made.status).toBe(200)
    expect(made.html).toMatch(SECRET)
    const [, id = ''] = /href="\/admin\/applications\/([\w-]+)"/.exec(made.html) ?? []
    const path = `${BASE}/${id}`
    expect((await owner.open(path)).html).toContain(`${path}/edit`)
    const admin = await operator('admin')
    const page = await admin.open(path)
    expect(page.html).toContain('Management API')
    expect(page.html).not.toContain(`${path}/`)
    expect((await admin.submit(`${path}/rotate-secret`, { hours: '1' })).status).toBe(403)
  })

  it('require a choice of scopes for a client of the management API', async () => {
    const owner = await operator('owner')
    const page = await owner.submit(`${BASE}/new-management`, { name: 'None', decision: 'go' })
    expect(page.status).toBe(422)
    expect(page.html).toMatch(/name="name" value="None"/)
  })

  it('find applications by name, and list all of them page by page', async () => {
    for (let count = 0; count < 27; count++) {
      await service.oauth.clients.create({ name: `Paged ${count}`, grants: ['client_credentials'] })
    }
    const viewer = await operator('viewer')
    const first = await viewer.open(`${BASE}?search=Paged`)
    expect(first.html.match(/<bdi>Paged \d+<\/bdi>/g)).toHaveLength(25)
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(first.html) ?? []
    const second = await viewer.open(next.replaceAll('&amp;', '&'))
    expect(second.html.match(/<bdi>Paged \d+<\/bdi>/g)).toHaveLength(2)
    const forged = await viewer.open(`${BASE}?search=Paged&after=forged.cursor`)
    expect(forged.status).toBe(400)
    const none = await viewer.open(`${BASE}?search=nobody`)
    expect(none.html).toContain('No application has this name.')
  })

  it('show an error if an application does not exist', async () => {
    const admin = await operator('admin')
    for (const page of ['', '/edit', '/delete', '/rotate-secret']) {
      expect((await admin.open(`${BASE}/nothing${page}`)).status).toBe(404)
    }
  })
})

describe("the operators' pages for keys", () => {
  it('create a key that signs later, or one that signs immediately', async () => {
    const admin = await operator('admin')
    const before = (await service.oauth.keys.list()).length
    const later = await admin.submit('/admin/keys/rotate', { when: 'later', decision: 'go' })
    expect(later.location).toBe('/admin/keys?done=created')
    expect((await admin.open('/admin/keys')).html).toContain('Published, signs later')
    await admin.submit('/admin/keys/rotate', { when: 'now', decision: 'go' })
    expect(await service.oauth.keys.list()).toHaveLength(before + 2)
  })

  it('let only owners revoke a key, after confirmation', async () => {
    const { kid } = await service.oauth.keys.rotate({ immediately: true })
    const path = `/admin/keys/${kid}/revoke`
    const admin = await operator('admin')
    expect((await admin.open('/admin/keys')).html).not.toContain('/revoke')
    expect((await admin.open(path)).status).toBe(403)
    const owner = await operator('owner')
    expect((await owner.open('/admin/keys')).html).toContain(path)
    const done = await owner.submit(path, { decision: 'go' })
    expect(done.location).toBe('/admin/keys?done=revoked')
    expect((await service.oauth.keys.list()).map((key) => key.kid)).not.toContain(kid)
  })
})
