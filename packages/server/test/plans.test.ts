import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '../src/users/roles.ts'
import { createOperatorHelpers } from './admin/operators.ts'
import { startTestService, type TestService } from './support.ts'

const CARDS = { stripe: 'pm_card_visa', braintree: 'fake-valid-visa-nonce' } as const
const PROVIDERS = ['stripe', 'braintree'] as const
type Provider = (typeof PROVIDERS)[number]

let members = 4

const PLANS = [
  { id: 'basic', name: 'Basic', amount: 900, months: 1 },
  {
    id: 'pro',
    name: 'Pro',
    description: 'For teams that ship every day.',
    features: ['Unlimited projects', 'Support by e-mail'],
    promotionCodes: false,
    intervals: [
      { months: 1, amount: 2900 },
      { months: 12, amount: 29_000 },
    ],
    prices: [{ id: 'support', name: 'Telephone support', amount: 1900 }],
  },
  { id: 'trial', name: 'Trial', amount: 1000, months: 1, trialDays: 14 },
  {
    id: 'metered',
    name: 'Metered',
    amount: 500,
    months: 1,
    prices: [
      {
        id: 'calls',
        name: 'API calls',
        unit: 'call',
        meter: 'calls',
        unitAmount: '0.5',
        included: 10,
      },
    ],
  },
  { id: 'seats', name: 'Seats', amount: 700, months: 1, seats: { min: 2, max: 20 } },
  {
    id: 'tiers',
    name: 'Tiers',
    months: 1,
    seats: true,
    tiers: [
      { upTo: 5, unitAmount: 1000 },
      { upTo: null, unitAmount: 600 },
    ],
  },
  { id: 'members', name: 'Members', amount: 300, months: 1, seats: () => members },
]

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    settings: { plans: PLANS, taxPercentage: ({ email }) => (email.startsWith('taxed') ? 20 : 0) },
  })
})
afterAll(() => service?.stop())

let people = 0

/** A person who has signed in, at a provider. */
async function newPerson(provider: Provider, name = 'person', role: Role | null = null) {
  const browser = service.browser()
  const account = { email: `${name}-${++people}@example.com`, password: 'a long password', role }
  const { id } = await service.users.create(account)
  await browser.signIn(account.email, account.password)
  const csrf_token = await browser.csrfToken()
  const post = (path: string, fields: Record<string, string>) =>
    browser.post(path, { csrf_token, provider, ...fields })
  const read = async (answer: Promise<Response>) => {
    const response = await answer
    const html = await response.text()
    const shown = /name="shown" value="([^"]*)"/.exec(html)?.[1] ?? ''
    return {
      html,
      status: response.status,
      location: response.headers.get('location'),
      text: textOf(html),
      alert: textOf(/role="alert">([^<]*)</.exec(html)?.[1] ?? ''),
      codeProblem: textOf(/data-terms-problem[^>]*>([^<]*)</.exec(html)?.[1] ?? ''),
      button: textOf(/data-pay.*?<button class="primary"[^>]*>([^<]*)</s.exec(html)?.[1] ?? ''),
      shown: shown.replaceAll('&quot;', '"'),
    }
  }
  return {
    id,
    open: (path = `/billing?provider=${provider}`) => read(browser.get(path)),
    price: (fields: Record<string, string>) => read(post('/billing/price', fields)),
    subscribe: (fields: Record<string, string>) =>
      read(post('/billing/subscribe', { token: CARDS[provider], ...fields })),
    post: (path: string, fields: Record<string, string>) => read(post(path, fields)),
    payer: () => service.billing.user(Number(id)),
    main: async () => (await service.billing.user(Number(id))).subscription('main'),
    async paid() {
      const user = await service.billing.user(Number(id))
      return (await user.invoicesIncludingPending()).map(({ data }) => data.total)
    },
  }
}

function textOf(html: string): string {
  return html
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, '')
    .replace(/<\/?(bdi|small)>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim()
}

