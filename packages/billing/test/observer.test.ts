import { describe, expect, it } from 'vitest'
import type { ObservedResponse, ObservedWork } from '../src/index.ts'
import { PROVIDERS, start } from './support.ts'

type Seen = { readonly work: ObservedWork; readonly response?: ObservedResponse | null }

describe.each(PROVIDERS)('the option observe with $provider', ({ provider, card, declined }) => {
  async function startObserved() {
    const seen: Seen[] = []
    const test = await start(provider, {
      observe: async (work, run) => {
        const at = seen.push({ work }) - 1
        seen[at] = { work, response: await run() }
      },
    })
    const operations = () =>
      seen.flatMap(({ work }) => (work.kind === 'request' ? [work.operation] : []))
    return { ...test, seen, operations }
  }

  it('is called for each request to the provider, with an operation that contains no ids', async () => {
    const { user, seen, operations } = await startObserved()
    const created = await user.newSubscription('main', 'monthly').create(card)
    await created.cancel()
    await created.resume()
    await user.invoices()
    const made = provider === 'stripe' ? 'POST /v1/subscriptions' : 'POST /subscriptions'
    expect(operations()).toContain(made)
    const known = /^(GET|POST|PUT|DELETE)(\/v1)? (\/([a-z][a-z_\d]*|\{id\}))+$/
    for (const each of operations()) {
      expect(each).toMatch(known)
      expect(each).not.toContain(created.providerId)
      // A word of the provider's API that is missing in our list.
      expect(each, 'two ids in a row').not.toContain('{id}/{id}')
    }
    // A webhook may be handled at the same time, and its request is still on the way.
    const responses = seen.flatMap(({ work, response }) =>
      work.kind === 'request' && response !== undefined ? [response] : [],
    )
    expect(responses.length).toBeGreaterThan(4)
    for (const response of responses) {
      if (provider === 'braintree') expect(response).toBeNull()
      else expect(response).toMatchObject({ requestId: expect.stringMatching(/^req_\w+/) })
    }
  })

  it('is called for each webhook that is handled, with its type and id', async () => {
    const { user, billing, sandbox, seen } = await startObserved()
    await user.newSubscription('main', 'monthly').trialDays(14).create(card)
    await sandbox.clock.advance({ days: 15 })
    await sandbox.outbox.flush()
    await billing.process()
    const jobs = seen.flatMap(({ work }) => (work.kind === 'job' ? [work] : []))
    const type = provider === 'stripe' ? 'invoice.paid' : 'subscription_charged_successfully'
    expect(jobs.map(({ queue }) => queue)).toContain('webhook')
    expect(jobs.map(({ entry }) => entry)).toContainEqual(expect.stringContaining(type))
  })

  it('does not change the errors of the provider', async () => {
    const { user } = await startObserved()
    const creating = user.newSubscription('main', 'monthly').create(declined)
    await expect(creating).rejects.toMatchObject({ name: 'PaymentFailed' })
  })
})
