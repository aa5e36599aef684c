import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAddress, PASSWORD } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

const NEW_PASSWORD = 'new horse battery'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
beforeAll(async () => {
  service = await startTestService()
  operators = createOperatorHelpers(service)
})
afterAll(() => service.stop())

const canSignIn = async (email: string, password: string) =>
  (await service.browser().signIn(email, password)).status === 303

/** Everything that the management API stores about requests. */
async function stored(): Promise<string> {
  const { kysely } = service.database
  const tables = ['audit_entries', 'audit_personal', 'admin_requests'] as const
  const rows = await Promise.all(
    tables.map((name) => kysely.selectFrom(name).selectAll().execute()),
  )
  return JSON.stringify(rows)
}

describe('POST /admin/v1/users', () => {
  it('creates an account without a role, and the person can sign in', async () => {
    const admin = await operators.operator('admin')
    const email = newAddress('ada')
    const body = { email, password: PASSWORD, name: 'Ada' }
    const created = await admin.call('POST', '/users', { body })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ email, name: 'Ada', role: null, disabled_at: null })
    expect(await canSignIn(email, PASSWORD)).toBe(true)
    const [entry] = (await operators.entries('users.create')).slice(-1)
    expect(entry).toMatchObject({
      outcome: 'done',
      actor_id: admin.id,
      subject_id: created.body.id,
      owner_id: created.body.id,
    })
  })

  it('creates one account for two requests with the same idempotency key', async () => {
    const admin = await operators.operator('admin')
    const body = { email: newAddress('twice'), password: PASSWORD }
    const headers = { 'idempotency-key': 'create-once' }
    const first = await admin.call('POST', '/users', { body, headers })
    const second = await admin.call('POST', '/users', { body, headers })
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body])
    const other = { ...body, password: NEW_PASSWORD }
    const reused = await admin.call('POST', '/users', { body: other, headers })
    expect([reused.status, reused.body.type]).toEqual([422, expect.stringMatching(/key-reused$/)])
  })

  it('stores neither the password nor a hash from which it could be guessed', async () => {
    const admin = await operators.operator('admin')
    const body = { email: newAddress('grace'), password: NEW_PASSWORD }
    const headers = { 'idempotency-key': 'no-password' }
    expect((await admin.call('POST', '/users', { body, headers })).status).toBe(201)
    const request = JSON.stringify(['users.create', { ...body, name: null }])
    const guess = createHash('sha256').update(request).digest('base64url')
    const all = await stored()
    expect(all).not.toContain(NEW_PASSWORD)
    expect(all).not.toContain(guess)
  })

  it.each([
    [{ email: 'demo', password: PASSWORD }, 'email'],
    [{ email: 'demo@example.com', password: PASSWORD }, 'email'],
    [{ email: 'new@example.com', password: 'short' }, 'password'],
    [{ email: 'new@example.com', password: PASSWORD, role: 'owner' }, 'role'],
    [{ email: 'new@example.com' }, 'password'],
  ])('rejects %j and names the invalid field', async (body, field) => {
    const admin = await operators.operator('admin')
    const { status, body: problem } = await admin.call('POST', '/users', { body })
    expect([status, Object.keys(problem.errors)]).toEqual([422, [field]])
  })

  it('requires the role admin', async () => {
    const support = await operators.operator('support')
    const body = { email: newAddress('eve'), password: PASSWORD }
    expect((await support.call('POST', '/users', { body })).status).toBe(403)
  })
})

describe('PUT /admin/v1/users/{id}/password', () => {
  it('sets a new password, and ends the sessions of the person', async () => {
    const owner = await operators.operator('owner')
    const { id, email } = await operators.person()
    const browser = service.browser()
    await browser.signIn(email, PASSWORD)
    const path = `/users/${id}/password`
    const changed = await owner.call('PUT', path, { body: { password: NEW_PASSWORD } })
    expect([changed.status, changed.body.id]).toEqual([200, id])
    expect((await browser.get('/account')).status).toBe(302)
    expect(await canSignIn(email, PASSWORD)).toBe(false)
    expect(await canSignIn(email, NEW_PASSWORD)).toBe(true)
    expect(await stored()).not.toContain(NEW_PASSWORD)
  })

  it('is allowed only to owners who signed in recently, and not for their own account', async () => {
    const admin = await operators.operator('admin')
    const owner = await operators.operator('owner')
    const { id, email } = await operators.person()
    const request = { body: { password: NEW_PASSWORD } }
    expect((await admin.call('PUT', `/users/${id}/password`, request)).status).toBe(403)
    expect((await owner.call('PUT', `/users/${owner.id}/password`, request)).status).toBe(409)
    service.clock.advance({ minutes: 11 })
    const stale = await owner.call('PUT', `/users/${id}/password`, request)
    expect([stale.status, stale.body.type]).toEqual([
      403,
      expect.stringMatching(/fresh-sign-in-required$/),
    ])
    expect(await canSignIn(email, PASSWORD)).toBe(true)
  })
})

describe('POST /admin/v1/keys/reseal', () => {
  it('encrypts nothing again if everything is encrypted with the present secret, and is allowed only to owners', async () => {
    const owner = await operators.operator('owner')
    const { status, body } = await owner.call('POST', '/keys/reseal', { body: {} })
    expect([status, body]).toEqual([200, { resealed: 0 }])
    const admin = await operators.operator('admin')
    expect((await admin.call('POST', '/keys/reseal', { body: {} })).status).toBe(403)
  })
})
