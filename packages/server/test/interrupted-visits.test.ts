import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service?.stop())

let people = 0
const CARDS = { stripe: 'pm_card_visa', braintree: 'fake-valid-visa-nonce' } as const

async function newPerson() {
  const browser = service.browser()
  const email = `person-${++people}@example.com`
  await service.users.create({ email, password: 'a long password', name: 'Ada' })
  await browser.signIn(email, 'a long password')
  const post = async (path: string, fields: Record<string, string> = {}) => {
    const csrf_token = await browser.csrfToken()
    return browser.post(path, { csrf_token, ...fields })
  }
  return { browser, post }
}

const fieldsOf = (html: string, form: string) => {
  const [, inside = ''] = new RegExp(`action="${form}"(.*?)</form>`, 's').exec(html) ?? []
  const inputs = inside.matchAll(/name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, value]))
}

describe.each(['stripe', 'braintree'] as const)(
  'a person with two browser tabs at %s',
  (provider) => {
    it('must confirm a plan change again after cancelling the subscription in the other tab, because the change would resume it', async () => {
      const { browser, post } = await newPerson()
      await post('/billing/subscribe', { plan: 'pro', provider, token: CARDS[provider] })
      const seen = fieldsOf(
        await (await browser.get('/billing/swap?plan=yearly')).text(),
        '/billing/swap',
      )
      await post('/billing/cancel')
      const swapped = await browser.post('/billing/swap', seen)
      expect(swapped.headers.get('location')).toBe('/billing/swap?plan=yearly&changed=yes')
      const again = await (await browser.get('/billing/swap?plan=yearly&changed=yes')).text()
      expect(again).toContain('Nothing was done')
      expect(again).toContain('resumes your cancelled subscription')
      expect(await (await browser.get('/billing')).text()).toContain(
        'The subscription is cancelled',
      )
      const approved = await browser.post('/billing/swap', fieldsOf(again, '/billing/swap'))
      expect(approved.headers.get('location')).toBe('/billing?done=swapped')
    })
  },
)

describe('a person who was signed out while filling in a form', () => {
  it('is told that nothing was changed, and returns to the form', async () => {
    const { browser } = await newPerson()
    browser.cookies.clear()
    const referer = { referer: `${service.url}/billing?provider=braintree` }
    const sent = await browser.post('/billing/subscribe', { plan: 'pro' }, referer)
    const location = sent.headers.get('location') ?? ''
    expect([sent.status, location]).toEqual([
      303,
      `/login?unsent=yes&return_to=${encodeURIComponent('/billing?provider=braintree')}`,
    ])
    const page = await (await browser.get(location)).text()
    expect(page).toContain('so the form was not sent')
    expect(page).toContain('value="/billing?provider=braintree"')
  })

  it.each(['', 'https://evil.example/billing', 'nonsense'])(
    'returns to the home page if the browser sends the referer %j',
    async (referer) => {
      const sent = await service.browser().post('/billing/subscribe', {}, { referer })
      expect(sent.headers.get('location')).toBe('/login?unsent=yes&return_to=%2F')
    },
  )
})

describe('the URL to which a billing form is sent', () => {
  it.each([
    '/billing/subscribe',
    '/billing/pay',
    '/billing/card',
    '/billing/cancel-now',
    '/billing/portal',
    '/billing/returned',
  ])('redirects to the billing page if it is opened with GET: %s', async (path) => {
    const { browser } = await newPerson()
    const opened = await browser.get(path)
    expect([opened.status, opened.headers.get('location')]).toEqual([303, '/billing'])
  })
})

it('the billing page shows an unconfirmed payment as a failure, and marks the current place in the navigation', async () => {
  const { browser } = await newPerson()
  const html = await (await browser.get('/billing?done=refused')).text()
  expect(html).toMatch(/class="note bad" role="status">[^<]*not confirmed/)
  const { browser: other, post } = await newPerson()
  const declined = await post('/billing/subscribe', { plan: 'none', provider: 'stripe' })
  expect(await declined.text()).toContain('href="/billing" aria-current="true"')
  expect(await (await other.get('/billing')).text()).toContain(
    'href="/billing" aria-current="page"',
  )
})

it('the billing page shows an unsettled Braintree charge as processing', async () => {
  const { browser, post } = await newPerson()
  const form = { plan: 'pro', provider: 'braintree', token: CARDS.braintree }
  await post('/billing/subscribe', form)
  const html = await (await browser.get('/billing')).text()
  expect(html).toContain('Processing')
  expect(html).not.toContain('>Unpaid<')
})
