import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const PASSWORD = 'correct horse'
const REDIRECT = 'https://photos.example/callback'

let service: TestService
let photos: { id: string; secret: string }

beforeAll(async () => {
  service = await startTestService({ settings: { optionalScopes: ['check-status'] } })
  const owner = { email: 'grace@example.com', password: PASSWORD, name: '<b>Grace</b>' }
  const { id: userId } = await service.users.create(owner)
  await service.users.create({ email: 'ada@example.com', password: PASSWORD, name: 'Ada' })
  await service.users.create({ email: 'bob@example.com', password: PASSWORD, name: null })
  photos = await newClient({ userId, name: '<i>Photo book</i>' })
})
afterAll(() => service.stop())

async function newClient(changes: { userId?: string; name?: string }) {
  const input = { name: 'Shop', redirect: REDIRECT, ...changes }
  const { client, secret } = await service.oauth.clients.create(input)
  return { id: client.id, secret: secret ?? '' }
}

async function signedIn(email: string) {
  const browser = service.browser()
  await browser.signIn(email, PASSWORD)
  return browser
}

const requestOf = ({ id }: { id: string }, state = 'x y') =>
  `/oauth/authorize?${new URLSearchParams({
    client_id: id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'place-orders check-status',
    state,
  })}`

const plain = (text = '') => text.replaceAll('&amp;', '&')
const linkTo = (html: string, words: string) =>
  plain(new RegExp(`<a href="([^"]+)">${words}`).exec(html)?.[1])

describe('the approval screen of the service', () => {
  const show = async (client: { id: string }, email = 'ada@example.com') =>
    (await (await signedIn(email)).get(requestOf(client))).text()

  it('shows the name, and never the e-mail address, of the user who registered the application', async () => {
    const html = await show(photos)
    expect(html).toContain('<bdi>&lt;b&gt;Grace&lt;/b&gt;</bdi>, a user of Tollgate')
    expect(html).not.toContain('grace@example.com')
    expect(html).toContain('The operator has not checked this application')
    expect(html).toContain('<strong>photos.example</strong>')
  })

  it("warns if a program on the person's own computer receives the code, but not if the service itself does", async () => {
    const show = async (redirect: string) => {
      const { client } = await service.oauth.clients.create({ name: 'Tool', redirect })
      const query = { client_id: client.id, redirect_uri: redirect, response_type: 'code' }
      const browser = await signedIn('ada@example.com')
      return (await browser.get(`/oauth/authorize?${new URLSearchParams(query)}`)).text()
    }
    const html = await show('http://127.0.0.1:53682/callback')
    expect(html).toContain('<strong>127.0.0.1:53682</strong> on your own computer')
    expect(html).toContain('Approve only if you have just started the application yourself')
    expect(await show(`${service.url}/callback`)).not.toContain('own computer')
    expect(await show('https://photos.example/callback')).not.toContain('own computer')
  })

  it('says so if the user who registered the application has no name', async () => {
    const bob = await service.users.findByEmail('bob@example.com')
    const html = await show(await newClient({ userId: bob?.id ?? '' }))
    expect(html).toContain('A user of Tollgate without a name')
    expect(html).not.toContain('bob@')
  })

  it('says "You" if the person registered the application, and names the operator for the service\'s own clients', async () => {
    expect(await show(photos, 'grace@example.com')).toContain('<dd>You</dd>')
    const html = await show(await newClient({}))
    expect(html).toContain('The operator of Tollgate')
    expect(html).not.toContain('Unverified')
  })

  it('grants only the optional scopes that are ticked, and lists them in the token response', async () => {
    const browser = await signedIn('ada@example.com')
    const shop = await newClient({})
    const html = await (await browser.get(requestOf(shop))).text()
    expect(html).toContain('name="scope:check-status" value="allow" checked=""')
    const action = plain(/<form method="post" action="([^"]+)"/.exec(html)?.[1])
    const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const reply = await browser.post(action, { csrf_token, decision: 'approve' })
    const code = new URL(reply.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const token = await browser.post('/oauth/token', {
      grant_type: 'authorization_code',
      client_id: shop.id,
      client_secret: shop.secret,
      redirect_uri: REDIRECT,
      code,
    })
    expect(await token.json()).toMatchObject({ scope: 'place-orders' })
  })
})

