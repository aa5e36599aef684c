import type { ProviderName } from '@tollgate/billing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newPerson, textOf } from './billing-person.ts'
import type { createBrowser } from './browser.ts'
import { startTestService, type TestService } from './support.ts'

type Browser = ReturnType<typeof createBrowser>

interface Case {
  readonly provider: ProviderName
  readonly card: string
  readonly other: { readonly token: string; readonly words: string }
  readonly declined: string
  readonly discounted: string
}

const CASES: readonly Case[] = [
  {
    provider: 'stripe',
    card: 'pm_card_visa',
    other: { token: 'pm_card_mastercard', words: 'Mastercard ending in 4444' },
    declined: 'pm_card_chargeDeclined',
    discounted: '$18.75',
  },
  {
    provider: 'braintree',
    card: 'fake-valid-visa-nonce',
    other: { token: 'fake-valid-mastercard-nonce', words: 'Mastercard ending in 4444' },
    declined: 'fake-processor-declined-visa-nonce',
    discounted: '$23.00',
  },
]

/** The hidden fields of the swap form on a page. */
async function fieldsOf(browser: Browser, path: string): Promise<Record<string, string>> {
  const html = await (await browser.get(path)).text()
  const form = html.slice(html.indexOf('action="/billing/swap"'))
  const fields = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
  return Object.fromEntries(fields.map(([, name, value]) => [name, value]))
}

let service: TestService

/** Starts a service for each group: its clock advances for all people of the group. */
function useService(): void {
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())
}

