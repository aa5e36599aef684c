import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers, PROVIDERS } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
let accounts: ReturnType<typeof createAccountHelpers>
beforeAll(async () => {
  service = await startTestService()
  operators = createOperatorHelpers(service)
  accounts = createAccountHelpers(service)
})
afterAll(() => service?.stop())

const key = (value: string) => ({ 'idempotency-key': value })
const subscriptionOf = async (id: string) =>
  (await (await service.billing.user(Number(id))).subscriptions())[0]?.id ?? 0
const inDays = (days: number) =>
  new Date((service.sandbox?.clock.now() ?? new Date()).getTime() + days * 86_400_000).toISOString()

describe('the management API for subscriptions', () => {
  it('lists the subscriptions of all people page by page, newest first, and by state', async () => {
    const viewer = await operators.operator('viewer')
    const [one, two] = [await accounts.customer('stripe'), await accounts.customer('braintree')]
    const first = await viewer.call('GET', '/subscriptions?limit=1')
    expect(first.body.data).toMatchObject([
      { user_id: two.id, provider: 'braintree', plan: 'pro', quantity: 1, planned: null },
    ])
    const rest = await viewer.call('GET', `/subscriptions?limit=1&after=${first.body.next}`)
    expect(rest.body.data).toMatchObject([{ user_id: one.id, states: ['active', 'recurring'] }])
    const stale = await viewer.call(
      'GET',
      `/subscriptions?state=ended&limit=1&after=${first.body.next}`,
    )
    expect(stale).toMatchObject({
      status: 400,
      body: { type: expect.stringContaining('#invalid-cursor') },
    })
    const ended = await viewer.call('GET', '/subscriptions?state=ended&provider=stripe')
    expect(ended.body).toEqual({ data: [], next: null })
    expect((await viewer.call('GET', '/subscriptions?state=Active')).status).toBe(422)
  })

  it.each(PROVIDERS)('cancels, resumes and ends a subscription at %s', async (provider) => {
    const support = await operators.operator('support')
    const { id } = await accounts.customer(provider)
    const path = `/users/${id}/subscriptions/${await subscriptionOf(id)}`
    const cancelled = await support.call('POST', `${path}/cancel`)
    expect(cancelled).toMatchObject({
      status: 200,
      body: { states: ['active', 'cancelled', 'on_grace_period'], ends_at: expect.any(String) },
    })
    const entries = await operators.entries('billing.cancel')
    expect(entries.slice(-2)).toMatchObject([
      { outcome: 'started', subject_kind: 'subscription', owner_id: id },
      { outcome: 'done', intent_id: entries.at(-2)?.id },
    ])
    expect((await support.call('POST', `${path}/resume`)).body).toMatchObject({ ends_at: null })
    const [now] = (await support.call('GET', `/users/${id}/subscriptions`)).body.data
    const over = await support.call('POST', `/users/${id}/subscriptions/${now.id}/cancel-now`)
    expect(over.body.states).toContain('ended')
    const late = await support.call('POST', `/users/${id}/subscriptions/${now.id}/resume`)
    expect(late).toMatchObject({
      status: 409,
      body: { type: expect.stringContaining('#conflict') },
    })
  })

  it('requires a recent sign-in for an action that cannot be undone, but not for a cancellation (threat N7)', async () => {
    const support = await operators.operator('support')
    const { id } = await accounts.customer('stripe')
    const path = `/users/${id}/subscriptions/${await subscriptionOf(id)}`
    service.clock.advance({ seconds: 601 })
    const refused = await support.call('POST', `${path}/cancel-now`)
    expect(refused).toMatchObject({
      status: 403,
      body: { type: expect.stringContaining('#fresh-sign-in-required') },
    })
    expect((await support.call('POST', `${path}/cancel`)).status).toBe(200)
  })

  it('does not let a viewer change anything', async () => {
    const viewer = await operators.operator('viewer')
    const { id } = await accounts.customer('stripe')
    const path = `/users/${id}/subscriptions/${await subscriptionOf(id)}`
    for (const verb of ['cancel', 'cancel-now', 'resume', 'remove-discounts']) {
      expect((await viewer.call('POST', `${path}/${verb}`)).status, verb).toBe(403)
    }
    expect((await viewer.call('GET', `/users/${id}/subscriptions`)).body.data).toMatchObject([
      { ends_at: null },
    ])
    const refused = await operators.entries('billing.cancelNow')
    expect(refused.at(-1)).toMatchObject({ outcome: 'refused', actor_id: viewer.id })
  })

  it('responds to a subscription of another person as if it did not exist', async () => {
    const support = await operators.operator('support')
    const [mine, other] = [await accounts.customer('stripe'), await accounts.customer('stripe')]
    const theirs = await subscriptionOf(other.id)
    const foreign = await support.call('POST', `/users/${mine.id}/subscriptions/${theirs}/cancel`)
    const missing = await support.call('POST', `/users/${mine.id}/subscriptions/999999/cancel`)
    expect([foreign.status, missing.status]).toEqual([404, 404])
    expect(foreign.body.detail.replace(String(theirs), '999999')).toBe(missing.body.detail)
    expect((await support.call('GET', '/users/999999/subscriptions')).status).toBe(404)
    const odd = await support.call('POST', `/users/${mine.id}/subscriptions/1.5/cancel`)
    expect(odd.status).toBe(422)
  })

  it('does not let operators change subscriptions of operators with a higher role, or their own', async () => {
    const support = await operators.operator('support')
    const admin = await operators.operator('admin')
    const until = inDays(30)
    const request = (name: string) => ({ body: { until }, headers: key(name) })
    const up = await support.call('POST', `/users/${admin.id}/comp`, request('up'))
    const self = await support.call('POST', `/users/${support.id}/comp`, request('self'))
    expect([up.status, self.status]).toEqual([403, 409])
    expect((await admin.call('POST', `/users/${support.id}/comp`, request('down'))).status).toBe(
      200,
    )
  })

  it('extends a running trial at Stripe, and explains why this is impossible at Braintree', async () => {
    const support = await operators.operator('support')
    const stripe = await accounts.customer('stripe', [])
    const payer = await service.billing.user(Number(stripe.id))
    await payer.newSubscription('main', 'pro').trialDays(7).create('pm_card_visa')
    const path = `/users/${stripe.id}/subscriptions/${await subscriptionOf(stripe.id)}/extend-trial`
    const to = inDays(20)
    const extended = await support.call('POST', path, { body: { trial_ends_at: to } })
    expect(Date.parse(extended.body.trial_ends_at)).toBe(Math.floor(Date.parse(to) / 1000) * 1000)
    const past = await support.call('POST', path, { body: { trial_ends_at: inDays(-1) } })
    expect(past.status).toBe(422)
    const other = await accounts.customer('braintree')
    const unable = await support.call(
      'POST',
      `/users/${other.id}/subscriptions/${await subscriptionOf(other.id)}/extend-trial`,
      { body: { trial_ends_at: to } },
    )
    expect(unable).toMatchObject({ status: 409, body: { detail: 'braintree has no trials' } })
  })

  it('gives access without payment until a date, once per idempotency key', async () => {
    const support = await operators.operator('support')
    const person = await operators.person()
    const until = inDays(30)
    const path = `/users/${person.id}/comp`
    const bare = await support.call('POST', path, { body: { until } })
    expect(bare).toMatchObject({
      status: 428,
      body: { type: expect.stringContaining('#precondition-required') },
    })
    const done = await support.call('POST', path, { body: { until }, headers: key('comp') })
    expect(done).toMatchObject({ status: 200, body: { user_id: person.id, until } })
    const customer = await support.call('GET', `/users/${person.id}/customer`)
    expect(customer.body).toEqual({
      provider: null,
      customer: null,
      balance: null,
      free_until: until,
      tax_exempt: null,
      address: null,
      supports: expect.any(Array),
    })
    expect(await (await service.billing.user(Number(person.id))).onGenericTrial()).toBe(true)
    const before = (await operators.entries('billing.comp')).length
    await support.call('POST', path, { body: { until }, headers: key('comp') })
    expect(await operators.entries('billing.comp')).toHaveLength(before)
    const late = await support.call('POST', path, {
      body: { until: inDays(5000) },
      headers: key('late'),
    })
    expect(late).toMatchObject({ status: 422, body: { errors: { until: [expect.any(String)] } } })
    const payer = await accounts.customer('stripe')
    const paying = await support.call('POST', `/users/${payer.id}/comp`, {
      body: { until },
      headers: key('paying'),
    })
    expect(paying.status).toBe(409)
  })

  it('applies a coupon that exists, or a promotion code that the person can use', async () => {
    const support = await operators.operator('support')
    const { id } = await accounts.customer('stripe')
    const path = `/users/${id}/subscriptions/${await subscriptionOf(id)}`
    const { body } = await support.call('GET', '/coupons?provider=stripe')
    const coupon = body.data[0].id
    expect((await support.call('POST', `${path}/coupon`, { body: { coupon } })).status).toBe(200)
    const wrong = await support.call('POST', `${path}/coupon`, { body: { coupon: 'NOPE' } })
    expect(wrong.status).toBe(422)
    expect((await support.call('POST', `${path}/remove-discounts`)).status).toBe(200)
    const use = (code: string) => support.call('POST', `${path}/promotion-code`, { body: { code } })
    expect((await use(' spring ')).status).toBe(200)
    const payer = await service.billing.user(Number(id))
    const [discount] = await (await payer.subscription('main')).discounts()
    expect(discount?.name).toBe('Spring')
    for (let times = 0; times < 10; times++) expect((await use('AUTUMN')).status).toBe(422)
    expect(await use('AUTUMN')).toMatchObject({ status: 429 })
    const other = await accounts.customer('braintree')
    const at = `/users/${other.id}/subscriptions/${await subscriptionOf(other.id)}`
    const refused = await support.call('POST', `${at}/promotion-code`, { body: { code: 'SPRING' } })
    expect(refused.status).toBe(409)
  })

  it('records the intent and the failure while the provider is unavailable, and succeeds afterwards', async () => {
    const support = await operators.operator('support')
    const { id } = await accounts.customer('stripe')
    const path = `/users/${id}/subscriptions/${await subscriptionOf(id)}/cancel`
    service.sandbox?.trouble.failNext(100, '500', 'stripe')
    const request = { headers: key('cancel-later') }
    const away = await support.call('POST', path, request)
    service.sandbox?.trouble.clear()
    expect(away).toMatchObject({
      status: 502,
      body: { type: expect.stringContaining('#provider-unavailable') },
    })
    const entries = await operators.entries('billing.cancel')
    expect(entries.slice(-2)).toMatchObject([
      { outcome: 'started', actor_id: support.id },
      { outcome: 'failed', intent_id: entries.at(-2)?.id },
    ])
    expect((await support.call('POST', path, request)).body.states).toContain('cancelled')
    expect((await operators.entries('billing.cancel')).at(-1)?.outcome).toBe('done')
  })

  it('restores the database rows of a person from the data of the provider', async () => {
    const support = await operators.operator('support')
    const { id, customerId } = await accounts.customer('stripe')
    const [at] = service.sandbox?.stripe.subscriptions(customerId) ?? []
    await service.database.kysely
      .updateTable('subscriptions')
      .set({ quantity: 9 })
      .where('provider_id', '=', String(at?.id))
      .execute()
    const synced = await support.call('POST', `/users/${id}/sync`)
    expect(synced.body.data).toMatchObject([{ quantity: 1 }])
  })
})
