import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  buildSessionCookie,
  REDIRECT,
  requestAuthorization,
  submitApprovalDecision,
} from '../support.ts'
import {
  authorize,
  exchange,
  newClient,
  type OpenIdServer,
  signIn,
  startOpenId,
  verifyIdToken,
} from './support.ts'

let server: OpenIdServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startOpenId()
})
afterAll(() => server.close())
beforeEach(async () => {
  client = await newClient(server)
  server.people.signIns.clear()
  server.people.acr = null
})

const session = (user: string) => buildSessionCookie(user).slice('session='.length)
const signedInAt = (user: string, secondsAgo: number) =>
  server.people.signIns.set(
    session(user),
    new Date(server.clock.now().getTime() - secondsAgo * 1000),
  )

/** Sends the authorization request from a browser without a session. */
const asStranger = (params: Record<string, string>) =>
  server.request(
    `/oauth/authorize?${new URLSearchParams({
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      ...params,
    })}`,
    { headers: { accept: 'text/html' } },
  )

describe('the request parameters prompt and max_age', () => {
  it('prompt=none returns a code without showing a page, and the ID token is about the earlier sign-in', async () => {
    signedInAt('ada', 30)
    const first = await signIn(server, client)
    const again = await signIn(server, client, { prompt: 'none' })
    const [a, b] = await Promise.all(
      [first, again].map((each) => verifyIdToken(server, client, each.id_token)),
    )
    expect(b?.payload).toMatchObject({ sub: a?.payload.sub, auth_time: a?.payload.auth_time })
  })

  it('prompt=none without a session returns login_required', async () => {
    const reply = await asStranger({ prompt: 'none', state: 's' })
    const back = new URL(reply.headers.get('location') ?? '')
    expect(back.searchParams.get('error')).toBe('login_required')
    expect(back.searchParams.get('state')).toBe('s')
  })

  it('max_age adds auth_time, and requires a new sign-in if the last one is too old', async () => {
    signedInAt('ada', 5)
    const { id_token } = await signIn(server, client, { max_age: '10' })
    const { payload } = await verifyIdToken(server, client, id_token)
    expect(payload.auth_time).toBe(Math.floor(server.clock.now().getTime() / 1000) - 5)
    const asked = await authorize(server, client, { max_age: '1' })
    expect(asked.pathname).toBe('/login')
    expect(asked.searchParams.get('prompt')).toBe('login')
  })

  it('a client can have a default max_age in its settings', async () => {
    const strict = await newClient(server, { settings: { default_max_age: 60 } })
    signedInAt('ada', 61)
    expect((await authorize(server, strict)).pathname).toBe('/login')
    signedInAt('ada', 59)
    expect((await authorize(server, strict)).searchParams.get('code')).toBeTruthy()
  })
})

describe('an authorization request without redirect_uri', () => {
  it.each([
    ['openid', 400],
    ['place-orders openid', 400],
    ['place-orders', 200],
    ['', 200],
  ])("is answered for the scope '%s' by a page with the status %i", async (scope, status) => {
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      response_type: 'code',
      scope,
    })
    expect(page.status).toBe(status)
    expect(page.headers.get('location')).toBeNull()
    const missing = '&#39;redirect_uri&#39; is missing'
    expect((await page.text()).includes(missing)).toBe(status === 400)
  })
})