describe.each(CASES)(
  'the billing page at $provider',
  ({ provider, card, other, declined, discounted }) => {
    useService()

    it('accepts a promotion code when subscribing, and rejects an unknown code', async () => {
      const ada = await newPerson(service)
      const wanted = { plan: 'pro', provider, token: card }
      const no = await ada.refused('/billing/subscribe', { ...wanted, coupon: 'AUTUMN' })
      expect(no).toMatchObject({
        status: 422,
        alert: 'This promotion code does not exist, or it cannot be used here.',
      })
      expect(no.html).toContain('value="AUTUMN"')
      expect(await ada.subscription()).toMatchObject({ subscription: null })
      await ada.done('/billing/subscribe', { ...wanted, coupon: ' SPRING ' })
      expect(await ada.look()).toContain(discounted)
    })

    it('accepts a promotion code after the subscription started, and limits attempts with unknown codes', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'pro', provider, token: card })
      if (provider === 'braintree') {
        expect(await ada.look()).not.toContain('Use the code')
        expect((await ada.refused('/billing/code', { coupon: 'SPRING' })).status).toBe(422)
        return
      }
      const location = await ada.done('/billing/code', { coupon: ' spring ' })
      expect(await ada.look(location)).toMatch(
        /applies from your next invoice\. .*Spring: 25% off until/,
      )
      const guess = () => ada.refused('/billing/code', { coupon: 'AUTUMN' })
      for (let times = 0; times < 10; times++) expect((await guess()).status).toBe(422)
      expect(await guess()).toMatchObject({
        status: 429,
        alert: expect.stringMatching(
          /^You have tried too many codes\. Please try again in \d+ minutes\.$/,
        ),
      })
      expect(await ada.look()).toContain('Spring: 25% off until')
    })

    it('shows that a card was declined, and then accepts another card', async () => {
      const ada = await newPerson(service)
      const wanted = { plan: 'pro', provider }
      const no = await ada.refused('/billing/subscribe', { ...wanted, token: declined })
      expect(no.status).toBe(402)
      expect(no.alert).toMatch(/declined.*Nothing was charged; you can try another card\.$/)
      expect(await ada.subscription()).toMatchObject({ subscribed: false })
      await ada.done('/billing/subscribe', { ...wanted, token: card })
      expect(await ada.subscription()).toMatchObject({ subscribed: true })
    })

    it('accepts no more cards for an hour after ten declined ones', async () => {
      const ada = await newPerson(service)
      const wanted = { plan: 'pro', provider }
      const statuses: number[] = []
      for (let tries = 0; tries < 11; tries += 1) {
        statuses.push((await ada.post('/billing/subscribe', { ...wanted, token: declined })).status)
      }
      expect(statuses).toEqual([...Array(10).fill(402), 429])
      expect((await ada.post('/billing/subscribe', { ...wanted, token: card })).status).toBe(429)
      service.clock.advance({ minutes: 61 })
      await ada.done('/billing/subscribe', { ...wanted, token: card })
    })

    it('creates one subscription for two concurrent clicks', async () => {
      const ada = await newPerson(service)
      const wanted = { plan: 'pro', provider, token: card }
      const clicks = [1, 2].map(() => ada.done('/billing/subscribe', wanted))
      expect(await Promise.all(clicks)).toEqual(Array(2).fill('/billing?done=subscribed'))
      const { body } = await ada.browser.api('/api/user')
      const billable = await service.billing.user(Number(body.id))
      expect(await billable.subscriptions()).toHaveLength(1)
      expect(await billable.invoicesIncludingPending()).toHaveLength(1)
    })

    it('accepts a form that was sent twice, and explains which values of the second form have no effect (threat Q2)', async () => {
      const ada = await newPerson(service)
      // A person gets the trial of fourteen days only once.
      const wanted = { plan: 'monthly', provider, token: card }
      for (let times = 0; times < 2; times++) {
        expect(await ada.done('/billing/subscribe', wanted)).toBe('/billing?done=subscribed')
      }
      const again = (change: object) => ada.refused('/billing/subscribe', { ...wanted, ...change })
      const nothing = 'You are subscribed already, so nothing was changed or charged.'
      expect(await again({ plan: 'pro' })).toMatchObject({
        status: 409,
        alert: expect.stringContaining(
          `${nothing} You can change the plan of your subscription further down on this page.`,
        ),
      })
      expect(await again({ token: other.token })).toMatchObject({
        status: 409,
        alert: `${nothing} You can add another card below, under “Payment methods”.`,
      })
      const coupon =
        provider === 'stripe'
          ? 'You can enter your promotion code further down on this page.'
          : 'Discounts are applied'
      expect(await again({ coupon: 'SPRING' })).toMatchObject({
        status: 409,
        alert: expect.stringContaining(`${nothing} ${coupon}`),
      })
      expect(await ada.subscription()).toMatchObject({ subscribed: true, on_trial: true })
    })

    it('changes the plan during a trial without ending the trial', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'monthly', provider, token: card })
      const preview = await ada.look('/billing/swap?plan=pro')
      expect(preview).toContain('You pay nothing now')
      expect(preview).toMatch(/Next invoice, \d+ \w+ \d{4} \$25\.00/)
      const fields = await fieldsOf(ada.browser, '/billing/swap?plan=pro')
      expect(await ada.done('/billing/swap', fields)).toBe('/billing?done=swapped')
      expect(await ada.look()).toMatch(/Pro Trial \$25\.00 per month Trial until/)
    })

    it('cancels at the end of the period, resumes, and ends immediately only after confirmation', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'pro', provider, token: card })
      const question = await ada.look('/billing/cancel')
      const date = /Cancel on (\d+ \w+ \d{4})/.exec(question)?.[1] ?? 'none'
      expect(await ada.done('/billing/cancel')).toBe('/billing?done=cancelled')
      expect(await ada.done('/billing/cancel')).toBe('/billing?done=cancelled')
      expect(await ada.look()).toContain(
        `The subscription is cancelled and remains active until ${date}.`,
      )
      expect(await ada.done('/billing/resume')).toBe('/billing?done=resumed')
      expect(await ada.done('/billing/resume')).toBe('/billing?done=resumed')
      expect(await ada.look()).toContain('The next payment is on')
      expect(await ada.refused('/billing/cancel-now')).toMatchObject({
        status: 422,
        alert: 'Please confirm that the subscription should end immediately.',
      })
      expect(await ada.subscription()).toMatchObject({ subscribed: true })
      expect(await ada.done('/billing/cancel-now', { confirm: 'yes' })).toBe('/billing?done=ended')
      expect(await ada.done('/billing/cancel-now', { confirm: 'yes' })).toBe('/billing?done=ended')
      expect(await ada.subscription()).toMatchObject({ subscribed: false })
      expect(await ada.look()).toMatch(
        /Subscribe again The subscription was cancelled, and ended on .* You pay with/,
      )
      expect((await ada.refused('/billing/resume')).status).toBe(404)
      // With the card on file, and without a second trial.
      expect(await ada.done('/billing/subscribe', { plan: 'pro' })).toBe('/billing?done=subscribed')
      expect(await ada.subscription()).toMatchObject({ subscribed: true, on_trial: false })
    })

    it('cancels a trial at its end, and resumes', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'monthly', provider, token: card })
      const date =
        /Cancel on (\d+ \w+ \d{4})/.exec(await ada.look('/billing/cancel'))?.[1] ?? 'none'
      expect(await ada.done('/billing/cancel')).toBe('/billing?done=cancelled')
      expect(await ada.look()).toContain(`remains active until ${date}`)
      expect(await ada.subscription()).toMatchObject({ subscribed: true, on_trial: true })
      expect(await ada.done('/billing/resume')).toBe('/billing?done=resumed')
      expect(await ada.look()).toContain('Trial until')
    })

    it('gives each person the trial only once', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'monthly', provider, token: card })
      await ada.done('/billing/cancel-now', { confirm: 'yes' })
      expect(await ada.look()).not.toContain('days free')
      await ada.done('/billing/subscribe', { plan: 'monthly' })
      expect(await ada.subscription()).toMatchObject({ subscribed: true, on_trial: false })
    })

    it('replaces the card of a subscription', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'pro', provider, token: card })
      expect(await ada.done('/billing/card', { token: other.token })).toBe(
        '/billing?done=card-changed',
      )
      expect(await ada.look()).toContain(other.words)
      const no = await ada.refused('/billing/card', { token: declined })
      expect(no.alert).toMatch(/declined/)
      expect(await ada.look()).toContain(other.words)
      expect((await ada.refused('/billing/card', { token: 'tok_of_mine' })).alert).toBe(
        'Please choose one of the test cards.',
      )
    })

    it('adds another card, makes it the default, and deletes the old one', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'pro', provider, token: card })
      expect(await ada.done('/billing/card', { token: other.token, later: 'yes' })).toBe(
        '/billing?done=card-added',
      )
      const methods = async () => {
        const { body } = await ada.browser.api('/api/user')
        const all = await (await service.billing.user(Number(body.id))).paymentMethods()
        const [usual, rest] = [true, false].map((is) => all.filter((each) => each.isDefault === is))
        return { usual: usual?.[0]?.id ?? '', rest: rest?.map(({ id }) => id) ?? [] }
      }
      const before = await methods()
      const [kept = ''] = before.rest
      expect(await ada.look()).toMatch(/Visa ending in \d{4} Default/)
      const no = await ada.refused('/billing/card/delete', { method: before.usual })
      expect(no).toMatchObject({
        status: 409,
        alert:
          'Your subscription is paid with this payment method. Make another payment method the default first.',
      })
      const mallory = await newPerson(service)
      await mallory.done('/billing/subscribe', { plan: 'pro', provider, token: card })
      const stolen = await mallory.refused('/billing/card/default', { method: kept })
      expect(stolen).toMatchObject({ status: 404 })
      await mallory.done('/billing/card/delete', { method: kept })
      expect(await methods()).toEqual(before)
      expect(await ada.done('/billing/card/default', { method: kept })).toBe(
        '/billing?done=card-changed',
      )
      expect(await ada.look()).toContain(`${other.words} Default`)
      for (let clicks = 0; clicks < 2; clicks++) {
        expect(await ada.done('/billing/card/delete', { method: before.usual })).toBe(
          '/billing?done=card-deleted',
        )
      }
      expect(await methods()).toEqual({ usual: kept, rest: [] })
      expect((await ada.refused('/billing/card/delete', { method: '../1' })).alert).toBe(
        'Please choose a payment method.',
      )
    })

    it('shows the active discount, and why a subscription ended', async () => {
      const ada = await newPerson(service)
      const coupon = 'SPRING'
      await ada.done('/billing/subscribe', { plan: 'pro', provider, token: card, coupon })
      const off =
        provider === 'stripe' ? 'Spring: 25% off until ' : 'SPRING: $2.00 off the next 2 invoices.'
      expect(await ada.look()).toContain(off)
      await ada.done('/billing/cancel-now', { confirm: 'yes' })
      const page = await ada.look()
      expect(page).toContain('The subscription was cancelled, and ended on')
      expect(page).not.toContain('off until')
    })

    it('offers no quantity on a plan without seats', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'monthly', provider, token: card })
      expect(await ada.look()).not.toContain('Quantity')
      expect((await ada.refused('/billing/quantity', { quantity: '3' })).status).toBe(422)
      expect(await ada.subscription()).toMatchObject({ subscription: { quantity: 1 } })
    })

    it('offers a choice of quantity only if the provider supports it', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'pro', provider, token: card })
      if (provider === 'braintree') {
        expect(await ada.look()).not.toContain('Quantity')
        const no = await ada.refused('/billing/quantity', { quantity: '3' })
        expect(no).toMatchObject({
          status: 422,
          alert: 'The payment provider does not support this action.',
        })
        return
      }
      for (const quantity of ['0', '-1', '1.5', '99999', '', '1e3']) {
        expect((await ada.refused('/billing/quantity', { quantity })).status).toBe(422)
      }
      expect(await ada.done('/billing/quantity', { quantity: '3' })).toBe(
        '/billing?done=quantity-changed',
      )
      expect(await ada.look()).toContain('$75.00 per month (3 × $25.00)')
      expect(await ada.subscription()).toMatchObject({ subscription: { quantity: 3 } })
    })

    it('says that there is no subscription if someone tries to change one', async () => {
      const ada = await newPerson(service)
      for (const path of ['cancel', 'resume', 'swap', 'quantity', 'cancel-now']) {
        const fields = { plan: 'pro', quantity: '2', confirm: 'yes' }
        expect(await ada.refused(`/billing/${path}`, fields)).toMatchObject({
          status: 404,
          alert: 'There is no subscription to change.',
        })
      }
      for (const page of ['/billing/cancel', '/billing/swap?plan=pro', '/billing/confirm']) {
        expect((await ada.browser.get(page)).headers.get('location')).toBe('/billing')
      }
      expect((await ada.refused('/billing/subscribe', { plan: 'none' })).alert).toBe(
        'Please choose a plan.',
      )
    })
  },
)

