import { createHash, randomBytes } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { Child, FC } from 'hono/jsx'
import type { DemoClient, DemoClientName, DemoState } from '../demo/state-file.ts'
import type { AppEnv } from '../http/variables.ts'
import { readForm } from './parts/forms.ts'
import { renderPage } from './parts/render.tsx'

type FlowName = Extract<DemoClientName, 'web' | 'public' | 'implicit'>

/** What an application of each kind asks for. */
const FLOWS: Readonly<Record<FlowName, { title: string; text: string; response: string }>> = {
  web: { title: 'Web application', text: 'Authorization code and a secret.', response: 'code' },
  public: { title: 'Mobile application', text: 'Authorization code with PKCE.', response: 'code' },
  implicit: { title: 'Browser application', text: 'The implicit flow.', response: 'token' },
}

const COOKIE = 'demo_application'
/** What an application remembers of somebody it has sent to authorize. */
interface Pending {
  readonly flow: FlowName
  readonly state: string
  readonly verifier: string
}

/**
 * Plays the third-party application that the demo's clients belong to, so that a flow can be seen from
 * its side. Only in a demo: elsewhere these addresses do not exist.
 */
export function addDemoApplication(app: Hono<AppEnv>, demo: DemoState): void {
  app.post('/demo/start', async (c) => {
    const flow = (await readForm(c)).get('flow') ?? ''
    const client = Object.hasOwn(FLOWS, flow) ? demo.clients[flow as FlowName] : undefined
    if (!client) return c.notFound()
    const { url } = c.get('page').service
    const pending = { flow: flow as FlowName, state: newSecret(), verifier: newSecret() }
    setCookie(c, COOKIE, JSON.stringify(pending), {
      path: '/callback',
      httpOnly: true,
      sameSite: 'Lax',
      secure: url.startsWith('https:'),
      maxAge: 600,
    })
    return c.redirect(authorizeAddress(url, client, pending), 303)
  })

  app.get('/callback', (c) => {
    const returned = new URL(c.req.url).searchParams
    const mayExchange = returned.has('code') && pendingOf(c)?.state === returned.get('state')
    return demoPage(
      c,
      <>
        <p>The browser was sent back here. This is what the application sees in the address:</p>
        <Pairs pairs={[...returned]} />
        {mayExchange && (
          <form method="post" action="/callback">
            <input type="hidden" name="code" value={returned.get('code') ?? ''} />
            <p>
              The code works once, for a minute, and only together with what the application knows.
            </p>
            <button class="primary" type="submit">
              Exchange the code for a token
            </button>
          </form>
        )}
        <noscript>
          <p class="notice">
            A token of the implicit flow stands behind the # of the address, which only JavaScript
            can read.
          </p>
        </noscript>
      </>,
    )
  })

  app.post('/callback', async (c) => {
    const code = (await readForm(c)).get('code') ?? ''
    const pending = pendingOf(c)
    const { url } = c.get('page').service
    const client = demo.clients[pending?.flow ?? 'web']
    if (!client) return c.notFound()
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: client.id,
      ...(client.secret === null ? {} : { client_secret: client.secret }),
      redirect_uri: `${url}/callback`,
      code,
      ...(pending?.flow === 'public' ? { code_verifier: pending.verifier } : {}),
    })
    const answered = await app.request('/oauth/token', { method: 'POST', body: form }, c.env)
    const tokens = (await answered.json()) as Record<string, unknown>
    const authorization = `Bearer ${tokens.access_token}`
    const orders = answered.ok
      ? await app.request('/api/orders', { headers: { authorization } }, c.env)
      : null
    return demoPage(
      c,
      <>
        <p>
          The answer of <code>POST /oauth/token</code>:
        </p>
        <Pairs pairs={Object.entries(tokens).map(([name, value]) => [name, String(value)])} />
        {orders && (
          <>
            <p>
              With that token <code>GET /api/orders</code> answers {orders.status}:
            </p>
            <pre>{await orders.text()}</pre>
          </>
        )}
      </>,
    )
  })
}

/** The ways to try it, for the first page. */
export const DemoFlows: FC<{ implicit: boolean }> = ({ implicit }) => {
  const flows = Object.entries(FLOWS).filter(([name]) => implicit || name !== 'implicit')
  return (
    <section class="card" aria-labelledby="try">
      <h2 id="try">Try it as an application</h2>
      <p class="lead">
        This demo plays an application that somebody else wrote. Let it ask for access to your
        account and see each step.
      </p>
      <form method="post" action="/demo/start" class="tiles">
        {flows.map(([name, { title, text }]) => (
          <button class="tile" type="submit" name="flow" value={name}>
            <strong>{title}</strong>
            <small>{text}</small>
          </button>
        ))}
      </form>
    </section>
  )
}

function demoPage(c: Context<AppEnv>, content: Child) {
  return renderPage(
    c,
    { title: 'Demonstration application' },
    <section class="card">
      <p class="badge">Demonstration</p>
      <h1>A third-party application</h1>
      {content}
      <p>
        <a href="/">Back to the first page</a> · <a href="/applications">Authorized applications</a>
      </p>
    </section>,
  )
}

/** The script adds what stands behind the # of the address. */
const Pairs: FC<{ pairs: ReadonlyArray<readonly [string, string]> }> = ({ pairs }) => (
  <dl class="pairs" data-fragment>
    {pairs.map(([name, value]) => (
      <div>
        <dt>{name}</dt>
        <dd>
          <code>{value}</code>
        </dd>
      </div>
    ))}
  </dl>
)

function authorizeAddress(url: string, client: DemoClient, pending: Pending): string {
  const { response } = FLOWS[pending.flow]
  const challenge = createHash('sha256').update(pending.verifier).digest('base64url')
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: `${url}/callback`,
    response_type: response,
    scope: 'place-orders check-status',
    state: pending.state,
    ...(pending.flow === 'public'
      ? { code_challenge: challenge, code_challenge_method: 'S256' }
      : {}),
  })
  return `${url}/oauth/authorize?${query}`
}

function pendingOf(c: Context<AppEnv>): Pending | null {
  try {
    const { flow, state, verifier } = JSON.parse(getCookie(c, COOKIE) ?? '')
    const known = typeof flow === 'string' && Object.hasOwn(FLOWS, flow)
    return known && typeof state === 'string' && typeof verifier === 'string'
      ? { flow: flow as FlowName, state, verifier }
      : null
  } catch {
    return null
  }
}

function newSecret(): string {
  return randomBytes(32).toString('base64url')
}
