import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExampleApp, type ExampleCommand, startExample } from './example-app.ts'

export interface Example extends ExampleCommand {
  /** Work to do before the application is started. */
  readonly prepare?: () => Promise<void>
  /**
   * Exit code after SIGTERM.
   * @default 0
   */
  readonly exitCode?: number
}

const HALF_A_MINUTE = 30_000

/**
 * Defines the tests that every example must pass, in any framework: the same requests over HTTP to
 * the real process.
 */
export function describeExample({ prepare, exitCode = 0, ...command }: Example): void {
  describe(`the ${command.name} example`, () => {
    let app: ExampleApp
    beforeAll(async () => {
      await prepare?.()
      app = await startExample(command)
    }, 20 * HALF_A_MINUTE)
    afterAll(() => app?.stop())

    it('issues a token for a password, and the API accepts the token', async () => {
      const api = withToken(app, await passwordGrant(app, '*'))
      const user = await api('/api/user')
      expect([user.status, await user.json()]).toEqual([
        200,
        { id: 1, email: 'demo@example.com', name: 'Demo' },
      ])
      expect(await (await api('/api/orders')).json()).toEqual([{ id: 1, status: 'shipped' }])
      const status = await api('/api/orders/status')
      expect(await status.json()).toEqual({ status: 'shipped', mayOrder: true })
    })

    it('rejects a call without a token, with an invalid one, and with a wrong password', async () => {
      const none = await app.fetch('/api/user')
      expect(none.status).toBe(401)
      expect(none.headers.get('www-authenticate')).toMatch(/^Bearer/)
      expect((await withToken(app, 'not-a-token')('/api/user')).status).toBe(401)
      await expect(passwordGrant(app, '*', 'wrong')).rejects.toThrow('invalid_grant')
    })

    it('survives malformed requests', async () => {
      const nobody = await app.fetch('/login', { method: 'POST', headers: { origin: app.url } })
      expect(nobody.status).toBe(401)
      const api = withToken(app, await passwordGrant(app, '*'))
      const headers = { 'content-type': 'application/json' }
      for (const body of ['{', '{}', '{"card":5}', '{"card":"no-such-card"}']) {
        const reply = await api('/api/subscription', { method: 'POST', headers, body })
        expect([body, reply.status >= 400 && reply.status < 500]).toEqual([body, true])
      }
    })

    it('redirects to its own host only after a sign-in', async () => {
      for (const returnTo of ['//evil.example', '/\\evil.example', '/\t/evil.example']) {
        const reply = await postSignIn(app, returnTo)
        const { href } = new URL(reply.headers.get('location') ?? '', app.url)
        expect([returnTo, reply.status, href]).toEqual([returnTo, 303, `${app.url}/`])
      }
    })

    it('asks for approval, and issues a code and a token with only the approved scopes', async () => {
      const session = await signIn(app)
      const code = await approve(app, session, 'check-status')
      const token = await grant(app, {
        grant_type: 'authorization_code',
        redirect_uri: `${app.url}/callback`,
        code,
      })
      const api = withToken(app, token)
      const status = await api('/api/orders/status')
      expect(await status.json()).toEqual({ status: 'shipped', mayOrder: false })
      const orders = await api('/api/orders')
      expect([orders.status, ((await orders.json()) as { error: string }).error]).toEqual([
        403,
        'insufficient_scope',
      ])
      expect((await api('/api/subscription', { method: 'POST' })).status).toBe(403)
    })

    it('lets its own pages call the API and manage tokens, in cookie mode', async () => {
      const session = await signIn(app)
      const page = await app.fetch('/', { headers: { cookie: session } })
      const csrf = /name="csrf-token" content="([^"]+)"/.exec(await page.text())?.[1] ?? ''
      const cookie = `${session}; ${cookieOf(page)}`
      expect(cookie).toContain('tollgate_token=')
      const headers = { cookie, 'x-csrf-token': csrf }
      expect((await app.fetch('/api/orders', { headers })).status).toBe(200)
      expect((await app.fetch('/api/orders', { headers: { cookie } })).status).toBe(401)

      const created = await app.fetch('/oauth/personal-access-tokens', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Script', scopes: ['check-status'] }),
      })
      expect(created.status).toBe(201)
      const { accessToken, token } = (await created.json()) as PersonalToken
      expect((await withToken(app, accessToken)('/api/orders/status')).status).toBe(200)
      const path = `/oauth/personal-access-tokens/${token.id}`
      expect((await app.fetch(path, { method: 'DELETE', headers })).status).toBe(204)
      expect((await withToken(app, accessToken)('/api/orders/status')).status).toBe(401)
    })

    it('publishes its metadata and keys', async () => {
      const metadata = await app.fetch('/.well-known/oauth-authorization-server')
      expect(((await metadata.json()) as { issuer: string }).issuer).toBe(app.url)
      const { keys } = (await (await app.fetch('/.well-known/jwks.json')).json()) as {
        keys: unknown[]
      }
      expect(keys).toHaveLength(1)
    })

    it('subscribes a user, learns of the payment by a webhook and serves the invoice', async () => {
      const api = withToken(app, await passwordGrant(app, '*'))
      const subscribe = (card: string) =>
        api('/api/subscription', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ card }),
        })
      const declined = await subscribe('pm_card_chargeCustomerFail')
      expect([declined.status, ((await declined.json()) as { error: string }).error]).toEqual([
        402,
        'payment_failed',
      ])
      const created = await subscribe('pm_card_visa')
      expect([created.status, await created.json()]).toEqual([201, { plan: 'monthly' }])
      const paid = await app.printed(/Webhook: invoice (\S+) is paid/)

      const state = (await (await api('/api/subscription')).json()) as SubscriptionState
      expect([state.subscribed, state.invoices.length]).toEqual([true, 1])
      const [invoice] = state.invoices
      expect(invoice?.total).toBe('$10.00')
      expect(paid).toContain(invoice?.pdf.split('/').at(-1))

      const pdf = await app.fetch(invoice?.pdf ?? '', { headers: { cookie: await signIn(app) } })
      expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf'])
      expect(await pdf.text()).toMatch(/^%PDF-/)
      expect((await app.fetch(invoice?.pdf ?? '')).status).toBe(401)
      const forged = await app.fetch('/stripe/webhook', { method: 'POST', body: '{}' })
      expect(forged.status).toBe(400)
    })

    it('stops cleanly after SIGTERM', async () => {
      expect(await app.stop()).toBe(exitCode)
    })
  })
}