/**
 * Groups that advance far come first, because people who subscribed before are billed on the way.
 */
describe.each(CASES)(
  'subscriptions over time, on the billing page at %s,',
  ({ provider, card, other }) => {
    useService()

    it('have their next charge declined in the sandbox on request, and recover at the retry', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'pro', provider, token: card })
      expect(await ada.done('/sandbox/decline', { return_to: '/billing' })).toBe(
        '/billing?done=charge-armed',
      )
      await service.advance({ months: 1, hours: 2 })
      expect(await ada.look()).toContain('Payment failed')
      await service.advance({ days: 4 })
      expect(await ada.look()).toContain('The next payment is on')
    })

    it('can be paid immediately with another card after a failed payment', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'pro', provider, token: card })
      await ada.done('/sandbox/decline', { return_to: '/billing' })
      await service.advance({ months: 1, hours: 2 })
      await ada.done('/billing/card', { token: other.token })
      expect(await ada.look()).toMatch(
        new RegExp(`Payment failed .*Pay \\$25\\.00 now You pay with ${other.words}`),
      )
      expect((await ada.refused('/billing/pay', { amount: '1' })).alert).toMatch(
        /check it and try again/,
      )
      const clicks = [1, 2].map(() => ada.done('/billing/pay', { amount: '2500' }))
      expect(await Promise.all(clicks)).toEqual(Array(2).fill('/billing?done=paid'))
      const page = await ada.look()
      expect(page).toContain('The next payment is on')
      expect(page).not.toMatch(/Payment failed|You pay with/)
      await service.advance({ days: 10 })
      const { body } = await ada.browser.api('/api/user')
      const billable = await service.billing.user(Number(body.id))
      expect(await billable.invoicesIncludingPending()).toHaveLength(2)
    })

    it('end after the last retry if the card keeps failing', async () => {
      const ada = await newPerson(service)
      const token =
        provider === 'stripe' ? 'pm_card_chargeCustomerFail' : 'fake-valid-discover-nonce'
      await ada.done('/billing/subscribe', { plan: 'monthly', provider, token })
      await service.advance({ days: 15 })
      expect(await ada.look()).toMatch(
        /Payment failed .*The last payment failed and will be retried\./,
      )
      await service.advance({ days: 20 })
      expect(await ada.look()).toMatch(/The payment failed, so the subscription ended on/)
      expect(await ada.subscription()).toMatchObject({ subscribed: false })
    })

    it('are charged after the trial', async () => {
      const ada = await newPerson(service)
      expect(await ada.look(`/billing?provider=${provider}`)).toContain('14 days free')
      const location = await ada.done('/billing/subscribe', {
        plan: 'monthly',
        provider,
        token: card,
      })
      expect(location).toBe('/billing?done=subscribed')
      expect(await ada.look(location)).toMatch(/You are subscribed\. .*Trial until \d+ \w+ \d{4}\./)
      expect(await ada.subscription()).toMatchObject({ provider, subscribed: true, on_trial: true })
      await service.advance({ days: 16 })
      const page = await ada.look()
      expect(page).toMatch(/Active \$10\.00 per month The next payment is on [^.]+: \$10\.00\./)
      expect(page).toMatch(/\$10\.00 Paid PDF/)
      const html = await (await ada.browser.get('/billing')).text()
      const pdf = /href="(\/user\/invoice\/[^"]+)"/.exec(html)?.[1] ?? ''
      expect((await ada.browser.get(pdf)).headers.get('content-type')).toBe('application/pdf')
      const stranger = await newPerson(service)
      expect((await stranger.browser.get(pdf, { accept: '*/*' })).status).toBe(404)
    })

    it('show the preview of a plan change again if the amount differs from the approved one', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'monthly', provider, token: card })
      await service.advance({ days: 20 })
      const fields = await fieldsOf(ada.browser, '/billing/swap?plan=pro')
      const again = '/billing/swap?plan=pro&changed=yes'
      const hourAgo = String(Number(fields.proration_date) - 3_600_000)
      for (const changed of [
        { total: '1' },
        { proration_date: hourAgo },
        { proration_date: 'x' },
      ]) {
        expect(await ada.done('/billing/swap', { ...fields, ...changed })).toBe(again)
      }
      expect(await ada.look(again)).toContain('Something has changed since you saw this page.')
      expect(await ada.subscription()).toMatchObject({ subscription: { plan: 'monthly' } })
      expect(await ada.done('/billing/swap', fields)).toBe('/billing?done=swapped')
      expect(await ada.subscription()).toMatchObject({ subscription: { plan: 'pro' } })
    })

    it('are changed exactly as the preview of the plan change showed', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'pro', provider, token: card })
      await service.advance({ days: 10 })
      const preview = await ada.look('/billing/swap?plan=yearly')
      expect(preview).toContain(
        'Current plan Pro, $25.00 per month New plan Yearly, $100.00 per year',
      )
      const shown = /You pay now .*Today, \d+ \w+ \d{4} (\$[\d.]+)/.exec(preview)?.[1] ?? ''
      const fields = await fieldsOf(ada.browser, '/billing/swap?plan=yearly')
      expect(`$${(Number(fields.total) / 100).toFixed(2)}`).toBe(shown)
      expect(await ada.done('/billing/swap', fields)).toBe('/billing?done=swapped')
      expect(await ada.look()).toMatch(new RegExp(`Yearly Active .*\\${shown}`))
      // A second click on the same form.
      expect(await ada.done('/billing/swap', fields)).toBe('/billing?done=swapped')
      expect((await ada.look()).split(shown)).toHaveLength(2)
      const { body } = await ada.browser.api('/api/user')
      const [invoice] = await (await service.billing.user(body.id)).invoicesIncludingPending()
      expect(invoice?.data.amountDue).toBe(Number(fields.total))
    })

    it('are resumed by a plan change before they end', async () => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { plan: 'pro', provider, token: card })
      await service.advance({ days: 3 })
      await ada.done('/billing/cancel')
      expect(await ada.look('/billing/swap?plan=monthly')).toContain(
        'This also resumes your cancelled subscription.',
      )
      const fields = await fieldsOf(ada.browser, '/billing/swap?plan=monthly')
      expect(await ada.done('/billing/swap', fields)).toBe('/billing?done=swapped')
      expect(await ada.subscription()).toMatchObject({
        subscription: { plan: 'monthly', cancelled: false },
      })
    })
  },
)

