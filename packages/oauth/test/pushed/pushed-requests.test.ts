import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openid, pushedRequests } from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'
import {
  CHALLENGE,
  exchange,
  type FlowClient,
  locationOf,
  push,
  pushAndBuildParams,
  startPushed,
  VERIFIER,
} from './support.ts'

let server: TestServer
let client: FlowClient
beforeAll(async () => {
  server = await startPushed()
  client = await createClient(server)
})
afterAll(() => server.close())

const NO_ONE = { accept: 'text/html' }

describe('a pushed request (RFC 9126)', () => {
  it('is answered with a request_uri, in a response that must not be cached', async () => {
    const reply = await push(server, client)
    expect(reply.status).toBe(201)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(await reply.json()).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/),
      expires_in: 60,
    })
  })

  it('leads to an authorization code, and other parameters in the URL are ignored', async () => {
    const request = await pushAndBuildParams(server, client)
    const page = await requestAuthorization(server, 'ada', {
      ...request,
      scope: 'check-status',
      redirect_uri: 'https://evil.example/',
      response_type: 'token',
      state: 'url',
      prompt: 'none',
    })
    expect(page.status).toBe(200)
    const back = await submitApprovalDecision(server, 'ada', page)
    expect(`${back.origin}${back.pathname}`).toBe(REDIRECT)
    expect(back.searchParams.get('state')).toBe('pushed')
    const reply = await exchange(server, client, back)
    expect(await reply.json()).toMatchObject({ scope: 'place-orders' })
  })

  it('is accepted from a public client with PKCE, whose code verifier is checked later', async () => {
    const mobile = await createClient(server, { confidential: false })
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
    expect((await push(server, mobile)).status).toBe(400)
    const request = await pushAndBuildParams(server, mobile, pkce)
    const back = await submitApprovalDecision(
      server,
      'ada',
      await requestAuthorization(server, 'ada', request),
    )
    expect((await exchange(server, mobile, back)).status).toBe(400)
    expect((await exchange(server, mobile, back, { code_verifier: VERIFIER })).status).toBe(200)
  })

  it("is accepted with the client's credentials in the header and no client_id in the body", async () => {
    const reply = await server.post(
      '/oauth/par',
      { redirect_uri: REDIRECT, response_type: 'code' },
      { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
    )
    expect(reply.status).toBe(201)
    const { request_uri } = await reply.json()
    const page = await requestAuthorization(server, 'ada', { client_id: client.id, request_uri })
    expect(page.headers.get('location') ?? '').toContain(`${REDIRECT}?code=`)
  })

  it('adds no details to the tokens that result from it', async () => {
    const own = await createClient(server)
    const request = await pushAndBuildParams(server, own)
    const back = await submitApprovalDecision(
      server,
      'ada',
      await requestAuthorization(server, 'ada', request),
    )
    await exchange(server, own, back)
    const tokens = await server.oauth.tokens.listByUser('ada')
    const details = tokens.filter((token) => token.clientId === own.id).map((each) => each.details)
    expect(details).toEqual([null])
  })

  it.each([
    ['an unknown scope', { scope: 'everything' }, 'invalid_scope'],
    ['a response type that is not enabled', { response_type: 'x' }, 'unsupported_response_type'],
    ['an unregistered redirect URI', { redirect_uri: 'https://evil.example/' }, 'invalid_request'],
    [
      'code_challenge_method plain',
      { code_challenge: 'x', code_challenge_method: 'plain' },
      'invalid_request',
    ],
    ['an unknown prompt', { prompt: 'maybe' }, 'invalid_request'],
    ['a state that is too long', { state: 'x'.repeat(3000) }, 'invalid_request'],
    ['a request_uri', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'invalid_request'],
    ['a request object without the feature', { request: 'a.b.c' }, 'request_not_supported'],
    ['too many parameters', { login_hint: 'x'.repeat(8000) }, 'invalid_request'],
    ['a wrong secret', { client_secret: 'wrong' }, 'invalid_client'],
  ])('is refused when it is pushed if it has %s', async (_what, params, error) => {
    const reply = await push(server, client, params)
    expect(reply.status).toBe(error === 'invalid_client' ? 401 : 400)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(await reply.json()).toMatchObject({ error })
  })

  it('may have at most 64 kB', async () => {
    expect((await push(server, client, { more: 'x'.repeat(70_000) })).status).toBe(413)
  })

  it('can only be sent with POST', async () => {
    expect((await server.request('/oauth/par')).status).toBe(405)
  })
})

