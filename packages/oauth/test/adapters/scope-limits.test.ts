import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dpop, type ScopeLimiter, TemporarilyUnavailable } from '../../src/index.ts'
import { actingAs, actingAsClient } from '../../src/testing/index.ts'
import { makeProof, newHolder, requestBoundTokens } from '../dpop/support.ts'
import { Plan, PROBLEM, withholding } from '../scope-limits/support.ts'
import { createClient } from '../support.ts'
import { openPage } from './credentials.ts'
import { type App, frameworks } from './frameworks.ts'

const BOTH = ['place-orders', 'check-status']

describe.each(frameworks)('scope limits (threat G10) in $name', (framework) => {
  let app: App
  let remove = () => {}
  beforeAll(async () => {
    // With both, every other refusal of the guard has a challenge with further parameters.
    app = await framework.start({
      features: [dpop()],
      resources: { 'https://other.example.com': {} },
    })
  })
  beforeEach(() => {
    app.reached.length = 0
  })
  afterEach(() => remove())
  afterAll(() => app.close())

  const limit = (limiter: ScopeLimiter) => {
    remove = app.oauth.limitScopes(limiter)
  }
  const headersOf = (...scopes: string[]) => actingAs(app.oauth, { id: 'ada' }, scopes)

  async function expectRefusal(reply: Response, ...scopes: string[]): Promise<void> {
    expect(reply.status).toBe(402)
    expect(reply.headers.get('content-type')).toContain(PROBLEM) // Fastify adds the charset
    expect(reply.headers.get('www-authenticate')).toBeNull()
    expect(await reply.json()).toEqual({ title: 'Not in your plan', scopes })
    expect(app.reached).toEqual([])
  }

  it("make scopes() send the limiter's response, without a challenge, if a required scope is withheld", async () => {
    const headers = await headersOf(...BOTH)
    expect((await app.fetch('/orders', { headers })).status).toBe(200)
    app.reached.length = 0
    limit(new Plan('check-status'))
    await expectRefusal(await app.fetch('/orders', { headers }), 'check-status')
  })

  it('make scopes() respond with 403 and a challenge if the token itself lacks a scope', async () => {
    limit(new Plan(...BOTH))
    const reply = await app.fetch('/orders', { headers: await headersOf('place-orders') })
    expect(reply.status).toBe(403)
    expect(reply.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
    expect(app.reached).toEqual([])
  })

  it("let scope() pass if one of its scopes is not withheld; otherwise it sends the limiter's response", async () => {
    const headers = await headersOf(...BOTH)
    limit(new Plan('check-status'))
    expect((await app.fetch('/status', { headers })).status).toBe(200)
    app.reached.length = 0
    const headersOfOne = await headersOf('check-status')
    await expectRefusal(await app.fetch('/status', { headers: headersOfOne }), 'check-status')
  })

  it('make tokenCan() return false for a withheld scope', async () => {
    limit(new Plan('place-orders'))
    const reply = await app.fetch('/me', { headers: await headersOf(...BOTH) })
    expect(await reply.json()).toMatchObject({ mayPlace: false, mayCheck: true })
  })

  it('apply to clients that act for themselves', async () => {
    const created = await app.oauth.clients.create({
      name: 'Robot',
      grants: ['client_credentials'],
    })
    const headers = await actingAsClient(app.oauth, created, ['check-status'])
    expect((await app.fetch('/machine', { headers })).status).toBe(200)
    app.reached.length = 0
    limit(new Plan('check-status'))
    await expectRefusal(await app.fetch('/machine', { headers }), 'check-status')
  })

  it('apply in cookie mode', async () => {
    const { cookie, csrfToken } = await openPage(app)
    const headers = { cookie, 'x-csrf-token': csrfToken }
    expect((await app.fetch('/orders', { headers })).status).toBe(200)
    app.reached.length = 0
    limit(new Plan('place-orders'))
    await expectRefusal(await app.fetch('/orders', { headers }), 'place-orders')
  })

  it('apply to tokens that are bound to a key', async () => {
    const holder = await newHolder()
    const client = await createClient(app, { confidential: false, grants: ['password'] })
    const { access_token: token } = await requestBoundTokens(app, client, holder)
    limit(new Plan('place-orders'))
    const proof = await makeProof(holder, {
      url: `${app.url}/orders`,
      token,
      at: app.clock.now(),
    })
    const headers = { authorization: `DPoP ${token}`, dpop: proof }
    await expectRefusal(await app.fetch('/orders', { headers }), 'place-orders')
  })

  it('delay the request until the limiter has answered', async () => {
    const headers = await headersOf(...BOTH)
    let finish = (_limits: ReturnType<typeof withholding> | null) => {}
    limit({
      limitsOf: () =>
        new Promise((resolve) => {
          finish = resolve
        }),
    })
    for (const [limits, status] of [
      [null, 200],
      [withholding('place-orders'), 402],
    ] as const) {
      app.reached.length = 0
      finish = () => {}
      const pristine = finish
      const reply = app.fetch('/orders', { headers })
      await expect.poll(() => finish !== pristine).toBe(true)
      expect(app.reached).toEqual([])
      finish(limits)
      expect((await reply).status).toBe(status)
    }
  })

  it('make the request fail with the OAuth error that the limiter throws, or with 503 for any other error', async () => {
    const headers = await headersOf(...BOTH)
    for (const error of [new TemporarilyUnavailable('Loading'), new Error('The plans are away')]) {
      for (const limitsOf of [
        () => Promise.reject(error),
        () => {
          throw error
        },
      ]) {
        limit({ limitsOf })
        const reply = await app.fetch('/orders', { headers })
        expect(reply.status).toBe(503)
        expect(reply.headers.get('retry-after')).toBe('1')
        expect(await reply.text()).not.toContain('plans are away')
        remove()
      }
    }
    expect(app.reached).toEqual([])
    expect((await app.fetch('/orders', { headers })).status).toBe(200)
  })
})