describe.each(PROVIDERS)('the plans on the billing page at %s', (provider) => {
  const isStripe = provider === 'stripe'

  it('show their text, features, intervals and additional prices, and only plans that the provider sells', async () => {
    const ada = await newPerson(provider)
    const { text, html } = await ada.open()
    expect(text).toContain('For teams that ship every day. plus $19.00 for Telephone support')
    expect(text).toContain('Unlimited projects Support by e-mail')
    expect(text).toMatch(/Pro \$29\.00 per month Pro \$290\.00 per year/)
    expect(text).toContain('plus $0.005 per call used, the first 10 are free')
    expect(text).toContain('14 days free')
    const sold = [...html.matchAll(/type="radio" name="plan" value="([^"]+)"/g)].map(([, id]) => id)
    const everywhere = ['basic', 'pro-monthly', 'pro-yearly', 'trial', 'metered']
    const atStripe = [...everywhere, 'seats', 'tiers', 'members']
    expect(sold).toEqual(isStripe ? atStripe : everywhere)
    if (isStripe) expect(text).toContain('1–5: $10.00 each from 6: $6.00 each')
  })

  it('show on the button the amount that is then paid', async () => {
    const ada = await newPerson(provider)
    expect((await ada.open()).button).toBe('Pay $9.00 and subscribe')
    const { button, text, shown } = await ada.price({ plan: 'pro-yearly' })
    expect(button).toBe('Pay $309.00 and subscribe')
    expect(text).toMatch(/You pay now .*Today, \d+ \w+ \d{4} \$309\.00/)
    expect(text).toMatch(/You pay later .*Payment on \d+ \w+ \d{4} \$309\.00/)
    const done = await ada.subscribe({ plan: 'pro-yearly', shown })
    expect(done.location).toBe('/billing?done=subscribed')
    expect(await ada.paid()).toEqual([30_900])
    expect((await ada.main()).items()).toEqual([
      { price: 'pro-yearly', quantity: 1, isMain: true },
      { price: 'support-yearly', quantity: 1, isMain: false },
    ])
  })

  it('charge nothing if the button showed another price, and show the new price (threat N4)', async () => {
    const ada = await newPerson(provider)
    const { shown } = await ada.open()
    const no = await ada.subscribe({ plan: 'pro-monthly', shown })
    expect(no).toMatchObject({ status: 422, button: 'Pay $48.00 and subscribe' })
    expect(no.alert).toContain('Nothing was charged yet.')
    expect(await ada.paid()).toEqual([])
    await ada.subscribe({ plan: 'pro-monthly', shown: no.shown })
    expect(await ada.paid()).toEqual([4800])
  })

  it('create one subscription if the form is sent twice at the same time', async () => {
    const ada = await newPerson(provider)
    const { shown } = await ada.price({ plan: 'basic' })
    const sent = [1, 2].map(() => ada.subscribe({ plan: 'basic', shown }))
    const locations = (await Promise.all(sent)).map(({ location }) => location)
    expect(locations).toEqual(Array(2).fill('/billing?done=subscribed'))
    expect(await ada.paid()).toEqual([900])
  })

  it('start a trial without a payment', async () => {
    const ada = await newPerson(provider)
    const { button, text, shown } = await ada.price({ plan: 'trial' })
    expect(button).toBe('Start 14-day trial')
    expect(text).toMatch(/You pay nothing now .*You pay later .* \$10\.00/)
    await ada.subscribe({ plan: 'trial', shown })
    expect((await ada.main()).onTrial()).toBe(true)
  })

  it('include the tax and the discount of a code in the amount', async () => {
    const ada = await newPerson(provider, 'taxed')
    const { button, text } = await ada.price({ plan: 'basic', coupon: 'SPRING' })
    // 25 % off at Stripe, 2.00 off at Braintree; then 20 % tax.
    expect(button).toBe(isStripe ? 'Pay $8.10 and subscribe' : 'Pay $8.40 and subscribe')
    expect(text).toContain(isStripe ? 'Tax' : 'Included tax')
  })

  it('say at the field that a code cannot be used, and have no such field if the plan accepts no codes', async () => {
    const ada = await newPerson(provider)
    const wrong = await ada.price({ plan: 'basic', coupon: 'AUTUMN' })
    expect(wrong).toMatchObject({
      status: 200,
      codeProblem: 'This promotion code does not exist, or it cannot be used here.',
      button: 'Pay $9.00 and subscribe',
    })
    expect(wrong.html).toContain('value="AUTUMN"')
    const none = await ada.price({ plan: 'pro-monthly' })
    expect(none.html).not.toContain('name="coupon"')
    const refused = await ada.subscribe({ plan: 'pro-monthly', coupon: 'SPRING' })
    expect(refused).toMatchObject({
      status: 422,
      alert: 'Promotion codes cannot be used with this plan.',
    })
    await ada.subscribe({ plan: 'pro-monthly' })
    expect((await ada.open()).text).not.toContain('Use the code')
    const later = await ada.post('/billing/code', { coupon: 'SPRING' })
    expect(later).toMatchObject({
      status: 422,
      alert: 'Promotion codes cannot be used with this plan.',
    })
  })

  it('do not let a person choose a plan that the provider does not sell', async () => {
    const ada = await newPerson(provider)
    for (const plan of ['none', ...(isStripe ? [] : ['seats', 'members'])]) {
      const no = await ada.subscribe({ plan })
      expect(no).toMatchObject({ status: 422, alert: 'Please choose a plan.' })
    }
    expect(await ada.paid()).toEqual([])
  })

  it('can be changed to a plan with other prices, which replace the prices of the old plan', async () => {
    const ada = await newPerson(provider)
    await ada.subscribe({ plan: 'pro-monthly' })
    const page = await ada.open('/billing/swap?plan=pro-yearly')
    expect(page.text).toContain('From the next period on, the price is $290.00 per year')
    const hidden = [...page.html.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
    const fields = Object.fromEntries(hidden.map(([, name, value]) => [name, value ?? '']))
    const done = await ada.post('/billing/swap', fields)
    expect(done.location).toBe('/billing?done=swapped')
    const prices = (await ada.main()).items().map(({ price }) => price)
    expect(prices).toEqual(['pro-yearly', 'support-yearly'])
  })
})

describe('the number of seats on the billing page', () => {
  it('is chosen within the limits of the plan when subscribing', async () => {
    const ada = await newPerson('stripe')
    const first = await ada.price({ plan: 'seats' })
    expect(first.html).toMatch(/name="quantity" min="2" max="20" value="2"/)
    expect(first.button).toBe('Pay $14.00 and subscribe')
    const five = await ada.price({ plan: 'seats', quantity: '5' })
    expect(five.button).toBe('Pay $35.00 and subscribe')
    for (const quantity of ['1', '21', 'x', '2.5']) {
      const no = await ada.subscribe({ plan: 'seats', quantity })
      expect(no.alert).toBe('Please choose a whole number from 2 to 20.')
    }
    await ada.subscribe({ plan: 'seats', quantity: '5', shown: five.shown })
    expect((await ada.main()).quantity).toBe(5)
    const no = await ada.post('/billing/quantity', { quantity: '21' })
    expect(no.alert).toBe('Please choose a whole number from 2 to 20.')
  })

  it('is charged by the tiers of the price', async () => {
    const ada = await newPerson('stripe')
    const { button, shown } = await ada.price({ plan: 'tiers', quantity: '7' })
    expect(button).toBe('Pay $62.00 and subscribe')
    await ada.subscribe({ plan: 'tiers', quantity: '7', shown })
    expect(await ada.paid()).toEqual([6200])
  })

  it('is counted by the function in the settings, and the page offers the new number', async () => {
    const ada = await newPerson('stripe')
    const { button, html } = await ada.price({ plan: 'members', quantity: '1' })
    expect(button).toBe('Pay $12.00 and subscribe')
    expect(html).not.toContain('name="quantity"')
    await ada.subscribe({ plan: 'members' })
    expect((await ada.main()).quantity).toBe(4)
    expect((await ada.open()).text).not.toContain('Change the quantity')
    members = 6
    expect((await ada.open()).text).toContain('Change the quantity to 6')
    const no = await ada.post('/billing/quantity', { quantity: '3' })
    expect(no).toMatchObject({ status: 422, alert: 'The quantity of this plan is 6.' })
    await ada.post('/billing/quantity', { quantity: '6' })
    expect((await ada.main()).quantity).toBe(6)
  })

  it('is counted again on request of the management API after it has changed', async () => {
    const ada = await newPerson('stripe')
    await ada.subscribe({ plan: 'members' })
    const support = await createOperatorHelpers(service).operator('support')
    const count = async () => {
      const { id } = await ada.main()
      return support.call('POST', `/users/${ada.id}/subscriptions/${id}/count-seats`)
    }
    members = 9
    for (let times = 0; times < 2; times++) {
      expect(await count()).toMatchObject({ status: 200, body: { quantity: 9 } })
    }
    expect((await ada.main()).quantity).toBe(9)
    const other = await newPerson('stripe')
    await other.subscribe({ plan: 'basic' })
    const { id } = await other.main()
    const no = await support.call('POST', `/users/${other.id}/subscriptions/${id}/count-seats`)
    expect(no).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('The seats of this plan are not counted') },
    })
  })
})

describe.each(PROVIDERS)('the usage of a plan at %s', (provider) => {
  it('is shown to the person and to operators for the current period, and charged with the next invoice', async () => {
    const ada = await newPerson(provider)
    await ada.subscribe({ plan: 'metered' })
    expect((await ada.open()).text).toMatch(/Usage in this period API calls 0 since \d+ \w+ \d{4}/)
    await service.advance({ hours: 1 })
    const now = service.sandbox?.clock.now() ?? new Date()
    await (await ada.payer()).reportUsage('calls', 1210, { id: `calls-${ada.id}`, at: now })
    await service.billing.process()
    await service.advance({ hours: 1 })
    const { text } = await ada.open()
    expect(text).toMatch(/API calls 1,210 since \d+ \w+ \d{4} Cost so far \$6\.00, charged on/)

    const operator = await newPerson(provider, 'operator', 'viewer')
    const page = await operator.open(`/admin/people/${ada.id}`)
    expect(page.text).toMatch(/API calls: 1,210 used since \d+ \w+ \d{4}/)

    await service.advance({ months: 1, hours: 3 })
    const total = (await ada.paid()).reduce((sum, amount) => sum + amount, 0)
    expect(total).toBe(500 + 500 + 600)
  })
})
