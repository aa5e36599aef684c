import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  createAuthorizationServer,
  deviceCode,
  implicit,
  openid,
  refreshToken,
} from '../../src/index.ts'
import { newDevice, poll, startDeviceFlow, typeCode } from '../device/support.ts'
import { UsersWithClaims } from '../openid/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  SECRET,
  startServer,
  type TestServer,
} from '../support.ts'
import { type ApprovalForm, approve, readPage, redeem } from './support.ts'

const BOTH = 'place-orders check-status'
const OPTIONAL = 'scope:check-status'
const TICKED = { [OPTIONAL]: 'allow' }

let server: TestServer
let client: { id: string; secret: string }

beforeAll(async () => {
  server = await startServer({
    optionalScopes: ['check-status', 'email'],
    users: new UsersWithClaims(),
    grants: [authorizationCode(), refreshToken(), implicit(), deviceCode()],
    features: [openid()],
  })
})
beforeEach(async () => {
  client = await createClient(server)
})
afterAll(() => server.close())

const ask = (changes: Record<string, string> = {}, user = 'ada') =>
  requestAuthorization(server, user, {
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: BOTH,
    ...changes,
  })

async function open(changes: Record<string, string> = {}, user = 'ada'): Promise<ApprovalForm> {
  const page = await ask(changes, user)
  expect(page.status).toBe(200)
  return readPage(await page.text())
}

/** Approves with these form fields and returns the scopes of the token. */
async function approveAndReadScopes(
  fields: Record<string, string>,
  changes: Record<string, string> = {},
): Promise<string> {
  return (await redeem(server, client, await approve(server, 'ada', await open(changes), fields)))
    .scope
}

describe('an optional scope', () => {
  it('is granted to a first-party client that requests it later, unless the person declined it', async () => {
    client = await createClient(server, { firstParty: true })
    const asked = { scope: 'check-status', prompt: 'consent' }
    expect(await approveAndReadScopes({}, asked)).toBe('')
    expect((await redeem(server, client, await ask())).scope).toBe('place-orders')
  })

  it('has a ticked checkbox, and other scopes have none', async () => {
    const { ticked, html } = await open()
    expect(ticked).toEqual(TICKED)
    expect(html).toContain('<li>Place orders</li>')
    expect(html).not.toContain('<li>Check order status</li>')
  })

  it('is granted only if its checkbox is ticked, and the token response lists the granted scopes', async () => {
    expect(await approveAndReadScopes(TICKED)).toBe(BOTH)
    expect(await approveAndReadScopes({}, { prompt: 'consent' })).toBe('place-orders')
  })

  it('is left out of a token that is returned in the redirect (response_type=token) if the person declined it', async () => {
    const spa = await createClient(server, { grants: ['implicit'] })
    const page = await open({ client_id: spa.id, response_type: 'token' })
    const reply = await approve(server, 'ada', page, {})
    const fragment = new URLSearchParams(reply.headers.get('location')?.split('#')[1])
    expect(fragment.get('scope')).toBe('place-orders')
  })

  it('cannot be added by a refresh after the person declined it', async () => {
    const { refresh_token } = await redeem(
      server,
      client,
      await approve(server, 'ada', await open(), {}),
    )
    const form = { client_id: client.id, client_secret: client.secret, refresh_token }
    const wider = { grant_type: 'refresh_token', ...form, scope: BOTH }
    expect((await server.post('/oauth/token', wider)).status).toBe(400)
  })

  it('results in a token without scopes if it was the only requested scope and was declined', async () => {
    expect(await approveAndReadScopes({}, { scope: 'check-status' })).toBe('')
  })
})