describe('a credit note on the billing page', () => {
  useService()

  it('is listed with its PDF beside the invoices, only for its owner', async () => {
    const ada = await newPerson(service)
    await ada.done('/billing/subscribe', {
      plan: 'monthly',
      provider: 'stripe',
      token: 'pm_card_visa',
    })
    await service.advance({ days: 16 })
    const person = await service.users.findByEmail(ada.email)
    const user = await service.billing.user(Number(person?.id))
    const [invoice] = await user.invoices()
    await invoice?.creditNote({ to: 'balance', amount: { amount: 1000, currency: 'usd' } })
    const page = await ada.look()
    expect(page).toMatch(/−\$10\.00 Credit note PDF/)
    expect(page).toMatch(/The next payment is on [^.]+: covered by your credit\./)
    const html = await (await ada.browser.get('/billing')).text()
    const pdf = /href="(\/billing\/credit-note\/[^"]+)"/.exec(html)?.[1] ?? ''
    expect((await ada.browser.get(pdf)).headers.get('content-type')).toBe('application/pdf')
    const stranger = await newPerson(service)
    expect((await stranger.browser.get(pdf, { accept: '*/*' })).status).toBe(404)
  })
})

describe('a payment that the bank must confirm', () => {
  useService()

  const wanted = { plan: 'pro', provider: 'stripe', token: 'pm_card_authenticationRequired' }

  it('starts the subscription once it is confirmed', async () => {
    const ada = await newPerson(service)
    expect(await ada.done('/billing/subscribe', wanted)).toBe('/billing/confirm')
    expect(await ada.subscription()).toMatchObject({ subscribed: false })
    expect(await ada.look()).toMatch(/Not paid .*Your bank asks you to confirm the payment\./)
    expect(await ada.done('/billing/confirm', { answer: 'approve' })).toBe(
      '/billing?done=confirmed',
    )
    expect(await ada.subscription()).toMatchObject({ subscribed: true })
    expect(await ada.look()).toContain('The next payment is on')
    expect(await ada.done('/billing/confirm', { answer: 'approve' })).toBe('/billing')
  })

  it('leaves the subscription unpaid if the bank rejects it, and can be abandoned', async () => {
    const ada = await newPerson(service)
    await ada.done('/billing/subscribe', wanted)
    expect(await ada.done('/billing/confirm', { answer: 'refuse' })).toBe('/billing?done=refused')
    expect(await ada.look()).toMatch(/Not paid .*unable to authenticate/)
    await ada.done('/billing/cancel-now', { confirm: 'yes' })
    await ada.done('/billing/subscribe', { ...wanted, token: 'pm_card_visa' })
    expect(await ada.subscription()).toMatchObject({ subscribed: true })
  })

  it.each([
    ['approve', 'confirmed', 'yearly'],
    ['refuse', 'refused', 'pro'],
  ])(
    'stays open during a plan change until the customer returns from the bank, whose answer is: %s',
    async (answer, done, plan) => {
      const ada = await newPerson(service)
      await ada.done('/billing/subscribe', { ...wanted, token: 'pm_card_visa' })
      await ada.done('/billing/card', { token: wanted.token })
      const fields = await fieldsOf(ada.browser, '/billing/swap?plan=yearly')
      expect(await ada.done('/billing/swap', fields)).toBe('/billing/confirm')
      expect(await ada.subscription()).toMatchObject({ subscription: { plan: 'pro' } })
      expect(await ada.look()).toMatch(
        /Your bank asks you to confirm the payment\..*Confirm the payment/,
      )
      expect(await ada.look('/billing/confirm')).toContain(
        'Your bank asks you to confirm a change to your plan Pro',
      )
      expect(await ada.done('/billing/confirm', { answer })).toBe(`/billing?done=${done}`)
      expect(await ada.subscription()).toMatchObject({ subscribed: true, subscription: { plan } })
      expect(await ada.look()).not.toContain('Your bank asks you to confirm')
    },
  )
})