describe('a person who arrives at the authorization endpoint with the request_uri of a pushed request', () => {
  it('may reload the page, open it in two tabs, and decide in either tab', async () => {
    const own = await createClient(server)
    const request = await pushAndBuildParams(server, own)
    const first = await requestAuthorization(server, 'ada', request)
    const second = await requestAuthorization(server, 'ada', request)
    expect([first.status, second.status]).toEqual([200, 200])
    const back = await submitApprovalDecision(server, 'ada', second)
    expect(back.searchParams.get('code')).toMatch(/^tgc_/)
    expect((await submitApprovalDecision(server, 'ada', first)).href).toBe('error:400')
    expect((await exchange(server, own, back)).status).toBe(200)
  })

  it('may sign in first, even if that takes longer than the lifetime of the request_uri', async () => {
    const own = await createClient(server)
    const request = await pushAndBuildParams(server, own, { login_hint: 'ada@example.com' })
    const query = new URLSearchParams(request)
    const away = locationOf(await server.request(`/oauth/authorize?${query}`, { headers: NO_ONE }))
    expect(away.searchParams.get('login_hint')).toBe('ada@example.com')
    const returnTo = away.searchParams.get('return_to') ?? ''
    expect(returnTo).toBe(`/oauth/authorize?${query}`)
    server.clock.advance({ minutes: 20 })
    const back = await submitApprovalDecision(
      server,
      'ada',
      await requestAuthorization(server, 'ada', { ...request }),
    )
    expect(back.searchParams.get('code')).toMatch(/^tgc_/)
  })

  it('must sign in again if the pushed request requires it, and then returns to that request', async () => {
    const request = await pushAndBuildParams(server, client, { prompt: 'login' })
    server.users.signIns.set('ada.1', server.clock.now())
    const away = locationOf(await requestAuthorization(server, 'ada', request))
    server.clock.advance({ seconds: 30 })
    server.users.signIns.set('ada.1', server.clock.now())
    const returned = new URL(away.searchParams.get('return_to') ?? '', server.url)
    const reply = await requestAuthorization(
      server,
      'ada',
      Object.fromEntries(returned.searchParams),
    )
    const back =
      reply.status === 200 ? await submitApprovalDecision(server, 'ada', reply) : locationOf(reply)
    expect(back.searchParams.get('code')).toMatch(/^tgc_/)
  })

  it('may reload the approval screen long after it was first shown', async () => {
    const own = await createClient(server)
    const request = await pushAndBuildParams(server, own)
    expect((await requestAuthorization(server, 'ada', request)).status).toBe(200)
    server.clock.advance({ minutes: 9 })
    const back = await submitApprovalDecision(
      server,
      'ada',
      await requestAuthorization(server, 'ada', request),
    )
    expect(back.searchParams.get('code')).toMatch(/^tgc_/)
  })

  it('gets an error page when the request has expired', async () => {
    const late = await pushAndBuildParams(server, client)
    const shown = await pushAndBuildParams(server, await createClient(server))
    await requestAuthorization(server, 'ada', shown)
    server.clock.advance({ seconds: 60 })
    expect((await requestAuthorization(server, 'ada', late)).status).toBe(400)
    server.clock.advance({ hours: 1 })
    expect((await requestAuthorization(server, 'ada', shown)).status).toBe(400)
  })

  it('cannot use the request again after denying it', async () => {
    const request = await pushAndBuildParams(server, await createClient(server))
    const page = await requestAuthorization(server, 'ada', request)
    const other = await requestAuthorization(server, 'ada', request)
    const back = await submitApprovalDecision(server, 'ada', page, 'deny')
    expect(back.searchParams.get('error')).toBe('access_denied')
    expect((await submitApprovalDecision(server, 'ada', other)).href).toBe('error:400')
    expect((await requestAuthorization(server, 'ada', request)).status).toBe(400)
  })

  it('cannot use the request again after an error response', async () => {
    const request = await pushAndBuildParams(server, await createClient(server), { prompt: 'none' })
    const back = locationOf(await requestAuthorization(server, 'ada', request))
    expect(back.searchParams.get('error')).toBe('consent_required')
    expect((await requestAuthorization(server, 'ada', request)).status).toBe(400)
  })
})

