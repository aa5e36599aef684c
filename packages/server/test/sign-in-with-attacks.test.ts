import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAddress } from './accounts.ts'
import { type StandIn, startStandIn, type TokenChanges } from './stand-in-provider.ts'
import { startTestService, type TestService } from './support.ts'

type Browser = ReturnType<TestService['browser']>

let service: TestService
let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn(() => service.clock.now())
  const openid = { clientId: 'tollgate', clientSecret: 'client-secret' }
  service = await startTestService({
    settings: {
      registration: false,
      signInWith: {
        custom: {
          acme: { ...openid, name: 'Acme', issuer: `${standIn.url}/openid` },
          second: { ...openid, name: 'Second', issuer: `${standIn.url}/second` },
        },
      },
      signInRequests: { timeout: 1 },
    },
  })
  const { id } = await service.users.create({ email: PERSON.email, password: 'correct horse' })
  const { sub: subject, email } = PERSON
  for (const provider of ['acme', 'second']) {
    await service.users.identities.link(id, { provider, subject, email })
  }
})
afterAll(async () => {
  await service.stop()
  await standIn.close()
})

const PERSON = { sub: 'person-1', email: newAddress('ada'), email_verified: true }

async function press(browser: Browser, provider = 'acme') {
  const reply = await browser.post(`/login/with/${provider}`, { return_to: '/tokens' })
  return reply.headers.get('location') ?? ''
}

const callBack = (browser: Browser, response: URLSearchParams, provider = 'acme') =>
  browser.get(`/login/with/${provider}/callback?${response}`)

async function isSignedIn(browser: Browser): Promise<boolean> {
  return (await browser.api('/api/user')).status === 200
}

/** Checks that the person was not signed in, and that the page says why and leads back. */
async function expectRefusal(browser: Browser, reply: Reply, text: string, status = 400) {
  const html = await reply.text()
  expect([reply.status, html.includes(text), html.includes('href="/login')]).toEqual([
    status,
    true,
    true,
  ])
  expect(await isSignedIn(browser)).toBe(false)
}
type Reply = Awaited<ReturnType<Browser['get']>>

const EXPIRED = 'started in another browser or tab'
const INVALID = 'could not be verified'

