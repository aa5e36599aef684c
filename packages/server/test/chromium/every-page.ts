import { computeTotpCode, totpStepAt } from '../../src/factors/totp.ts'
import type { TestService } from '../support.ts'

/** A page of the service, and the person who opens it. */
export interface EveryPage {
  readonly name: string
  readonly path: string
  readonly by: 'stranger' | 'operator' | 'newcomer' | 'customer' | 'challenged' | 'halfway'
  /** HTTP status of an error page. */
  readonly status?: number
}

type Cookies = ReadonlyMap<string, string>

export interface PageTour {
  readonly pages: readonly EveryPage[]
  readonly cookies: Readonly<Record<EveryPage['by'], Cookies>>
}

const LONG = 'Adalbertina-Wilhelmina-Friederike-von-Hohenzollern-Sigmaringen'
const PASSWORD = 'a long password'

/** Fills a service with data on every page, and lists the pages. */
export async function everyPage(service: TestService): Promise<PageTour> {
  const { demo, oauth, users } = service
  const operator = await signedIn(service, demo?.email ?? '', demo?.password ?? '')
  const operatorId = (await users.findByEmail(demo?.email ?? ''))?.id ?? ''
  const [customer, newcomer, challenged] = await Promise.all(
    ['customer', 'newcomer', 'challenged'].map((name) => person(service, name)),
  )
  if (!customer || !newcomer || !challenged) throw new Error('A person is missing')

  // User input must not make a page wider than the window.
  const name = 'W'.repeat(191)
  const redirect = `https://app.example.com/${'a'.repeat(300)}`
  await oauth.clients.create({ userId: operatorId, name, redirect })
  await oauth.tokens.createPersonal({ userId: operatorId, name, scopes: ['check-status'] })
  await oauth.tokens.createPersonal({ userId: operatorId, name: 'Backup', scopes: [] })
  const photos = 'https://photos.example/callback'
  const { client } = await oauth.clients.create({ userId: customer.id, name, redirect: photos })
  const asked = `/oauth/authorize?${new URLSearchParams({ client_id: client.id, response_type: 'code', scope: 'place-orders' })}`
  await approve(operator, asked)
  const [session] = (await service.sessions.list(operatorId)).filter(({ browser }) => browser)
  await subscribe(customer, 'pm_card_visa')
  await subscribe(challenged, 'pm_card_authenticationRequired')
  const billable = await service.billing.user(Number(customer.id))
  await (await billable.subscription('main')).updateQuantity(3)
  const { id: method } = await billable.addPaymentMethod('pm_card_mastercard')
  const links = await sendLinks(service, demo?.email ?? '')
  const user = customer.id
  const team = await newTeam(customer)
  const halfway = await personWithSecondFactor(service)
  for (const userId of [operatorId, user]) {
    const identity = { provider: 'google', subject: userId, email: `${LONG}@example.com` }
    await users.identities.link(userId, identity)
  }
  const page = (by: EveryPage['by'], named: string, path: string, status?: number): EveryPage => ({
    name: named,
    path,
    by,
    ...(status ? { status } : {}),
  })
  return {
    cookies: {
      stranger: new Map(),
      operator: operator.cookies,
      newcomer: newcomer.browser.cookies,
      customer: customer.browser.cookies,
      challenged: challenged.browser.cookies,
      halfway: halfway.cookies,
    },
    pages: [
      page('stranger', 'sign-in', '/login'),
      page('stranger', 'sign-in-asked', `/login?return_to=${encodeURIComponent(asked)}`),
      page('stranger', 'register', '/register'),
      page('stranger', 'forgotten', '/recovery/forgot'),
      page('stranger', 'mail-sent', '/recovery/sent?what=reset'),
      page('stranger', 'recovered', '/recovery/done?what=reset'),
      ...links.map((path, at) => page('stranger', `link-${at}`, path)),
      page('stranger', 'unusable-link', '/recovery/reset?token=used', 404),
      page('stranger', 'signed-out', '/oauth/logout'),
      page('operator', 'home', '/'),
      page('operator', 'not-found', '/nowhere', 404),
      page('operator', 'account', '/account'),
      page('operator', 'account-email', '/account/email'),
      page('operator', 'security', '/account/security'),
      page('operator', 'security-app', '/account/security/app'),
      page('operator', 'security-passkey', '/account/security/passkey'),
      page('operator', 'security-codes', '/account/security/recovery-codes'),
      page('halfway', 'second-step', '/login/second-step'),
      page('operator', 'sessions', '/account/sessions'),
      page('operator', 'session-end', `/account/sessions/end?session=${session?.id ?? ''}`),
      page('operator', 'sessions-end-others', '/account/sessions/end-others'),
      page('operator', 'links', '/account/links'),
      page('operator', 'sign-in-with-failed', '/login/with/google/callback', 400),
      page('operator', 'account-delete-refused', '/account/delete'),
      page('customer', 'account-export', '/account/export'),
      page('customer', 'account-delete', '/account/delete'),
      page('operator', 'clients', '/clients'),
      page('customer', 'client', `/clients/${client.id}`),
      page('operator', 'tokens', '/tokens'),
      page('operator', 'applications', '/applications'),
      page('operator', 'application-revoke', `/applications/revoke?client=${client.id}`),
      page('operator', 'consent', `${asked}&prompt=consent`),
      page('operator', 'refused', '/oauth/authorize?client_id=nobody', 400),
      page('operator', 'device', '/oauth/device?user_code=BCDF-GHJK'),
      page('operator', 'sign-out', '/oauth/logout'),
      page('operator', 'demo-callback', '/callback?code=abc&state=xyz'),
      page('operator', 'overview', '/admin'),
      page('operator', 'people', '/admin/people'),
      page('operator', 'operator-account', `/admin/people/${user}`),
      page('operator', 'operator-sign-out', `/admin/people/${user}/sign-out`),
      page('operator', 'operator-reset-factors', `/admin/people/${user}/reset-factors`),
      page('operator', 'operator-disable', `/admin/people/${user}/disable`),
      page('operator', 'operator-delete', `/admin/people/${user}/delete`),
      page('newcomer', 'billing-newcomer', '/billing'),
      page('newcomer', 'billing-newcomer-braintree', '/billing?provider=braintree'),
      page('customer', 'billing', '/billing'),
      page('customer', 'billing-swap', '/billing/swap?plan=yearly'),
      page('customer', 'billing-cancel', '/billing/cancel'),
      page('customer', 'billing-card-delete', `/billing/card/delete?method=${method}`),
      page('customer', 'billing-returned', '/billing/returned?reason=invoice_not_found', 404),
      ...teamPages(team).map(([named, path]) => page('customer', named, path)),
      page('challenged', 'billing-unpaid', '/billing'),
      page('challenged', 'billing-confirm', '/billing/confirm'),
    ],
  }
}

