import { describe, expect, it } from 'vitest'
import { importFromDocs } from '../../../test-support/docs-module.ts'
import type { BillableUser, Billing } from '../src/index.ts'
import {
  BASE_URL,
  countProviderSubscriptions,
  type FlowTest,
  start,
  sumChargedCents,
} from './support.ts'

interface Guide {
  payRoutes(
    billing: Billing,
    signedIn: () => Promise<number | null>,
  ): {
    request(path: string, init?: RequestInit): Promise<Response>
    onError(handle: () => Response): void
  }
}

/** Serves the routes of the guide, with this user signed in. */
async function open(test: FlowTest, user: BillableUser | null = test.user) {
  const authenticate = () => (user ? Number(user.id) : null)
  const billing = test.another({ authenticate })
  const { payRoutes } = await importFromDocs<Guide>('docs/guides/pay-page.md', 'payRoutes')
  const app = payRoutes(billing, async () => authenticate())
  app.onError(() => new Response(null, { status: 500 }))
  return {
    billing,
    show: () => app.request('/pay'),
    pay: (nonce: string) =>
      app.request('/pay', { method: 'POST', body: new URLSearchParams({ nonce }) }),
  }
}

const leadsTo = (response: Response) => [response.status, response.headers.get('location')]

async function expectOne(test: FlowTest): Promise<void> {
  const user = await test.billing.user(test.user.id)
  expect(await user.subscribed('main', 'monthly')).toBe(true)
  expect([countProviderSubscriptions(test, user), sumChargedCents(test, user)]).toEqual([1, 1000])
}

describe('the payment page from the guide', () => {
  it('redirects to the sign-in page if no user is signed in', async () => {
    const { show, pay } = await open(await start('braintree'), null)
    expect(leadsTo(await show())).toEqual([303, '/login'])
    expect(leadsTo(await pay('fake-valid-visa-nonce'))).toEqual([303, '/login'])
  })

  describe('at Braintree', () => {
    it('shows a form with a client token, and subscribes once with its nonce', async () => {
      const test = await start('braintree')
      const { show, pay } = await open(test)
      const shown = await show()
      expect(shown.status).toBe(200)
      expect(await shown.text()).toMatch(/data-token="[\w+/=]{100,}"/)
      const nonce = test.sandbox.braintree.createNonce()
      expect(leadsTo(await pay(nonce))).toEqual([303, '/account'])
      expect(leadsTo(await pay(nonce))).toEqual([303, '/account'])
      expect(leadsTo(await show())).toEqual([303, '/account'])
      await expectOne(test)
    })

    it.each([
      ['a card that is declined', 'fake-processor-declined-visa-nonce', 'The card was declined'],
      ['a nonce that was used already', 'fake-consumed-nonce', 'Please enter the card again'],
    ])('shows the form again after %s, and then accepts another card', async (_, nonce, words) => {
      const test = await start('braintree')
      const { pay } = await open(test)
      const again = await pay(nonce)
      expect(again.status).toBe(422)
      expect(await again.text()).toContain(words)
      expect(await test.user.findSubscription('main')).toBeNull()
      expect((await pay('')).status).toBe(200)
      expect(leadsTo(await pay('fake-valid-visa-nonce'))).toEqual([303, '/account'])
      await expectOne(test)
    })

    it('finds the existing subscription when the form is sent again after a lost response', async () => {
      const test = await start('braintree')
      const { show, pay } = await open(test)
      await show()
      const nonce = test.sandbox.braintree.createNonce()
      test.sandbox.trouble.failNext(1, 'half-written')
      expect((await pay(nonce)).status).toBe(500)
      expect(leadsTo(await pay(nonce))).toEqual([303, '/account'])
      await expectOne(test)
    })
  })

  describe('at Stripe', () => {
    const sessionOf = (response: Response) =>
      /cs_\w+/.exec(response.headers.get('location') ?? '')?.[0] ?? ''

    it.each(['return', 'webhook'])(
      'creates the subscription of a customer who has paid, triggered by the %s',
      async (way) => {
        const test = await start('stripe')
        const { billing, show } = await open(test)
        const first = await show()
        expect(first.status).toBe(303)
        const session = sessionOf(first)
        expect(sessionOf(await show())).toBe(session)
        test.sandbox.stripe.completeCheckout(session)
        if (way === 'webhook') await test.settle()
        else {
          const address = `${BASE_URL}/billing/checkout/return?session_id=${session}`
          const back = await billing.fetch(new Request(address))
          expect(leadsTo(back)).toEqual([303, `${BASE_URL}/account`])
        }
        expect(leadsTo(await show())).toEqual([303, '/account'])
        await expectOne(test)
      },
    )

    it('redirects a customer who has just paid to the account page before any webhook has arrived', async () => {
      const test = await start('stripe', { webhooks: false })
      const { show } = await open(test)
      test.sandbox.stripe.completeCheckout(sessionOf(await show()))
      expect(leadsTo(await show())).toEqual([303, '/account'])
      await expectOne(test)
    })
  })
})