describe('a sign-in with another provider', () => {
  it('succeeds with a correct ID token', async () => {
    const browser = service.browser()
    await callBack(browser, standIn.approve(await press(browser), PERSON))
    expect(await isSignedIn(browser)).toBe(true)
  })

  const past = () => Math.floor(service.clock.now().getTime() / 1000) - 3600
  const tokens: ReadonlyArray<readonly [string, () => TokenChanges]> = [
    ['has another nonce', () => ({ claims: { nonce: 'another' } })],
    ['has no nonce', () => ({ claims: { nonce: undefined } })],
    ['has another issuer', () => ({ claims: { iss: `${standIn.url}/second` } })],
    ['has no issuer', () => ({ claims: { iss: undefined } })],
    ['is for another client', () => ({ claims: { aud: 'another' } })],
    ['is for several clients without naming one', () => ({ claims: { aud: ['tollgate', 'b'] } })],
    [
      'is for several clients and names another',
      () => ({ claims: { aud: ['tollgate', 'b'], azp: 'b' } }),
    ],
    ['has expired', () => ({ claims: { exp: past() } })],
    ['never expires', () => ({ claims: { exp: undefined } })],
    ['is not valid yet', () => ({ claims: { nbf: past() + 7200 } })],
    ['has no subject', () => ({ claims: { sub: undefined } })],
    ['is not signed', () => ({ algorithm: 'none' })],
    ['is signed with the client secret', () => ({ algorithm: 'HS256' })],
    ['is signed with a key of somebody else', () => ({ foreignKey: true })],
    ['is no JWT', () => ({ exact: 'x.y' })],
    ['is missing', () => ({ absent: true })],
  ]
  it.each(tokens)('is refused if the ID token %s (threat U1)', async (_, change) => {
    const browser = service.browser()
    const response = standIn.approve(await press(browser), PERSON, change())
    await expectRefusal(browser, await callBack(browser, response), INVALID)
  })

  it('is refused with an unsigned token, even if the discovery document allows such tokens (threat U1)', async () => {
    const wrong = { id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] }
    standIn.discovery = wrong
    service.clock.advance({ hours: 2 })
    for (const algorithm of ['none', 'HS256'] as const) {
      const browser = service.browser()
      const response = standIn.approve(await press(browser), PERSON, { algorithm })
      await expectRefusal(browser, await callBack(browser, response), INVALID)
    }
    standIn.discovery = {}
    service.clock.advance({ hours: 2 })
  })

  it('is refused in a browser that did not start it (threat U2)', async () => {
    const attacker = service.browser()
    const response = standIn.approve(await press(attacker), PERSON)
    const victim = service.browser()
    await expectRefusal(victim, await callBack(victim, response), EXPIRED)
    // A person who has started one of their own does not lose it.
    const own = standIn.approve(await press(victim), PERSON)
    await expectRefusal(victim, await callBack(victim, response), EXPIRED)
    expect((await callBack(victim, own)).status).toBe(303)
  })

  it('is refused if the code belongs to the attempt of another person (threat U2)', async () => {
    const [attacker, victim] = [service.browser(), service.browser()]
    const stolen = standIn.approve(await press(victim), PERSON)
    const own = standIn.approve(await press(attacker), { ...PERSON, sub: 'attacker' })
    own.set('code', stolen.get('code') ?? '')
    await expectRefusal(attacker, await callBack(attacker, own), INVALID)
  })

  it('is refused when the response is sent again, and is complete only once (threat U2)', async () => {
    const browser = service.browser()
    const location = await press(browser)
    const kept = new Map(browser.cookies)
    const response = standIn.approve(location, PERSON)
    expect((await callBack(browser, response)).status).toBe(303)
    const copy = service.browser()
    await expectRefusal(copy, await callBack(copy, response), EXPIRED)
    for (const [name, value] of kept) copy.cookies.set(name, value)
    await expectRefusal(copy, await callBack(copy, response), INVALID)
  })

  it('is refused if the response comes from another provider than the request went to (threat U3)', async () => {
    const browser = service.browser()
    const response = standIn.approve(await press(browser, 'acme'), PERSON)
    await expectRefusal(browser, await callBack(browser, response, 'second'), EXPIRED)
    response.set('iss', `${standIn.url}/second`)
    await expectRefusal(browser, await callBack(browser, response), INVALID)
  })

  it('is refused if the provider announces `iss` but the response lacks it, and then the code is not exchanged (threat U3)', async () => {
    standIn.discovery = { authorization_response_iss_parameter_supported: true }
    service.clock.advance({ hours: 2 })
    const before = standIn.received.length
    const browser = service.browser()
    const response = standIn.approve(await press(browser), PERSON)
    await expectRefusal(browser, await callBack(browser, response), INVALID)
    expect(standIn.received.length).toBe(before)
    const right = standIn.approve(await press(browser), PERSON)
    right.set('iss', `${standIn.url}/openid`)
    expect((await callBack(browser, right)).status).toBe(303)
    standIn.discovery = {}
    service.clock.advance({ hours: 2 })
  })

  it.each([
    ['no parameters', ''],
    ['a repeated state', 'state=a&state=b&code=c'],
    ['an access token', 'access_token=x&state=a'],
    ['an error without a state', 'error=access_denied'],
    ['a long code', `code=${'x'.repeat(4000)}&state=a`],
  ])('is refused for a response with %s', async (_, response) => {
    const browser = service.browser()
    await press(browser)
    await expectRefusal(browser, await callBack(browser, new URLSearchParams(response)), EXPIRED)
  })

  it('is refused after ten minutes, and with a cookie that was changed (threat U2)', async () => {
    const browser = service.browser()
    const late = standIn.approve(await press(browser), PERSON)
    service.clock.advance({ minutes: 11 })
    await expectRefusal(browser, await callBack(browser, late), EXPIRED)
    const changed = standIn.approve(await press(browser), PERSON)
    const [name, value] = [...browser.cookies].find(([key]) => key.includes('with')) ?? ['', '']
    browser.cookies.set(name, `${value.slice(0, -2)}AA`)
    await expectRefusal(browser, await callBack(browser, changed), EXPIRED)
  })

  it('cannot be started by a page of another site, and leads only to this host afterwards', async () => {
    const browser = service.browser()
    const foreign = { origin: 'https://evil.example' }
    expect((await browser.post('/login/with/acme', {}, foreign)).status).toBe(403)
    expect((await browser.post('/login/forget-link', {}, foreign)).status).toBe(403)
    expect((await browser.get('/login/with/acme')).status).toBe(404)
    const reply = await browser.post('/login/with/acme', { return_to: '//evil.example' })
    const response = standIn.approve(reply.headers.get('location') ?? '', PERSON)
    expect((await callBack(browser, response)).headers.get('location')).toBe('/')
    expect((await browser.post('/login/with/unknown', {})).status).toBe(404)
    expect((await browser.post('/login/with/acme/callback', { state: 'x' })).status).toBe(404)
  })

  it('creates no account if registration is off (threat U4)', async () => {
    const browser = service.browser()
    const stranger = { sub: 'stranger', email: newAddress('eve'), email_verified: true }
    const reply = await callBack(browser, standIn.approve(await press(browser), stranger))
    await expectRefusal(browser, reply, 'new accounts cannot be created here', 403)
    expect(await service.users.findByEmail(stranger.email)).toBeNull()
  })

  it.each([
    ['does not respond', 'silent'],
    ['responds with an error', 500],
    ['is overloaded', 429],
    ['redirects to a private address', 'redirect'],
    ['responds with a huge document', 'huge'],
  ] as const)(
    'fails with a page from which the person can continue if the provider %s (threat U5)',
    async (_, outage) => {
      const browser = service.browser()
      const response = standIn.approve(await press(browser), PERSON)
      standIn.outage = outage
      try {
        const reply = await callBack(browser, response)
        await expectRefusal(browser, reply, 'does not respond at the moment', 502)
      } finally {
        standIn.outage = null
      }
    },
  )

  it('requests the discovery document at most once an hour, and uses the earlier one if it is unavailable', async () => {
    const browser = service.browser()
    expect(await press(browser)).not.toBe('')
    standIn.outage = 500
    service.clock.advance({ hours: 2 })
    expect(await press(browser)).toContain('/openid/authorize')
    standIn.outage = null
  })

  it('shows a page that leads to the provider, instead of a redirect, if the sign-in page of the provider is on an unexpected host', async () => {
    const address = 'https://elsewhere.example/authorize'
    standIn.discovery = { authorization_endpoint: address }
    service.clock.advance({ hours: 2 })
    const reply = await service.browser().post('/login/with/acme', {})
    expect([reply.status, reply.headers.get('location')]).toEqual([200, null])
    expect(reply.headers.get('refresh')).toContain(`0; url=${address}?`)
    expect(await reply.text()).toContain(`href="${address}?`)
    standIn.discovery = { authorization_endpoint: 'javascript:alert(1)' }
    service.clock.advance({ hours: 2 })
    const kept = await service.browser().post('/login/with/acme', {})
    expect(kept.headers.get('refresh')).toContain(address)
    standIn.discovery = {}
    service.clock.advance({ hours: 2 })
  })

  it("is refused at the start if the application's authorization request is too large for a cookie", async () => {
    const random = () => Math.random().toString(36).slice(2)
    const long = `/oauth/authorize?request=${Array.from({ length: 700 }, random).join('').slice(0, 7000)}`
    const reply = await service.browser().post('/login/with/acme', { return_to: long })
    expect(reply.status).toBe(400)
    expect(await reply.text()).toContain('is too long for a sign-in with Acme')
    const usual = `/oauth/authorize?${'scope=openid&'.repeat(200)}`
    const other = await service.browser().post('/login/with/acme', { return_to: usual })
    expect(other.status).toBe(303)
  })

  it('is limited for a network whose sign-ins fail, and tells how long', async () => {
    const browser = service.browser()
    let status = 0
    for (let attempt = 0; attempt < 110 && status !== 429; attempt += 1) {
      const response = standIn.approve(await press(browser), PERSON)
      response.set('code', 'wrong')
      status = (await callBack(browser, response)).status
    }
    expect(status).toBe(429)
    service.clock.advance({ minutes: 11 })
    const response = standIn.approve(await press(browser), PERSON)
    expect((await callBack(browser, response)).status).toBe(303)
  })

  it('logs why it failed, but no code, token or secret (threat U5)', async () => {
    expect(service.log()).toContain('A sign-in with another provider failed')
    for (const form of standIn.received) {
      for (const name of ['code', 'code_verifier']) {
        const value = form.get(name) ?? ''
        if (value.length > 20) expect(service.log()).not.toContain(value)
      }
    }
    expect(service.log()).not.toContain('gho_secret')
    expect(service.log()).not.toContain('client-secret')
  })
})