describe('a declined optional scope', () => {
  it('is not granted when it is requested again, and the person is not asked again', async () => {
    await approveAndReadScopes({})
    for (const prompt of ['', 'none']) {
      const again = await ask({ prompt })
      expect(again.status).toBe(303)
      expect((await redeem(server, client, again)).scope).toBe('place-orders')
    }
  })

  it('is offered again, with an unticked checkbox, if the client forces the approval screen by prompt=consent', async () => {
    await approveAndReadScopes({})
    const page = await open({ prompt: 'consent' })
    expect(page.html).toContain(`name="${OPTIONAL}"`)
    expect(page.ticked).toEqual({})
    await approve(server, 'ada', page, TICKED)
    expect((await redeem(server, client, await ask())).scope).toBe(BOTH)
  })

  it('is no longer granted even if the person had approved it before', async () => {
    await approveAndReadScopes(TICKED)
    await approveAndReadScopes({}, { prompt: 'consent' })
    expect((await redeem(server, client, await ask())).scope).toBe('place-orders')
    const consents = await server.oauth.consents.listByUser('ada')
    expect(consents.find(({ clientId }) => clientId === client.id)).toMatchObject({
      scopes: ['place-orders'],
      declined: ['check-status'],
    })
  })

  it('does not make other optional scopes declined that were not part of the request', async () => {
    await approveAndReadScopes({}, { scope: 'check-status' })
    expect((await ask()).status).toBe(200)
  })

  it('is shown again for approval once it is no longer optional', async () => {
    await approveAndReadScopes({})
    const stricter = server.another({ optionalScopes: [] })
    const query = new URLSearchParams({
      ...{ client_id: client.id, redirect_uri: REDIRECT },
      ...{ response_type: 'code', scope: BOTH },
    })
    const reply = await stricter.fetch(
      new Request(`${server.url}/oauth/authorize?${query}`, {
        headers: { cookie: 'session=ada.1', accept: 'text/html' },
        redirect: 'manual',
      }),
    )
    expect(reply.status).toBe(200)
    expect(await reply.text()).toContain('<li>Check order status</li>')
  })

  it('is offered as if it had never been declined after the approval was revoked', async () => {
    await approveAndReadScopes({})
    await server.oauth.consents.revoke('ada', client.id)
    expect((await open()).ticked).toEqual(TICKED)
  })
})

describe('a forged approval form (threat N4)', () => {
  const forged: ReadonlyArray<readonly [string, string]> = [
    ['a scope that was not requested', 'scope:email=allow'],
    ['an unknown scope', 'scope:everything=allow'],
    ['every scope', 'scope:*=allow'],
    ['no scope at all', 'scope:=allow'],
    ['a prototype property', 'scope:__proto__=allow'],
    ['another value', `${OPTIONAL}=on`],
    ['a repeated checkbox', `${OPTIONAL}=allow&${OPTIONAL}=allow`],
  ]

  it.each(forged)(
    'is refused if it contains %s, and the real form can still be submitted',
    async (_, fields) => {
      const page = await open()
      const reply = await approve(server, 'ada', page, fields)
      expect(reply.status).toBe(400)
      expect(reply.headers.get('location')).toBeNull()
      const after = await approve(server, 'ada', page, TICKED)
      expect((await redeem(server, client, after)).scope).toBe(BOTH)
    },
  )

  it('cannot decline a required scope', async () => {
    expect(await approveAndReadScopes({ scope: '', scopes: 'check-status' })).toBe('place-orders')
  })

  it('cannot add scopes by other parameter names', async () => {
    const fields = { ...TICKED, scope: 'place-orders check-status email' }
    expect(await approveAndReadScopes(fields)).toBe(BOTH)
  })

  it('is refused when another person submits it', async () => {
    const page = await open()
    const reply = await approve(server, 'bob', page, TICKED)
    expect(reply.status).toBe(400)
    expect(await server.oauth.consents.listByUser('bob')).toEqual([])
  })

  it('is processed only once, whatever a second submission contains', async () => {
    const page = await open()
    expect((await approve(server, 'ada', page, {})).status).toBe(303)
    expect((await approve(server, 'ada', page, TICKED)).status).toBe(400)
    expect((await redeem(server, client, await ask())).scope).toBe('place-orders')
  })
})

