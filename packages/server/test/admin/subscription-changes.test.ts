import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'
import { operatorWithForms } from './page-forms.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
let accounts: ReturnType<typeof createAccountHelpers>
beforeAll(async () => {
  service = await startTestService()
  operators = createOperatorHelpers(service)
  accounts = createAccountHelpers(service)
})
afterAll(() => service?.stop())

/** A person with a subscription to the plan `pro`, and its path in the management API. */
async function subscriber(provider: 'stripe' | 'braintree' = 'stripe') {
  const person = await accounts.customer(provider)
  const payer = await service.billing.user(Number(person.id))
  const { id } = await payer.subscription('main')
  return { ...person, subscription: id, path: `/users/${person.id}/subscriptions/${id}` }
}

/** A subscription as the provider has it. */
async function chargedFor(id: string) {
  const payer = await service.billing.user(Number(id))
  await payer.sync()
  return payer.subscription('main')
}

const conflict = { status: 409, body: { type: expect.stringContaining('#conflict') } }

describe('planned plan changes in the management API', () => {
  it('change the price when the next period begins, and charge nothing before', async () => {
    const support = await operators.operator('support')
    const { id, path } = await subscriber()
    const body = { price: 'monthly' }
    const planned = await support.call('POST', `${path}/plan-change`, { body })
    expect(planned).toMatchObject({
      status: 200,
      body: { plan: 'pro', planned: { plan: 'monthly', at: expect.any(String) } },
    })
    const again = await support.call('POST', `${path}/plan-change`, { body })
    expect(again.body).toEqual(planned.body)
    expect((await operators.entries('billing.planChange')).slice(-4)).toMatchObject([
      { outcome: 'started', subject_kind: 'subscription', owner_id: id },
      { outcome: 'done' },
      { outcome: 'started' },
      { outcome: 'done' },
    ])
    await service.advance({ months: 1, days: 1 })
    const now = await chargedFor(id)
    expect([now.providerPlan, now.plannedPrice]).toEqual(['monthly', null])
    const invoices = await (await service.billing.user(Number(id))).invoices()
    expect(invoices.map(({ data }) => data.total).sort()).toEqual([1000, 2500])
  })

  it('can set another quantity, and have no effect if they are cancelled', async () => {
    const support = await operators.operator('support')
    const { id, path } = await subscriber()
    const body = { price: 'yearly', quantity: 3 }
    await support.call('POST', `${path}/plan-change`, { body })
    const swap = await (await chargedFor(id)).plannedSwap()
    expect(swap?.items).toMatchObject([{ price: 'yearly', quantity: 3 }])
    for (let times = 0; times < 2; times++) {
      const kept = await support.call('POST', `${path}/cancel-planned-change`)
      expect(kept).toMatchObject({ status: 200, body: { plan: 'pro', planned: null } })
    }
    await service.advance({ months: 1, days: 1 })
    expect((await chargedFor(id)).providerPlan).toBe('pro')
  })

  it('are refused for unknown prices, for cancelled subscriptions, to viewers, and for other people', async () => {
    const [viewer, support] = [
      await operators.operator('viewer'),
      await operators.operator('support'),
    ]
    const [{ id, path }, other] = [await subscriber(), await subscriber()]
    const plan = (price: unknown, to = path) =>
      support.call('POST', `${to}/plan-change`, { body: { price } })
    expect((await plan('no-such-price')).status).toBe(422)
    expect((await plan('')).status).toBe(422)
    const foreign = `/users/${other.id}/subscriptions/${path.split('/').at(-1)}`
    expect((await plan('monthly', foreign)).status).toBe(404)
    const request = { body: { price: 'monthly' } }
    expect((await viewer.call('POST', `${path}/plan-change`, request)).status).toBe(403)
    await support.call('POST', `${path}/cancel`)
    expect((await plan('monthly')).status).toBe(422)
    expect((await chargedFor(id)).plannedPrice).toBeNull()
  })

  it('are refused with a reason at Braintree, where changes cannot be planned', async () => {
    const support = await operators.operator('support')
    const { path } = await subscriber('braintree')
    const refused = await support.call('POST', `${path}/plan-change`, {
      body: { price: 'monthly' },
    })
    expect(refused).toMatchObject({ ...conflict, body: { detail: 'braintree has no schedules' } })
  })

  it('are stored once if the provider fails halfway and the request is repeated', async () => {
    const support = await operators.operator('support')
    const { id, path } = await subscriber()
    const request = { body: { price: 'monthly' }, headers: { 'idempotency-key': 'plan-later' } }
    service.sandbox?.trouble.failNext(100, '500', 'stripe')
    const away = await support.call('POST', `${path}/plan-change`, request)
    service.sandbox?.trouble.clear()
    expect(away.status).toBe(502)
    expect((await operators.entries('billing.planChange')).at(-1)?.outcome).toBe('failed')
    const planned = await support.call('POST', `${path}/plan-change`, request)
    expect(planned.body.planned).toMatchObject({ plan: 'monthly' })
    expect((await chargedFor(id)).plannedPrice).toBe('monthly')
  })
})

