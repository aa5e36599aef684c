import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  createAuthorizationServer,
  deviceCode,
  implicit,
  openid,
  refreshToken,
} from '../../src/index.ts'
import { begin, newDevice, poll, typeCode } from '../device/support.ts'
import { KnownPeople } from '../openid/support.ts'
import { askFor, createClient, REDIRECT, SECRET, startServer, type TestServer } from '../support.ts'
import { type ApprovalForm, approve, readPage, redeem } from './support.ts'

const BOTH = 'place-orders check-status'
const OPTIONAL = 'scope:check-status'
const TICKED = { [OPTIONAL]: 'allow' }

let server: TestServer
let client: { id: string; secret: string }

beforeAll(async () => {
  server = await startServer({
    optionalScopes: ['check-status', 'email'],
    users: new KnownPeople(),
    grants: [authorizationCode(), refreshToken(), implicit(), deviceCode()],
    features: [openid()],
  })
})
beforeEach(async () => {
  client = await createClient(server)
})
afterAll(() => server.close())

const ask = (changes: Record<string, string> = {}, user = 'ada') =>
  askFor(server, user, {
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

/** Approves with these fields; gives the scopes of the token. */
async function scopesAfter(
  fields: Record<string, string>,
  changes: Record<string, string> = {},
): Promise<string> {
  return (await redeem(server, client, await approve(server, 'ada', await open(changes), fields)))
    .scope
}

describe('an optional scope', () => {
  it('that a first-party client asks for later is given; one that was left out stays out', async () => {
    client = await createClient(server, { firstParty: true })
    const asked = { scope: 'check-status', prompt: 'consent' }
    expect(await scopesAfter({}, asked)).toBe('')
    expect((await redeem(server, client, await ask())).scope).toBe('place-orders')
  })

  it('has a ticked checkbox; others have none', async () => {
    const { ticked, html } = await open()
    expect(ticked).toEqual(TICKED)
    expect(html).toContain('<li>Place orders</li>')
    expect(html).not.toContain('<li>Check order status</li>')
  })

  it('is granted when it is ticked, and left out when it is not; the client is told', async () => {
    expect(await scopesAfter(TICKED)).toBe(BOTH)
    expect(await scopesAfter({}, { prompt: 'consent' })).toBe('place-orders')
  })

  it('is left out of a token in the redirect too', async () => {
    const spa = await createClient(server, { grants: ['implicit'] })
    const page = await open({ client_id: spa.id, response_type: 'token' })
    const reply = await approve(server, 'ada', page, {})
    const fragment = new URLSearchParams(reply.headers.get('location')?.split('#')[1])
    expect(fragment.get('scope')).toBe('place-orders')
  })

  it('cannot come back by a refresh', async () => {
    const { refresh_token } = await redeem(
      server,
      client,
      await approve(server, 'ada', await open(), {}),
    )
    const form = { client_id: client.id, client_secret: client.secret, refresh_token }
    const wider = { grant_type: 'refresh_token', ...form, scope: BOTH }
    expect((await server.post('/oauth/token', wider)).status).toBe(400)
  })

  it('that is all there was leaves a token that may do nothing', async () => {
    expect(await scopesAfter({}, { scope: 'check-status' })).toBe('')
  })
})

describe('what was left out', () => {
  it('is neither asked for again nor given in silence', async () => {
    await scopesAfter({})
    for (const prompt of ['', 'none']) {
      const again = await ask({ prompt })
      expect(again.status).toBe(303)
      expect((await redeem(server, client, again)).scope).toBe('place-orders')
    }
  })

  it('is asked for again when the client wants the screen, with the box as it was left', async () => {
    await scopesAfter({})
    const page = await open({ prompt: 'consent' })
    expect(page.html).toContain(`name="${OPTIONAL}"`)
    expect(page.ticked).toEqual({})
    await approve(server, 'ada', page, TICKED)
    expect((await redeem(server, client, await ask())).scope).toBe(BOTH)
  })

  it('is taken back though it was approved before', async () => {
    await scopesAfter(TICKED)
    await scopesAfter({}, { prompt: 'consent' })
    expect((await redeem(server, client, await ask())).scope).toBe('place-orders')
    const consents = await server.oauth.consents.listByUser('ada')
    expect(consents.find(({ clientId }) => clientId === client.id)).toMatchObject({
      scopes: ['place-orders'],
      declined: ['check-status'],
    })
  })

  it('does not count for scopes that were not asked for then', async () => {
    await scopesAfter({}, { scope: 'check-status' })
    expect((await ask()).status).toBe(200)
  })

  it('is asked for again once nobody may leave it out', async () => {
    await scopesAfter({})
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

  it('is forgotten with the approval', async () => {
    await scopesAfter({})
    await server.oauth.consents.revoke('ada', client.id)
    expect((await open()).ticked).toEqual(TICKED)
  })
})

describe('threat N4: a forged form', () => {
  const forged: ReadonlyArray<readonly [string, string]> = [
    ['more than was asked for', 'scope:email=allow'],
    ['an unknown scope', 'scope:everything=allow'],
    ['every scope', 'scope:*=allow'],
    ['no scope at all', 'scope:=allow'],
    ['a key of the prototype', 'scope:__proto__=allow'],
    ['another value', `${OPTIONAL}=on`],
    ['a box twice', `${OPTIONAL}=allow&${OPTIONAL}=allow`],
  ]

  it.each(forged)('with %s gets nothing, and the page is good still', async (_, fields) => {
    const page = await open()
    const reply = await approve(server, 'ada', page, fields)
    expect(reply.status).toBe(400)
    expect(reply.headers.get('location')).toBeNull()
    const after = await approve(server, 'ada', page, TICKED)
    expect((await redeem(server, client, after)).scope).toBe(BOTH)
  })

  it('cannot leave out what is required', async () => {
    expect(await scopesAfter({ scope: '', scopes: 'check-status' })).toBe('place-orders')
  })

  it('cannot widen by a parameter of another name', async () => {
    const fields = { ...TICKED, scope: 'place-orders check-status email' }
    expect(await scopesAfter(fields)).toBe(BOTH)
  })

  it('of another person is refused', async () => {
    const page = await open()
    const reply = await approve(server, 'bob', page, TICKED)
    expect(reply.status).toBe(400)
    expect(await server.oauth.consents.listByUser('bob')).toEqual([])
  })

  it('is answered once, whatever the second one ticks', async () => {
    const page = await open()
    expect((await approve(server, 'ada', page, {})).status).toBe(303)
    expect((await approve(server, 'ada', page, TICKED)).status).toBe(400)
    expect((await redeem(server, client, await ask())).scope).toBe('place-orders')
  })
})

describe('claims that are asked for by name', () => {
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
      told: (await (await server.request('/oauth/userinfo', { headers })).json()) as object,
      inToken: JSON.parse(Buffer.from(idToken, 'base64url').toString()) as object,
    }
  }

  it.each(['openid', 'openid email'])(
    'go with their scope when it is left out (%s)',
    async (scope) => {
      const { told, inToken } = await userinfo({}, scope)
      expect(told).toEqual({ sub: 'ada', name: 'Ada Lovelace' })
      expect(inToken).not.toHaveProperty('email')
    },
  )

  it('are told when it is ticked', async () => {
    const { told, inToken } = await userinfo({ 'scope:email': 'allow' }, 'openid')
    expect(told).toMatchObject({ email: 'ada@example.com' })
    expect(inToken).toMatchObject({ email: 'ada@example.com' })
  })
})

describe('a device', () => {
  async function answer(fields: Record<string, string> | string) {
    const device = await newDevice(server)
    const { device_code, user_code } = await begin(server, device, { scope: BOTH })
    const page = readPage(await (await typeCode(server, 'ada', user_code)).text())
    const reply = await approve(server, 'ada', page, fields)
    server.clock.advance('5s')
    const polled = await poll(server, device, device_code)
    return { page, reply, told: (await polled.json()) as { scope?: string; error?: string } }
  }

  it('gets what is ticked', async () => {
    const { page, told } = await answer(TICKED)
    expect(page.ticked).toEqual(TICKED)
    expect(told.scope).toBe(BOTH)
    expect((await answer({})).told.scope).toBe('place-orders')
  })

  it.each(['scope:email=allow', 'scope:*=allow', `${OPTIONAL}=allow&${OPTIONAL}=allow`])(
    'threat N4 gets nothing by a forged form (%s)',
    async (fields) => {
      const { reply, told } = await answer(fields)
      expect(reply.status).toBe(400)
      expect(told.error).toBe('authorization_pending')
    },
  )
})

describe('the option', () => {
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

  it('takes scopes that are defined', () => {
    expect(start(['a', 'profile'])).not.toThrow()
    expect(start(['b'])).toThrow("optionalScopes: the scope 'b' is not defined.")
  })

  it.each(['openid', 'offline_access'])('refuses %s', (name) => {
    expect(start([name])).toThrow(`optionalScopes: nobody can leave out '${name}'.`)
  })

  it('takes no more than a form can send', () => {
    const names = Array.from({ length: 51 }, (_, index) => `s${index}`)
    const scopes = Object.fromEntries(names.map((name) => [name, name]))
    expect(start(names, scopes)).toThrow('optionalScopes: there may be at most 50.')
  })
})