describe('hints in an authorization request', () => {
  it('login_hint and ui_locales are passed to the sign-in page', async () => {
    const reply = await asStranger({ login_hint: 'ada@example.com', ui_locales: 'fr en' })
    const page = new URL(reply.headers.get('location') ?? '', server.url)
    expect(page.searchParams.get('login_hint')).toBe('ada@example.com')
    expect(page.searchParams.get('ui_locales')).toBe('fr en')
    expect(page.searchParams.get('return_to')).toContain('/oauth/authorize?')
  })

  it('id_token_hint of the signed-in person has no effect', async () => {
    const { id_token } = await signIn(server, client)
    server.clock.advance({ hours: 2 })
    const back = await authorize(server, client, { prompt: 'none', id_token_hint: id_token })
    expect(back.searchParams.get('code')).toBeTruthy()
  })

  it('id_token_hint of another person returns login_required, or leads to the sign-in page', async () => {
    const { id_token } = await signIn(server, client)
    const params = {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      id_token_hint: id_token,
    }
    const none = await requestAuthorization(server, 'bob', { ...params, prompt: 'none' })
    // Bob has approved nothing, so the error reveals nothing about him, not even that he is not
    // Ada.
    expect(none.headers.get('location')).toContain('error=consent_required')
    const page = await requestAuthorization(server, 'bob', params)
    expect(page.headers.get('location')).toMatch(/^\/login\?/)
    const returnTo = new URL(page.headers.get('location') ?? '', server.url).searchParams.get(
      'return_to',
    )
    // Bob signs in again instead of Ada: the client gets an error, and there is no redirect loop.
    const back = await server.request(returnTo ?? '', {
      headers: { cookie: buildSessionCookie('bob'), accept: 'text/html' },
    })
    expect(back.headers.get('location')).toContain('error=login_required')
  })

  it('id_token_hint signed by another issuer is rejected', async () => {
    const { id_token, access_token } = await signIn(server, client)
    const [, payload = ''] = id_token.split('.')
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
    for (const hint of ['x', 'a.b.c', `${none}.${payload}.`, `${id_token}x`, access_token]) {
      const back = await authorize(server, client, { id_token_hint: hint })
      expect(back.searchParams.get('error'), hint).toBe('invalid_request')
    }
  })

  it('the `claims` parameter can require that a certain person is signed in', async () => {
    const claims = (value: string) => JSON.stringify({ id_token: { sub: { value } } })
    await signIn(server, client, { claims: claims('ada') })
    const back = await authorize(server, client, { prompt: 'none', claims: claims('bob') })
    expect(back.searchParams.get('error')).toBe('login_required')
  })

  it.each(['{', '[]', '"x"', 'null', '{"id_token":[]}', '{"userinfo":{"name":1}}'])(
    'the `claims` parameter with the invalid value %s returns invalid_request',
    async (claims) => {
      const back = await authorize(server, client, { claims })
      expect(back.searchParams.get('error')).toBe('invalid_request')
    },
  )

  it('display, claims_locales and unknown parameters cause no error', async () => {
    await signIn(server, client, { display: 'popup', claims_locales: 'se', extra: 'foobar' })
  })
})

describe('request parameters that are not supported', () => {
  it.each([
    ['request', 'request_not_supported'],
    ['request_uri', 'request_uri_not_supported'],
    ['registration', 'registration_not_supported'],
  ])('%s is refused with the error %s', async (name, error) => {
    const back = await authorize(server, client, { [name]: 'eyJhbGciOiJub25lIn0.e30.' })
    expect(back.searchParams.get('error')).toBe(error)
  })

  it('response_mode with an unknown value is refused', async () => {
    const back = await authorize(server, client, { response_mode: 'web_message' })
    expect(back.searchParams.get('error')).toBe('invalid_request')
  })
})

/** Reads the address and the fields of the form_post page. */
function formOf(html: string) {
  const fields = [...html.matchAll(/name="([^"]+)" value="([^"]*)"/g)]
  return {
    action: /action="([^"]+)"/.exec(html)?.[1],
    fields: Object.fromEntries(fields.map(([, name, value]) => [name, value])),
  }
}

describe('the response_mode parameter', () => {
  const ask = (params: Record<string, string>) =>
    requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      state: 's',
      ...params,
    })

  it('form_post sends the response as a form, with and without an approval screen', async () => {
    const page = await ask({ response_mode: 'form_post' })
    const html = await page.text()
    const action = /action="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const csrf = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const decided = await server.post(
      action,
      { csrf_token: csrf, decision: 'approve' },
      { cookie: buildSessionCookie('ada'), origin: server.url },
    )
    for (const reply of [decided, await ask({ response_mode: 'form_post' })]) {
      expect([reply.status, reply.headers.get('location')]).toEqual([200, null])
      const form = formOf(await reply.text())
      expect(form.action).toBe(REDIRECT)
      expect(form.fields).toEqual({ code: expect.any(String), state: 's', iss: server.url })
      expect((await exchange(server, client, form.fields.code ?? '')).status).toBe(200)
    }
  })

  it('form_post sends errors as a form, too', async () => {
    const reply = await ask({ response_mode: 'form_post', prompt: 'none' })
    const { action, fields } = formOf(await reply.text())
    expect(action).toBe(REDIRECT)
    expect(fields).toMatchObject({ error: 'consent_required', state: 's', iss: server.url })
  })

  it('form_post with a custom URL scheme is refused by an error in the redirect', async () => {
    const redirect_uri = 'com.example.app:/callback'
    const app = await newClient(server, { redirect: redirect_uri })
    const reply = await ask({ client_id: app.id, redirect_uri, response_mode: 'form_post' })
    const location = reply.headers.get('location')
    expect(location).toMatch(/^com\.example\.app:\/callback\?error=invalid_request&/)
  })

  it('fragment is used for the response after an approval screen', async () => {
    const page = await ask({ response_mode: 'fragment' })
    const back = await submitApprovalDecision(server, 'ada', page)
    expect([back.search, back.hash]).toEqual(['', expect.stringContaining('code=')])
  })
})