interface PersonalToken {
  readonly accessToken: string
  readonly token: { readonly id: string }
}

interface SubscriptionState {
  readonly subscribed: boolean
  readonly invoices: ReadonlyArray<{ readonly total: string; readonly pdf: string }>
}

async function grant(app: ExampleApp, fields: Record<string, string>): Promise<string> {
  const client = { client_id: app.client.id, client_secret: app.client.secret }
  const body = new URLSearchParams({ ...client, ...fields })
  const reply = await app.fetch('/oauth/token', { method: 'POST', body })
  const answer = (await reply.json()) as { access_token?: string; error?: string }
  if (!answer.access_token) throw new Error(`No token: ${reply.status} ${answer.error}`)
  return answer.access_token
}

function passwordGrant(app: ExampleApp, scope: string, password = 'demo-password') {
  return grant(app, { grant_type: 'password', username: 'demo@example.com', password, scope })
}

function withToken(app: ExampleApp, token: string) {
  return (path: string, init: RequestInit = {}) =>
    app.fetch(path, {
      ...init,
      headers: { ...(init.headers as object), authorization: `Bearer ${token}` },
    })
}

function cookieOf(reply: Response): string {
  return reply.headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** Posts the sign-in form as a browser would. */
function postSignIn(app: ExampleApp, returnTo: string): Promise<Response> {
  return app.fetch('/login', {
    method: 'POST',
    headers: { origin: app.url },
    body: new URLSearchParams({
      email: 'demo@example.com',
      password: 'demo-password',
      return_to: returnTo,
    }),
  })
}

/** Signs in. Returns the session's cookie. */
async function signIn(app: ExampleApp, returnTo = '/'): Promise<string> {
  const reply = await postSignIn(app, returnTo)
  expect([reply.status, new URL(reply.headers.get('location') ?? '', app.url).href]).toEqual([
    303,
    new URL(returnTo, app.url).href,
  ])
  return cookieOf(reply)
}

/** Follows the client's link through sign-in and approval. Returns the code. */
async function approve(app: ExampleApp, session: string, scope: string): Promise<string> {
  const query = new URLSearchParams({
    client_id: app.client.id,
    redirect_uri: `${app.url}/callback`,
    response_type: 'code',
    scope,
    state: 'a state & more',
  })
  const target = `/oauth/authorize?${query}`
  const stranger = await app.fetch(target, { headers: { accept: 'text/html' } })
  const login = new URL(stranger.headers.get('location') ?? '', app.url)
  expect(login.pathname).toBe('/login')
  const form = await (await app.fetch(login)).text()
  const returnTo =
    /name="return_to" value="([^"]+)"/.exec(form)?.[1]?.replaceAll('&amp;', '&') ?? ''

  const screen = await app.fetch(returnTo, { headers: { accept: 'text/html', cookie: session } })
  const html = await screen.text()
  expect(html).toContain('Check order status')
  const decision = await app.fetch(/action="([^"]+)"/.exec(html)?.[1] ?? '', {
    method: 'POST',
    headers: { cookie: session, origin: app.url },
    body: new URLSearchParams({
      csrf_token: /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? '',
      decision: 'approve',
    }),
  })
  expect(decision.status).toBe(303)
  const back = new URL(decision.headers.get('location') ?? '')
  expect([back.pathname, back.searchParams.get('state')]).toEqual(['/callback', 'a state & more'])
  return back.searchParams.get('code') ?? ''
}
