import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

/** Plans with seats (Pro, Team) and without (Whole, Yearly). */
const PLANS = [
  { id: 'pro', name: 'Pro', amount: 2500, months: 1, seats: true },
  { id: 'team', name: 'Team', amount: 4000, months: 1, seats: true },
  { id: 'whole', name: 'Whole', amount: 10_000, months: 1 },
  { id: 'yearly', name: 'Yearly', amount: 90_000, months: 12 },
]

let service: TestService
beforeAll(async () => {
  service = await startTestService({ settings: { plans: PLANS } })
})
afterAll(() => service?.stop())

let people = 0

/** A person with three seats of a plan at Stripe. */
async function withSeats(plan: string, quantity = 3) {
  const browser = service.browser()
  const account = { email: `person-${++people}@example.com`, password: 'a long password' }
  const { id } = await service.users.create(account)
  await browser.signIn(account.email, account.password)
  const csrf_token = await browser.csrfToken()
  const billable = await service.billing.user(Number(id))
  const builder = billable.newSubscription('main', plan)
  await builder.quantity(quantity).create('pm_card_visa')
  const read = async (path: string) => {
    const html = await (await browser.get(path)).text()
    const hidden = [...html.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
    const text = html.replace(/<\/?(bdi|small)>/g, '').replace(/<[^>]+>/g, ' ')
    return {
      text: text.replace(/\s+/g, ' '),
      fields: Object.fromEntries(hidden.map(([, name, value]) => [name, value ?? ''])),
    }
  }
  return {
    read,
    main: async () => (await service.billing.user(Number(id))).subscription('main'),
    async post(path: string, fields: Record<string, string>) {
      const response = await browser.post(path, { csrf_token, ...fields })
      return response.headers.get('location') ?? response.status
    },
    async paid() {
      const user = await service.billing.user(Number(id))
      return (await user.invoices()).map(({ data }) => data.total)
    },
  }
}

describe('prices on the billing pages', () => {
  it('are the total for all seats, followed by the price of one seat', async () => {
    const ada = await withSeats('pro')
    const { text } = await ada.read('/billing')
    expect(text).toContain('$75.00 per month (3 × $25.00)')
    expect(text).toContain('Team $120.00 per month (3 × $40.00)')
    expect(text).toContain('Whole $100.00 per month Change')
  })

  it.each([
    ['whole', 'Whole, $100.00 per month', 10_000],
    ['yearly', 'Yearly, $900.00 per year', 90_000],
  ])(
    'are charged once, not three times, after a change from three seats to the plan "%s", which has no seats',
    async (...row) => {
      const [plan, terms, amount] = row
      const ada = await withSeats('pro')
      const page = await ada.read(`/billing/swap?plan=${plan}`)
      expect(page.text).toContain('Pro, $75.00 per month (3 × $25.00)')
      expect(page.text).toContain(terms)
      expect(page.text).toContain(
        'is sold with the quantity 1 only: you have 3 seats now, and will be charged for one',
      )
      expect(await ada.post('/billing/swap', page.fields)).toBe('/billing?done=swapped')
      expect(await ada.main()).toMatchObject({ providerPlan: plan, quantity: 1 })
      const shown = await ada.read('/billing')
      expect(shown.text).not.toContain('3 ×')
      // The next charge, too, is the price that the page showed.
      await service.advance({ months: plan === 'yearly' ? 12 : 2, hours: 3 })
      expect((await ada.paid())[0]).toBe(amount)
    },
  )

  it('stay per seat after a change to another plan with seats', async () => {
    const ada = await withSeats('pro')
    const page = await ada.read('/billing/swap?plan=team')
    expect(page.text).toContain('Team, $120.00 per month (3 × $40.00)')
    await ada.post('/billing/swap', page.fields)
    expect(await ada.main()).toMatchObject({ providerPlan: 'team', quantity: 3 })
  })

  it('are shown again for approval if the quantity changed in the meantime', async () => {
    const ada = await withSeats('pro')
    const { fields } = await ada.read('/billing/swap?plan=team')
    await (await ada.main()).updateQuantity(2)
    expect(await ada.post('/billing/swap', fields)).toBe('/billing/swap?plan=team&changed=yes')
    expect(await ada.main()).toMatchObject({ providerPlan: 'pro', quantity: 2 })
  })

  it('stay the same for additional prices when the quantity of the plan is reduced to one', async () => {
    const ada = await withSeats('pro')
    await (await ada.main()).addPrice('team', 2)
    const { fields } = await ada.read('/billing/swap?plan=whole')
    await ada.post('/billing/swap', fields)
    expect((await ada.main()).items()).toEqual([
      { price: 'whole', quantity: 1, isMain: true },
      { price: 'team', quantity: 2, isMain: false },
    ])
  })
})

describe('a quantity of a plan without seats', () => {
  it('is shown with the total price, and can only be reduced to one', async () => {
    const ada = await withSeats('whole')
    const { text } = await ada.read('/billing')
    expect(text).toContain('$300.00 per month (3 × $100.00)')
    expect(text).toContain('Reduce the quantity to one: $100.00 per month')
    for (const quantity of ['2', '4']) {
      expect(await ada.post('/billing/quantity', { quantity })).toBe(422)
    }
    expect((await ada.main()).quantity).toBe(3)
    expect(await ada.post('/billing/quantity', { quantity: '1' })).toBe(
      '/billing?done=quantity-changed',
    )
    expect((await ada.main()).quantity).toBe(1)
    expect(await ada.post('/billing/quantity', { quantity: '2' })).toBe(422)
  })

  it('becomes one when a cancelled subscription is resumed by a change to the same plan', async () => {
    const ada = await withSeats('whole')
    await (await ada.main()).cancel()
    const page = await ada.read('/billing/swap?plan=whole')
    expect(page.text).toContain('This also resumes your cancelled subscription')
    expect(await ada.post('/billing/swap', page.fields)).toBe('/billing?done=swapped')
    expect(await ada.main()).toMatchObject({ quantity: 1, endsAt: null })
  })
})