describe('conditions for the sign-in in an authorization request', () => {
  const claims = (id_token: object) => ({ claims: JSON.stringify({ id_token }) })
  const errorOf = async (params: Record<string, string>) => {
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      ...params,
    })
    return new URL(page.headers.get('location') ?? 'error:', server.url).searchParams.get('error')
  }

  it.each([
    ['the person is the one required', claims({ sub: { value: 'ada' } }), null],
    ['the person is one of those allowed', claims({ sub: { values: ['bob', 'ada'] } }), null],
    ['another person is required', claims({ sub: { value: 'bob' } }), 'login_required'],
    ['the person is none of those allowed', claims({ sub: { values: ['bob'] } }), 'login_required'],
    ['the required subject is no string', claims({ sub: { value: 7 } }), 'login_required'],
    ['an essential acr is met', claims({ acr: { essential: true, values: ['x', 'pwd'] } }), null],
    [
      'an essential acr is not met',
      claims({ acr: { essential: true, value: 'mfa' } }),
      'login_required',
    ],
    ['a voluntary acr is not met', claims({ acr: { values: ['mfa'] } }), null],
  ])('are checked: %s', async (_what, params, error) => {
    server.people.acr = 'pwd'
    await signIn(server, client)
    expect(await errorOf({ prompt: 'none', ...params })).toBe(error)
  })

  it('lead to the sign-in page once, and then to an error if they are still not fulfilled', async () => {
    server.people.acr = 'pwd'
    const params = claims({ acr: { essential: true, values: ['mfa'] } })
    const asked = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      ...params,
    })
    const page = new URL(asked.headers.get('location') ?? '', server.url)
    expect(page.searchParams.get('acr_values')).toBe('mfa')
    const back = page.searchParams.get('return_to') ?? ''
    const again = () => server.request(back, { headers: { cookie: buildSessionCookie('ada') } })
    expect((await again()).headers.get('location')).toContain('error=login_required')
    server.people.acr = 'mfa'
    expect((await again()).status).toBe(200)
  })

  it.each([
    ['who they are', { ...claims({ sub: { value: 'bob' } }) }],
    ['when they signed in', { max_age: '60' }],
    ['how they signed in', claims({ acr: { essential: true, value: 'mfa' } })],
  ])(
    'reveal nothing about the person (%s) to a client that the person has not approved',
    async (_what, params) => {
      server.people.acr = 'pwd'
      signedInAt('ada', 3600)
      expect(await errorOf({ prompt: 'none', ...params })).toBe('consent_required')
      expect(await errorOf({ prompt: 'none' })).toBe('consent_required')
    },
  )
})

describe('an authorization request sent as a POST form', () => {
  it('is redirected to the same request with GET', async () => {
    const reply = await server.post('/oauth/authorize', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      state: 'a b&c',
    })
    expect(reply.status).toBe(303)
    const location = new URL(reply.headers.get('location') ?? '', server.url)
    expect(location.pathname).toBe('/oauth/authorize')
    expect(location.searchParams.get('state')).toBe('a b&c')
    const page = await server.request(`${location.pathname}${location.search}`, {
      headers: { cookie: buildSessionCookie('ada'), accept: 'text/html' },
    })
    expect(
      (await submitApprovalDecision(server, 'ada', page)).searchParams.get('code'),
    ).toBeTruthy()
  })
})

describe('a personal access token with identity scopes', () => {
  it('is rejected with 422, together with every other invalid field', async () => {
    const body = { name: '', scopes: ['openid', 'place-orders', 'no-such-scope'] }
    const reply = await server.json('ada', 'POST', '/oauth/personal-access-tokens', body)
    expect(reply.status).toBe(422)
    const { errors } = await reply.json()
    expect(errors).toEqual({
      name: [expect.any(String)],
      scopes: [
        expect.stringContaining("The scope 'openid' is about the person's identity"),
        "The scope 'no-such-scope' is not defined.",
      ],
    })
  })
})
