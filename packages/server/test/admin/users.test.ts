import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
beforeAll(async () => {
  service = await startTestService()
  operators = createOperatorHelpers(service)
})
afterAll(() => service?.stop())

describe('the management API for people', () => {
  it('lists people page by page, newest first', async () => {
    const viewer = await operators.operator('viewer')
    const [one, two] = [await operators.person(), await operators.person()]
    const first = await viewer.call('GET', '/users?limit=1')
    expect(first.status).toBe(200)
    expect(first.body.data).toEqual([expect.objectContaining({ id: two.id, email: two.email })])
    const second = await viewer.call('GET', `/users?limit=1&after=${first.body.next}`)
    expect(second.body.data).toEqual([expect.objectContaining({ id: one.id })])
    const found = await viewer.call('GET', `/users?email=${encodeURIComponent(one.email)}`)
    expect(found.body).toEqual({ data: [expect.objectContaining({ id: one.id })], next: null })
  })

  it('disables an account, signs the person out, and records both the intent and the outcome', async () => {
    const support = await operators.operator('support')
    const target = await operators.operator(null)
    const done = await support.call('POST', `/users/${target.id}/disable`, { body: {} })
    expect(done).toMatchObject({ status: 200, body: { id: target.id, state: 'disabled' } })
    expect((await target.browser.get('/account')).status).toBe(302)
    const rows = await operators.entries('users.disable')
    expect(rows.map(({ outcome }) => outcome)).toEqual(['started', 'done'])
    expect(rows[1]).toMatchObject({
      actor_kind: 'operator',
      actor_id: support.id,
      door: 'api',
      subject_id: target.id,
      intent_id: rows[0]?.id,
    })
    const enabled = await support.call('POST', `/users/${target.id}/enable`)
    expect(enabled).toMatchObject({ status: 200, body: { state: 'enabled', disabled_at: null } })
  })

  it('refuses to let a support person delete an account, and records the attempt', async () => {
    const support = await operators.operator('support')
    const target = await operators.person()
    const refused = await support.call('POST', `/users/${target.id}/delete`, { body: {} })
    expect(refused).toMatchObject({
      status: 403,
      body: { type: `${service.url}/admin/v1/problems#forbidden`, title: expect.any(String) },
    })
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    const rows = await operators.entries('users.delete')
    expect(rows).toMatchObject([{ outcome: 'refused', actor_id: support.id }])
  })

  it('reports unknown and invalid fields', async () => {
    const support = await operators.operator('support')
    const target = await operators.person()
    const wrong = await support.call('POST', `/users/${target.id}/disable`, {
      body: { subscription: 'someday', role: 'owner' },
    })
    expect(wrong).toMatchObject({
      status: 422,
      body: { errors: { subscription: [expect.any(String)], role: ['Unknown field.'] } },
    })
  })

  it.each([
    ['a person without a role', 403, async () => (await operators.operator(null)).call],
    ['a stranger', 401, async () => operators.with({})],
    ['an invalid token', 401, async () => operators.with({ authorization: 'Bearer nonsense' })],
  ])('refuses %s with status %i', async (_, status, create) => {
    const call = await create()
    expect((await call('GET', '/users')).status).toBe(status)
  })

  it('does not let an operator disable their own account, or demote the last owner', async () => {
    const owner = await operators.operator('owner')
    const own = await owner.call('POST', `/users/${owner.id}/disable`, { body: {} })
    expect(own).toMatchObject({ status: 409 })
  })

  it('performs a request with the same idempotency key once', async () => {
    const support = await operators.operator('support')
    const target = await operators.person()
    const request = { headers: { 'idempotency-key': 'sign-out-1' } }
    const path = `/users/${target.id}/sign-out`
    const before = (await operators.entries('users.signOut')).length
    expect((await support.call('POST', path, request)).status).toBe(204)
    expect((await support.call('POST', path, request)).status).toBe(204)
    expect(await operators.entries('users.signOut')).toHaveLength(before + 1)
    const other = await support.call('POST', `/users/${support.id}/sign-out`, request)
    expect(other).toMatchObject({
      status: 422,
      body: { type: expect.stringContaining('#key-reused') },
    })
  })

  it('serves an OpenAPI document with every operation', async () => {
    const { body } = await operators.with({})('GET', '/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    expect(Object.keys(body.paths)).toContain('/users/{id}/disable')
  })
})
