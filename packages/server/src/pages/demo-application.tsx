import { createHash, randomBytes } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { Child, FC } from 'hono/jsx'
import type { DemoClient, DemoClientName, DemoState } from '../demo/state-file.ts'
import type { AppEnv } from '../http/variables.ts'
import { Submit } from './parts/fields.tsx'
import { readForm } from './parts/forms.ts'
import { usePage } from './parts/layout.tsx'
import { renderPage } from './parts/render.tsx'

type FlowName = Extract<DemoClientName, 'web' | 'public' | 'implicit'>

/** The response type that each kind of demo application requests. */
const FLOWS: Readonly<Record<FlowName, { response: string }>> = {
  web: { response: 'code' },
  public: { response: 'code' },
  implicit: { response: 'token' },
}

const COOKIE = 'demo_application'
/** The state that the application keeps while the person is at the authorization server. */
interface Pending {
  readonly flow: FlowName
  readonly state: string
  readonly verifier: string
}

/**
 * Adds a simulated third-party application, which shows each OAuth flow from the client's side.
 * Only for demos.
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
    const { t } = c.get('page')
    const returned = new URL(c.req.url).searchParams
    const mayExchange = returned.has('code') && readPendingFlow(c)?.state === returned.get('state')
    return demoPage(
      c,
      <>
        <p>{t('demo.returned')}</p>
        <Pairs pairs={[...returned]} />
        {mayExchange && (
          <form method="post" action="/callback">
            <input type="hidden" name="code" value={returned.get('code') ?? ''} />
            <p>{t('demo.code')}</p>
            <Submit class="primary">{t('demo.exchange')}</Submit>
          </form>
        )}
        <noscript>
          <p class="notice">{t('demo.needsScript')}</p>
        </noscript>
      </>,
    )
  })

  app.post('/callback', async (c) => {
    const code = (await readForm(c)).get('code') ?? ''
    const pending = readPendingFlow(c)
    const { service, t } = c.get('page')
    const { url } = service
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
        <p>{t.parts('demo.response', { request: <code>POST /oauth/token</code> })}</p>
        <Pairs pairs={Object.entries(tokens).map(([name, value]) => [name, String(value)])} />
        {orders && (
          <>
            <p>
              {t.parts('demo.api', {
                request: <code>GET /api/orders</code>,
                status: orders.status,
              })}
            </p>
            <pre>{await orders.text()}</pre>
          </>
        )}
      </>,
    )
  })
}

/** The list of OAuth flows to try out, shown on the home page of a demo. */
export const DemoFlows: FC<{ implicit: boolean }> = ({ implicit }) => {
  const { t } = usePage()
  const flows = (['web', 'public', 'implicit'] as const).filter(
    (name) => implicit || name !== 'implicit',
  )
  return (
    <section class="card" aria-labelledby="try">
      <h2 id="try">{t('demo.try')}</h2>
      <p class="lead">{t('demo.try.text')}</p>
      <form method="post" action="/demo/start" class="tiles">
        {flows.map((name) => (
          <button class="tile" type="submit" name="flow" value={name}>
            <strong>{t(`demo.${name}`)}</strong>
            <small>{t(`demo.${name}.text`)}</small>
          </button>
        ))}
      </form>
    </section>
  )
}

function demoPage(c: Context<AppEnv>, content: Child) {
  const { t } = c.get('page')
  return renderPage(
    c,
    { title: t('demo.title') },
    <section class="card">
      <p class="badge">{t('demo.badge')}</p>
      <h1>{t('demo.heading')}</h1>
      {content}
      <p>
        <a href="/">{t('layout.firstPage')}</a> ·{' '}
        <a href="/applications">{t('applications.title')}</a>
      </p>
    </section>,
  )
}

/** Name-value pairs. The script adds those in the URL fragment. */
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

function readPendingFlow(c: Context<AppEnv>): Pending | null {
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