describe('a failed first payment', () => {
  useService()

  const challenged = { plan: 'pro', provider: 'stripe', token: 'pm_card_authenticationRequired' }

  /** The amount paid, and the number of open invoices, of this person at Stripe. */
  async function moneyOf(ada: Awaited<ReturnType<typeof newPerson>>) {
    const { body } = await ada.browser.api('/api/user')
    const { providerId } = await service.billing.user(Number(body.id))
    const stripe = service.sandbox?.stripe
    const sum = (rows: readonly Readonly<Record<string, unknown>>[] = []) =>
      rows.reduce((total, { amount }) => total + Number(amount), 0)
    const charges = stripe?.charges(providerId ?? '') ?? []
    const invoices = stripe?.invoices(providerId ?? '') ?? []
    return {
      taken: sum(charges.filter(({ status }) => status === 'succeeded')),
      open: invoices.filter(({ status }) => status === 'open').length,
    }
  }

  it('can be repeated with another card after the bank rejected the first card', async () => {
    const ada = await newPerson(service)
    expect(await ada.done('/billing/subscribe', challenged)).toBe('/billing/confirm')
    expect(await ada.done('/billing/confirm', { answer: 'refuse' })).toBe('/billing?done=refused')
    expect(await ada.look()).toMatch(/Not paid .*Another card or plan .*Test card/)
    const other = { ...challenged, token: 'pm_card_visa' }
    expect(await ada.done('/billing/subscribe', other)).toBe('/billing?done=subscribed')
    expect(await ada.subscription()).toMatchObject({
      subscribed: true,
      card: { brand: 'visa', last_four: '4242' },
    })
    expect(await moneyOf(ada)).toEqual({ taken: 2500, open: 0 })
  })

  it("can be repeated for another plan while the bank's confirmation is pending", async () => {
    const ada = await newPerson(service)
    await ada.done('/billing/subscribe', challenged)
    const other = { plan: 'yearly', provider: 'stripe', token: 'pm_card_visa' }
    expect(await ada.done('/billing/subscribe', other)).toBe('/billing?done=subscribed')
    // The first window confirms now: there is nothing left to confirm.
    expect(await ada.done('/billing/confirm', { answer: 'approve' })).toBe('/billing')
    expect(await ada.subscription()).toMatchObject({
      subscribed: true,
      subscription: { plan: 'yearly' },
    })
    expect(await moneyOf(ada)).toEqual({ taken: 10_000, open: 0 })
  })

  it.each([
    { how: 'declined', token: 'pm_card_chargeCustomerFail' },
    { how: 'challenged', token: 'pm_card_authenticationRequired' },
  ])('still allows the choice of the other provider after the card was $how', async ({ token }) => {
    const ada = await newPerson(service)
    await ada.post('/billing/subscribe', { ...challenged, token })
    const before = await moneyOf(ada)
    expect(before.taken).toBe(0)
    expect(await ada.look()).toContain('Pay through')
    expect(await ada.look('/billing?provider=braintree')).toContain('Visa 1881: works')
    const other = { plan: 'pro', provider: 'braintree', token: 'fake-valid-visa-nonce' }
    expect(await ada.done('/billing/subscribe', other)).toBe('/billing?done=subscribed')
    expect(await ada.subscription()).toMatchObject({ subscribed: true, provider: 'braintree' })
    expect(await ada.look()).toContain('Paid through Braintree.')
  })

  it('leads to a field for another card, and the failed card is not offered again', async () => {
    const ada = await newPerson(service)
    const declined = { ...challenged, token: 'pm_card_chargeCustomerFail' }
    const { alert, html } = await ada.refused('/billing/subscribe', declined)
    expect(alert).toMatch(/declined.*you can try another card/)
    expect(textOf(html)).toContain('Test card')
    expect(await ada.look()).toContain('Use another card')
    expect(await ada.look('/billing?card=new')).toContain('Test card')
    const other = { ...challenged, token: 'pm_card_mastercard' }
    expect(await ada.done('/billing/subscribe', other)).toBe('/billing?done=subscribed')
    expect(await moneyOf(ada)).toEqual({ taken: 2500, open: 0 })
  })
})