describe('the link "Not you?" on the approval screen', () => {
  it('leads to a sign-in as another person, who continues with the same request, and the first session is kept until then (threat G8)', async () => {
    const browser = await signedIn('ada@example.com')
    const before = browser.cookies.get('tollgate_session')
    const shown = await (await browser.get(requestOf(photos, 'a&b'))).text()
    const address = linkTo(shown, 'Not you')
    const page = await browser.get(address)
    expect(page.status).toBe(200)
    const html = await page.text()
    expect(html).toContain('Use another account')
    expect(html).toContain('ada@example.com</strong>')
    expect(html).not.toContain('value="ada@example.com"')
    expect(browser.cookies.get('tollgate_session')).toBe(before)
    expect((await browser.get('/account')).status).toBe(200)

    const return_to = new URL(address, service.url).searchParams.get('return_to') ?? ''
    const form = { email: 'bob@example.com', password: PASSWORD, return_to }
    const back = await browser.post('/login', form)
    const again = await browser.get(back.headers.get('location') ?? '')
    expect(again.status).toBe(200)
    expect(await again.text()).toContain('bob@example.com')
    const old = service.browser()
    old.cookies.set('tollgate_session', before ?? '')
    expect((await old.get('/account')).headers.get('location')).toContain('/login')

    // The approval page of the previous person is no longer valid.
    const action = plain(/<form method="post" action="([^"]+)"/.exec(shown)?.[1])
    const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(shown)?.[1] ?? ''
    expect((await browser.post(action, { csrf_token, decision: 'approve' })).status).toBe(400)
  })

  it('never leads to another host, whatever the link contains', async () => {
    const browser = await signedIn('ada@example.com')
    for (const returnTo of ['https://evil.example/', '//evil.example', '/\\evil.example']) {
      const query = new URLSearchParams({ prompt: 'select_account', return_to: returnTo })
      const html = await (await browser.get(`/login?${query}`)).text()
      expect(html).not.toContain('evil.example')
    }
  })
})

describe('the sign-in and registration pages, for a person who comes from an application,', () => {
  const open = async (page: string, returnTo: string) =>
    (await service.browser().get(`${page}?${new URLSearchParams({ return_to: returnTo })}`)).text()

  it.each(['/login', '/register'])('show the name of the application on %s', async (page) => {
    const html = await open(page, requestOf(photos))
    expect(html).toContain('<bdi>&lt;i&gt;Photo book&lt;/i&gt;</bdi>')
    expect(html).toContain('Unverified: the operator has not checked this application.')
    expect(await open(page, '/oauth/device?user_code=BCDF-GHJK')).toContain('to connect a device')
  })

  it('take no application name from the URL', async () => {
    const forged = '/oauth/authorize?client_id=nobody&client_name=Your+bank&name=Your+bank'
    const html = await open('/login', forged)
    expect(html).not.toContain('go on to')
    expect(html).not.toMatch(/Your bank/)
  })

  it('show no name if there is no application', async () => {
    for (const returnTo of ['/', '/clients', '//evil.example/oauth/authorize?client_id=x']) {
      const html = await open('/login', returnTo)
      expect(html).not.toContain('go on to')
      expect(html).not.toContain('connect a device')
    }
  })

  it('still show the name after a wrong password', async () => {
    const form = { email: 'ada@example.com', password: 'wrong', return_to: requestOf(photos) }
    const reply = await service.browser().post('/login', form)
    expect(reply.status).toBe(401)
    expect(await reply.text()).toContain('Photo book')
  })
})
