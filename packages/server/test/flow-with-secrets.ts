import { expect } from 'vitest'
import type { TestService } from './support.ts'

/**
 * Signs in, gets tokens with an authorization code, a refresh token and on the page, and pays for a
 * subscription. Returns every secret that was used, none of which may be logged or traced, and a
 * message of an error that contains some.
 */
export async function runFlowWithSecrets(
  service: TestService,
): Promise<{ readonly secrets: readonly string[]; readonly failWith: string }> {
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
  return {
    secrets: secrets.filter((text) => text.length > 3),
    failWith: `Bearer ${tokens.access_token} ${secret}`,
  }
}