describe('access to the billing pages', () => {
  useService()

  const paths = [
    '/billing/subscribe',
    '/billing/card',
    '/billing/card/default',
    '/billing/card/delete',
    '/billing/pay',
    '/billing/swap',
    '/billing/quantity',
    '/billing/cancel',
    '/billing/cancel-now',
    '/billing/resume',
    '/billing/keep-plan',
    '/billing/plan-change',
    '/billing/unpause',
    '/billing/address',
    '/billing/tax-id',
    '/billing/tax-id/delete',
    '/billing/confirm',
    '/sandbox/clock',
    '/sandbox/decline',
    '/admin/webhooks/received/1/retry',
  ]

  async function bearer(): Promise<Record<string, string>> {
    const { email = '', password = '', clients } = service.demo ?? {}
    const { id = '', secret = '' } = clients?.password ?? {}
    const response = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: id,
        client_secret: secret ?? '',
        username: email,
        password,
        scope: '*',
      }),
    })
    const { access_token } = (await response.json()) as { access_token: string }
    return { authorization: `Bearer ${access_token}` }
  }

  it.each(paths)('requires a signed-in person and a CSRF token for POST %s', async (path) => {
    const { email = '', password = '' } = service.demo ?? {}
    const browser = service.browser()
    await browser.signIn(email, password)
    const fields = { plan: 'pro', token: 'pm_card_visa', confirm: 'yes' }
    const csrf_token = await browser.csrfToken()
    const refusals = [
      await browser.post(path, fields),
      await browser.post(path, { ...fields, csrf_token: 'x' }),
      await browser.post(path, { ...fields, csrf_token }, { origin: 'https://evil.example' }),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403])
    const stranger = service.browser()
    const answer = await stranger.post(path, { ...fields, csrf_token }, await bearer())
    expect(answer.headers.get('location')).toMatch(/^\/login\?unsent=yes/)
  })

  it('gives the client token for the card form only to the signed-in person, not to applications', async () => {
    const path = '/api/billing/client-token'
    const ada = await newPerson(service)
    const own = await ada.browser.api(path, { method: 'POST' })
    expect(own.status).toBe(200)
    expect(own.body.client_token).toMatch(/^[\w+/=]+$/)
    const headers = await bearer()
    const response = await fetch(`${service.url}${path}`, { method: 'POST', headers })
    expect(response.status).toBe(403)
    expect((await fetch(`${service.url}${path}`, { method: 'POST' })).status).toBe(401)
  })

  it('lets a person choose the provider until the first payment', async () => {
    const ada = await newPerson(service)
    await ada.done('/billing/subscribe', {
      plan: 'pro',
      provider: 'braintree',
      token: 'fake-valid-visa-nonce',
    })
    await ada.done('/billing/cancel-now', { confirm: 'yes' })
    expect(await ada.look('/billing?provider=stripe')).not.toContain('Pay through')
    const no = await ada.refused('/billing/card', { provider: 'stripe', token: 'pm_card_visa' })
    expect(no).toMatchObject({
      status: 409,
      alert: 'You have already paid through the other payment provider, so please continue there.',
    })
    expect(await ada.subscription()).toMatchObject({ provider: 'braintree' })
  })
})

describe("the button that advances the sandbox's clock", () => {
  useService()

  it('advances the clock once, to the time that it shows', async () => {
    const ada = await newPerson(service)
    const html = await (await ada.browser.get('/billing')).text()
    const [, to = ''] = [...html.matchAll(/name="to" value="([^"]+)"/g)].map((m) => m[1])
    const before = service.sandbox?.clock.nowMs() ?? 0
    const fields = { to, return_to: '/billing' }
    await Promise.all([1, 2].map(() => ada.done('/sandbox/clock', fields)))
    expect((service.sandbox?.clock.nowMs() ?? 0) - before).toBe(7 * 86_400_000)
    for (const far of ['2999-01-01T00:00:00Z', 'never', '']) {
      await ada.done('/sandbox/clock', { to: far, return_to: '//evil.example' })
    }
    expect((service.sandbox?.clock.nowMs() ?? 0) - before).toBe(7 * 86_400_000)
  })
})
