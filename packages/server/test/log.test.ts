import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ config: { logLevel: 'debug' } })
})
afterAll(() => service.stop())

it('the log of a complete sign-in and token flow contains one line per request, and no secret (threat M3)', async () => {
  const { email = '', password = '', clients } = service.demo ?? {}
  const { id = '', secret = '' } = clients?.web ?? {}
  const secrets: string[] = [password, secret ?? '', 'wrong-password-1', 'another secret word']
  const browser = service.browser()
  await browser.signIn(email, 'wrong-password-1')
  await browser.signIn(email, password)
  secrets.push(...browser.cookies.values(), await browser.csrfToken())
  secrets.push(...browser.cookies.values())

  // The code flow, with its code in a URL.
  const redirect = `${service.url}/callback`
  const query = new URLSearchParams({
    client_id: id,
    redirect_uri: redirect,
    response_type: 'code',
    scope: 'place-orders',
    state: 'state-that-is-private',
  })
  const consent = await browser.get(`/oauth/authorize?${query}`)
  const page = consent.status === 200 ? await consent.text() : ''
  const action = /action="([^"]+)"/.exec(
    page.replaceAll('&amp;', '&').split('/logout').at(-1) ?? '',
  )
  const csrf = /name="csrf_token" value="([^"]+)"/.exec(page.slice(page.indexOf('authorize?')))
  const target = action?.[1] ?? ''
  const approved = await browser.post(target, { csrf_token: csrf?.[1] ?? '', decision: 'approve' })
  const code = new URL(approved.headers.get('location') ?? '', service.url).searchParams.get('code')
  expect(code).not.toBeNull()
  secrets.push(code ?? '', csrf?.[1] ?? '', 'state-that-is-private')
  await browser.get(`/callback?code=${code}&state=state-that-is-private`)

  const exchange = async (form: Record<string, string>) => {
    const basic = Buffer.from(`${id}:${secret}`).toString('base64')
    secrets.push(basic)
    const response = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams(form),
    })
    return (await response.json()) as { access_token: string; refresh_token: string }
  }
  const tokens = await exchange({
    grant_type: 'authorization_code',
    code: code ?? '',
    redirect_uri: redirect,
  })
  const refreshed = await exchange({
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
  })
  for (const each of [tokens, refreshed]) secrets.push(each.access_token, each.refresh_token)
  await exchange({ grant_type: 'refresh_token', refresh_token: 'another secret word' })
  await fetch(`${service.url}/api/user?access_token=${refreshed.access_token}`, {
    headers: { authorization: `Bearer ${refreshed.access_token}` },
  })
  const personal = await browser.api('/oauth/personal-access-tokens', {
    method: 'POST',
    body: { name: 'mine', scopes: [] },
  })
  secrets.push(personal.body.accessToken)

  // Billing with webhooks, including a forged one.
  const user = await service.users.findByEmail(email)
  const billable = await service.billing.user(Number(user?.id))
  await billable.newSubscription('main', 'monthly').create('pm_card_visa')
  await service.advance({ months: 1 })
  await fetch(`${service.url}/stripe/webhook`, {
    method: 'POST',
    headers: { 'stripe-signature': 't=1,v1=another secret word' },
    body: '{"id":"evt_1"}',
  })
  secrets.push(service.sandbox?.stripe.apiKey ?? '', service.demo?.stripeWebhook.secret ?? '')
  secrets.push(service.sandbox?.braintree.config.privateKey ?? '')

  // An internal error, with secrets in its message.
  service.logger.error({ err: new Error(`Bearer ${tokens.access_token} ${secret}`) }, 'failed')

  const log = service.log()
  for (const each of secrets.filter((text) => text.length > 3)) {
    expect(log.includes(each), `the log holds ${each.slice(0, 12)}…`).toBe(false)
  }
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const token = lines.find(({ path }) => path === '/oauth/token')
  expect(token).toMatchObject({ level: 'info', method: 'POST', status: 200, address: '127.0.0.1' })
  expect(lines.filter(({ path }) => path === '/stripe/webhook').length).toBeGreaterThan(2)
})

it('the id of a request is in its response and in its log line, and callers cannot choose it', async () => {
  const ids = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const headers = { 'x-request-id': 'chosen-by-the-caller' }
      return (await fetch(`${service.url}/api/user`, { headers })).headers.get('x-request-id')
    }),
  )
  expect(new Set(ids).size).toBe(5)
  expect(ids).not.toContain('chosen-by-the-caller')
  const log = service.log()
  for (const id of ids) expect(log).toContain(`"request_id":"${id}"`)
})