describe('the requirement that authorization requests are pushed', () => {
  const plain = { redirect_uri: REDIRECT, response_type: 'code', state: 's' }

  it('can be set for one client, whose requests are then refused if they are not pushed', async () => {
    const strict = await createClient(server, {
      settings: { require_pushed_authorization_requests: true },
    })
    const back = locationOf(
      await requestAuthorization(server, 'ada', { ...plain, client_id: strict.id }),
    )
    expect(back.searchParams.get('error')).toBe('invalid_request')
    expect(back.searchParams.get('state')).toBe('s')
    expect(
      (await requestAuthorization(server, 'ada', { ...plain, client_id: client.id })).status,
    ).not.toBe(400)
    const page = await requestAuthorization(server, 'ada', await pushAndBuildParams(server, strict))
    expect(page.status).toBe(200)
  })

  it('can be set for all clients by the server option, and is then listed in the metadata', async () => {
    const strict = await startPushed({}, pushedRequests({ required: true, lifetime: '90s' }))
    try {
      const own = await createClient(strict)
      const back = locationOf(
        await requestAuthorization(strict, 'ada', { ...plain, client_id: own.id }),
      )
      expect(back.searchParams.get('error')).toBe('invalid_request')
      expect((await push(strict, own)).status).toBe(201)
      const path = '/.well-known/oauth-authorization-server'
      expect(await (await strict.request(path)).json()).toMatchObject({
        pushed_authorization_request_endpoint: `${strict.url}/oauth/par`,
        require_pushed_authorization_requests: true,
      })
    } finally {
      await strict.close()
    }
  })

  it('is not available without the feature: there is no route and no metadata, and a request_uri is refused', async () => {
    const without = await startServer({ features: [openid()] })
    try {
      const own = await createClient(without)
      expect((await push(without, own)).status).toBe(404)
      const path = '/.well-known/oauth-authorization-server'
      const metadata = await (await without.request(path)).json()
      expect(Object.keys(metadata).filter((name) => name.includes('push'))).toEqual([])
      const request_uri = 'urn:ietf:params:oauth:request_uri:x'
      const asked = await requestAuthorization(without, 'ada', {
        ...plain,
        client_id: own.id,
        request_uri,
      })
      expect(locationOf(asked).searchParams.get('error')).toBe('request_uri_not_supported')
    } finally {
      await without.close()
    }
  })

  it('does not prevent openid() from issuing an ID token, with and without a nonce', async () => {
    const provider = await startPushed({ features: [pushedRequests(), openid()] })
    const own = await createClient(provider)
    for (const nonce of ['', 'once']) {
      const request = await pushAndBuildParams(provider, own, {
        scope: 'openid',
        prompt: 'consent',
        nonce,
      })
      const back = await submitApprovalDecision(
        provider,
        'ada',
        await requestAuthorization(provider, 'ada', request),
      )
      const tokens = await (await exchange(provider, own, back)).json()
      expect([nonce, Object.keys(tokens)]).toEqual([nonce, expect.arrayContaining(['id_token'])])
    }
    await provider.close()
  })

  it.each(['4s', '601s', '0s', 'soon'])(
    'limits the lifetime of pushed requests: the option lifetime: %s is rejected at start-up',
    (lifetime) => {
      expect(() => pushedRequests({ lifetime })).toThrow(TypeError)
    },
  )
})
