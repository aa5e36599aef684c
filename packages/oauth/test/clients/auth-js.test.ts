import { Auth, type AuthConfig } from '@auth/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openid, systemClock } from '../../src/index.ts'
import { UsersWithClaims } from '../openid/support.ts'
import { createClient, type ListeningServer, listen } from '../support.ts'
import { decideInBrowser } from './browser.ts'
import { createCookieJar } from './cookie-jar.ts'

const SITE = 'https://shop.example'

let server: ListeningServer
let config: AuthConfig
let person: ReturnType<typeof createCookieJar>
beforeAll(async () => {
  server = await listen({ clock: systemClock, users: new UsersWithClaims(), features: [openid()] })
  const { id, secret } = await createClient(server, {
    redirect: `${SITE}/auth/callback/tollgate`,
    settings: { claims_in_id_token: true },
  })
  config = {
    basePath: '/auth',
    secret: 'a secret of the shop, for its own cookies',
    trustHost: true,
    logger: { error: () => {} },
    // The complete configuration that its documentation requires for a custom provider.
    providers: [
      {
        id: 'tollgate',
        name: 'Tollgate',
        type: 'oidc',
        issuer: server.url,
        clientId: id,
        clientSecret: secret,
      },
    ],
  }
})
afterAll(() => server.close())
beforeEach(() => {
  person = createCookieJar((request) => Auth(request, config) as Promise<Response>)
})

/** Presses "Sign in with Tollgate" and returns the URL the browser is sent to. */
async function begin(): Promise<URL> {
  const { csrfToken } = await (await person.fetch(`${SITE}/auth/csrf`)).json()
  const reply = await person.fetch(`${SITE}/auth/signin/tollgate`, {
    method: 'POST',
    body: new URLSearchParams({ csrfToken, callbackUrl: `${SITE}/basket` }),
  })
  return new URL(reply.headers.get('location') ?? `error:${reply.status}`)
}

const landed = async (url: URL) => (await person.fetch(url)).headers.get('location')
const session = async () => (await person.fetch(`${SITE}/auth/session`)).json()

describe('Auth.js as the client', () => {
  it('signs a person in and reads the name and e-mail address', async () => {
    const url = await begin()
    expect(url.searchParams.get('code_challenge_method')).toBe('S256')
    expect(await landed(await decideInBrowser(url))).toBe(`${SITE}/basket`)
    expect(await session()).toMatchObject({
      user: { name: 'Ada Lovelace', email: 'ada@example.com' },
    })
  })

  it('reports a failed sign-in when the person denies the request', async () => {
    const callback = await decideInBrowser(await begin(), { user: 'bob', decision: 'deny' })
    expect(callback.searchParams.get('error')).toBe('access_denied')
    expect(await landed(callback)).toContain('error')
    expect(await session()).toBeNull()
  })

  it('rejects a callback for a flow that another browser began, and a code that was used before', async () => {
    const stolen = await decideInBrowser(await begin())
    person.cookies.clear()
    await begin()
    expect(await landed(stolen)).toContain('error')
    const mine = await decideInBrowser(await begin())
    const kept = new Map(person.cookies)
    await landed(mine)
    expect(await session()).not.toBeNull()
    person.cookies.clear()
    for (const [name, value] of kept) person.cookies.set(name, value)
    expect(await landed(mine)).toContain('error')
    expect(await session()).toBeNull()
  })
})