describe('claims requested by name (the `claims` parameter)', () => {
  const claims = JSON.stringify({
    userinfo: { email: null, name: null },
    id_token: { email: null },
  })

  async function userinfo(fields: Record<string, string>, scope: string) {
    const page = await open({ scope, claims })
    const reply = await approve(server, 'ada', page, fields)
    const { access_token, ...rest } = await redeem(server, client, reply)
    const headers = { authorization: `Bearer ${access_token}` }
    const idToken = String((rest as { id_token?: string }).id_token).split('.')[1] ?? ''
    return {
      response: (await (await server.request('/oauth/userinfo', { headers })).json()) as object,
      idTokenClaims: JSON.parse(Buffer.from(idToken, 'base64url').toString()) as object,
    }
  }

  it.each(['openid', 'openid email'])(
    'are left out if the person declines the scope they belong to, for a request with the scopes "%s"',
    async (scope) => {
      const { response, idTokenClaims } = await userinfo({}, scope)
      expect(response).toEqual({ sub: 'ada', name: 'Ada Lovelace' })
      expect(idTokenClaims).not.toHaveProperty('email')
    },
  )

  it('are returned if the person ticks the scope they belong to', async () => {
    const { response, idTokenClaims } = await userinfo({ 'scope:email': 'allow' }, 'openid')
    expect(response).toMatchObject({ email: 'ada@example.com' })
    expect(idTokenClaims).toMatchObject({ email: 'ada@example.com' })
  })
})

describe('the device page with optional scopes', () => {
  async function answer(fields: Record<string, string> | string) {
    const device = await newDevice(server)
    const { device_code, user_code } = await startDeviceFlow(server, device, { scope: BOTH })
    const page = readPage(await (await typeCode(server, 'ada', user_code)).text())
    const reply = await approve(server, 'ada', page, fields)
    server.clock.advance({ seconds: 5 })
    const polled = await poll(server, device, device_code)
    return { page, reply, response: (await polled.json()) as { scope?: string; error?: string } }
  }

  it('grants the device the ticked scopes', async () => {
    const { page, response } = await answer(TICKED)
    expect(page.ticked).toEqual(TICKED)
    expect(response.scope).toBe(BOTH)
    expect((await answer({})).response.scope).toBe('place-orders')
  })

  it.each(['scope:email=allow', 'scope:*=allow', `${OPTIONAL}=allow&${OPTIONAL}=allow`])(
    'grants nothing for a forged form with the field %s (threat N4)',
    async (fields) => {
      const { reply, response } = await answer(fields)
      expect(reply.status).toBe(400)
      expect(response.error).toBe('authorization_pending')
    },
  )
})

describe('the `optionalScopes` option', () => {
  const start =
    (optionalScopes: string[], scopes: Record<string, string> = { a: 'A' }) =>
    () =>
      createAuthorizationServer({
        issuer: 'http://localhost:4999',
        secret: SECRET,
        database: server.database,
        users: server.users,
        scopes,
        grants: [authorizationCode()],
        features: [openid()],
        optionalScopes,
      })

  it('accepts scopes that are defined', () => {
    expect(start(['a', 'profile'])).not.toThrow()
    expect(start(['b'])).toThrow("optionalScopes: the scope 'b' is not defined.")
  })

  it.each(['openid', 'offline_access'])('rejects the scope %s', (name) => {
    expect(start([name])).toThrow(`optionalScopes: '${name}' cannot be optional.`)
  })

  it('rejects more scopes than a form can send', () => {
    const names = Array.from({ length: 51 }, (_, index) => `s${index}`)
    const scopes = Object.fromEntries(names.map((name) => [name, name]))
    expect(start(names, scopes)).toThrow('optionalScopes: at most 50 scopes are allowed.')
  })
})