describe('pauses of subscriptions in the management API', () => {
  it('stop payments until a date, can be changed by a second request, and can end early', async () => {
    const support = await operators.operator('support')
    const { id, path } = await subscriber()
    const now = service.sandbox?.clock.now() ?? new Date()
    const until = new Date(Math.ceil(now.getTime() / 1000) * 1000 + 40 * 86_400_000).toISOString()
    expect((await support.call('POST', `${path}/pause`, { body: {} })).body.states).toContain(
      'paused',
    )
    const paused = await support.call('POST', `${path}/pause`, { body: { until } })
    expect(paused).toMatchObject({ status: 200, body: { paused_at: expect.any(String) } })
    expect(await (await chargedFor(id)).pausedUntil()).toEqual(new Date(until))
    await service.advance({ months: 1, days: 1 })
    const paid = async () => (await (await service.billing.user(Number(id))).invoices()).length
    expect(await paid()).toBe(1)
    for (let times = 0; times < 2; times++) {
      const { body } = await support.call('POST', `${path}/unpause`)
      expect(body).toMatchObject({ paused_at: null })
    }
    await service.advance({ months: 1 })
    expect(await paid()).toBe(2)
  })

  it('are refused in the past, to viewers, and at Braintree', async () => {
    const [viewer, support] = [
      await operators.operator('viewer'),
      await operators.operator('support'),
    ]
    const { path } = await subscriber()
    const past = { body: { until: '2020-01-01T00:00:00Z' } }
    expect((await support.call('POST', `${path}/pause`, past)).status).toBe(422)
    const odd = { body: { bills: 'frame' } }
    expect((await support.call('POST', `${path}/pause`, odd)).body.errors).toHaveProperty('bills')
    expect((await viewer.call('POST', `${path}/pause`, { body: {} })).status).toBe(403)
    const other = await subscriber('braintree')
    expect(await support.call('POST', `${other.path}/pause`, { body: {} })).toMatchObject(conflict)
  })
})

describe("the operators' pages about a subscription", () => {
  it('plan a change, show it, and cancel it', async () => {
    const support = await operatorWithForms(service, 'support')
    const { id, subscription } = await subscriber()
    const page = `/admin/people/${id}`
    const act = `${page}/plan-change?object=${subscription}`
    expect((await support.open(page)).html).toContain(act)
    const unchosen = await support.submit(act)
    expect([unchosen.status, unchosen.html]).toEqual([
      422,
      expect.stringContaining('Choose a plan.'),
    ])
    const done = await support.submit(act, { plan: '1 monthly' })
    expect(done.location).toBe(`${page}?done=change-planned`)
    const shown = await support.open(done.location ?? '')
    expect(shown.html).toMatch(/Changes to <bdi>Monthly<\/bdi> on/)
    const cancel = `${page}/cancel-planned-change?object=${subscription}`
    expect((await support.send(shown, cancel)).location).toBe(
      `${page}?done=planned-change-cancelled`,
    )
    expect((await chargedFor(id)).plannedPrice).toBeNull()
  })

  it('pause and continue the payments', async () => {
    const support = await operatorWithForms(service, 'support')
    const { id, subscription } = await subscriber()
    const page = `/admin/people/${id}`
    const act = `${page}/pause?object=${subscription}`
    const wrong = await support.submit(act, { date: '2020-01-01' })
    expect([wrong.status, wrong.html]).toEqual([422, expect.stringContaining('role="alert"')])
    const done = await support.submit(act, { date: '', bills: 'keep_as_draft' })
    expect(done.location).toBe(`${page}?done=paused`)
    const shown = await support.open(page)
    expect(shown.html).toContain('Paused')
    expect(shown.html).not.toContain(act)
    const ended = await support.send(shown, `${page}/unpause?object=${subscription}`)
    expect(ended.location).toBe(`${page}?done=unpaused`)
    expect((await chargedFor(id)).paused()).toBe(false)
  })

  it('offer nothing that Braintree does not support or a viewer may not do', async () => {
    const support = await operatorWithForms(service, 'support')
    const viewer = await operatorWithForms(service, 'viewer')
    const [stripe, braintree] = [await subscriber(), await subscriber('braintree')]
    for (const act of ['plan-change', 'pause', 'coupon']) {
      const links = (html: string) => html.includes(`/${act}?object=`)
      expect(links((await support.open(`/admin/people/${stripe.id}`)).html), act).toBe(true)
      expect(links((await support.open(`/admin/people/${braintree.id}`)).html), act).toBe(false)
      expect(links((await viewer.open(`/admin/people/${stripe.id}`)).html), act).toBe(false)
    }
  })
})