/** Creates a team with an open invitation. Returns its path, or `null` without the setting `teams`. */
async function newTeam({ browser }: Person): Promise<string | null> {
  const csrf_token = await browser.csrfToken()
  const made = await browser.post('/teams', { csrf_token, name: 'W'.repeat(100) })
  const [path = ''] = (made.headers.get('location') ?? '').split('?')
  if (path === '') return null
  const email = `${'w'.repeat(60)}@example.com`
  await browser.post(`${path}/invite`, { csrf_token, email, role: 'member' })
  return path
}

function teamPages(team: string | null): ReadonlyArray<readonly [name: string, path: string]> {
  if (team === null) return []
  return [
    ['teams', '/teams'],
    ['team', team],
    ['team-leave', `${team}/leave`],
    ['team-delete', `${team}/delete`],
    ['team-billing', `${team}/billing`],
  ]
}

type Browser = ReturnType<TestService['browser']>

interface Person {
  readonly id: string
  readonly browser: Browser
}

async function person(service: TestService, name: string): Promise<Person> {
  const email = `${name}-with-a-long-address@example.com`
  const { id } = await service.users.create({ email, password: PASSWORD, name: LONG })
  return { id, browser: await signedIn(service, email, PASSWORD) }
}

/** Returns the browser of a person who has entered the password, but not the second factor. */
async function personWithSecondFactor(service: TestService): Promise<Browser> {
  const email = 'halfway@example.com'
  const { id } = await service.users.create({ email, password: PASSWORD })
  const enrolment = service.factors.beginTotp({ id, email })
  const step = totpStepAt(service.clock.now())
  await service.factors.addTotp(id, enrolment, computeTotpCode(enrolment.secret, step))
  await service.factors.renewRecoveryCodes(id)
  const browser = service.browser()
  await browser.signIn(email, PASSWORD)
  return browser
}

async function signedIn(service: TestService, email: string, password: string): Promise<Browser> {
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const headers = { 'user-agent': firefox }
  // A second session, so that there is one to end.
  await service.browser().post('/login', { email, password }, headers)
  const browser = service.browser()
  await browser.post('/login', { email, password }, headers)
  return browser
}

/** Sends links for a new password and for an invitation, and returns their paths. */
async function sendLinks({ recovery, sandbox }: TestService, email: string): Promise<string[]> {
  await recovery.requestPasswordReset(email, 'en')
  await recovery.invite({ email: `${LONG}@example.com`.toLowerCase(), name: 'Grace' })
  await recovery.process()
  const texts = sandbox?.mail?.messages().map(({ text }) => text) ?? []
  return texts.flatMap((text) => /\/recovery\/\w+\?token=[\w.-]+/.exec(text ?? '')?.[0] ?? [])
}

async function subscribe({ browser }: Person, token: string): Promise<void> {
  const csrf_token = await browser.csrfToken()
  await browser.post('/billing/subscribe', { plan: 'pro', provider: 'stripe', token, csrf_token })
}

async function approve(browser: Browser, address: string): Promise<void> {
  const html = await (await browser.get(address)).text()
  const [, action = ''] = /action="([^"]+interaction[^"]+)"/.exec(html) ?? []
  const [, token = ''] = /name="csrf_token" value="([^"]+)"/.exec(html) ?? []
  await browser.post(action, { csrf_token: token, decision: 'approve' })
}
