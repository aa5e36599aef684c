import { describe, expect, it } from 'vitest'
import { codesOf, type Merchant, startMerchant } from './support.ts'

const CARD = { number: '4111111111111111', expirationMonth: '12', expirationYear: '2030' }

interface Token {
  readonly authorizationFingerprint: string
  readonly clientApiUrl: string
  readonly configUrl: string
}

/** Authenticates as a page with a client token. */
async function openPage({ gateway }: Merchant, options: object = {}) {
  const { clientToken } = await gateway.clientToken.generate(options as never)
  const token = JSON.parse(Buffer.from(clientToken, 'base64').toString()) as Token
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${token.clientApiUrl}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        authorizationFingerprint: token.authorizationFingerprint,
        ...body,
      }),
    })
    return { status: response.status, body: await response.json(), headers: response.headers }
  }
  const addCard = async (creditCard: object) => {
    const { status, body } = await post('payment_methods/credit_cards', { creditCard })
    return { status, body, nonce: body.creditCards?.[0]?.nonce as string }
  }
  const addPayPal = async (paypalAccount: object) => {
    const { status, body } = await post('payment_methods/paypal_accounts', { paypalAccount })
    return { status, nonce: body.paypalAccounts?.[0]?.nonce as string }
  }
  const get = async (path: string) => {
    const query = new URLSearchParams({
      authorizationFingerprint: token.authorizationFingerprint,
    })
    const response = await fetch(`${token.clientApiUrl}/v1/${path}?${query}`)
    return { status: response.status, body: await response.json() }
  }
  return { token, post, addCard, addPayPal, get }
}

describe('the API that pages call with a client token', () => {
  it('exchanges a card for a nonce, with which the server can store the card and its details', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const page = await openPage(merchant)
    const added = await page.addCard({ ...CARD, billingAddress: { postalCode: '94107' } })
    expect(added.status).toBe(201)
    expect(added.body.creditCards[0]).toMatchObject({
      type: 'CreditCard',
      details: { lastFour: '1111', cardType: 'Visa' },
    })
    const { customer } = await gateway.customer.create({ paymentMethodNonce: added.nonce })
    expect(customer.creditCards).toMatchObject([
      { maskedNumber: '411111******1111', billingAddress: { postalCode: '94107' } },
    ])
    const again = await gateway.customer.create({ paymentMethodNonce: added.nonce })
    expect(codesOf(again)).toEqual(['91731'])
  })

  it('stores the card in the vault immediately if the client token names a customer', async () => {
    const merchant = await startMerchant()
    const { gateway, sandbox } = merchant
    await gateway.customer.create({ id: 'ada', paymentMethodNonce: 'fake-valid-amex-nonce' })
    const page = await openPage(merchant, { customerId: 'ada', options: { makeDefault: true } })
    const { nonce } = await page.addCard(CARD)
    const kept = sandbox.paymentMethods('ada')
    expect(kept.map(({ isDefault }) => isDefault)).toEqual([false, true])
    const listed = await page.get('payment_methods')
    expect(listed.body.paymentMethods).toHaveLength(2)
    // A card that is already stored is not stored twice.
    const used = await gateway.paymentMethod.create({
      customerId: 'ada',
      paymentMethodNonce: nonce,
    })
    expect(used.paymentMethod.token).toBe(kept[1]?.token)
    expect(sandbox.paymentMethods('ada')).toHaveLength(2)
  })

  it('reports the errors of a card field by field', async () => {
    const merchant = await startMerchant()
    const page = await openPage(merchant)
    const refused = await page.addCard({ ...CARD, number: '4111111111111112', cvv: '1' })
    expect(refused.status).toBe(422)
    expect(refused.body.fieldErrors).toEqual([
      {
        field: 'creditCard',
        fieldErrors: [
          expect.objectContaining({ field: 'number', code: '81715' }),
          expect.objectContaining({ field: 'cvv', code: '81707' }),
        ],
      },
    ])
  })

  it.each([
    ['verifyCard', '4000111111111115'],
    ['failOnDuplicatePaymentMethod', '4111111111111111'],
    ['failOnDuplicatePaymentMethodForCustomer', '4111111111111111'],
  ])("rejects a card because of the client token's option %s", async (option, number) => {
    const merchant = await startMerchant()
    const { gateway, sandbox } = merchant
    await gateway.customer.create({ id: 'ada', creditCard: { ...CARD } } as never)
    const page = await openPage(merchant, { customerId: 'ada', options: { [option]: true } })
    expect((await page.addCard({ ...CARD, number })).status).toBe(422)
    expect(sandbox.paymentMethods('ada')).toHaveLength(1)
  })

  it('returns a nonce for a PayPal account that can be stored with a consent code, and otherwise only charged', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const page = await openPage(merchant)
    const kept = await page.addPayPal({ consentCode: 'yes', token: 'paypal-of-ada' })
    const { customer } = await gateway.customer.create({ paymentMethodNonce: kept.nonce })
    expect(customer.paypalAccounts).toMatchObject([{ token: 'paypal-of-ada' }])
    const once = await page.addPayPal({ accessToken: 'only now' })
    const refused = await gateway.customer.create({ paymentMethodNonce: once.nonce })
    expect(codesOf(refused)).toEqual(['82902'])
    const sold = await gateway.transaction.sale({
      amount: '5.00',
      paymentMethodNonce: once.nonce,
      options: { storeInVault: true },
    })
    expect(sold.success).toBe(true)
    expect(sold.transaction.paypalAccount?.token).toBeNull()
  })

  it('returns the configuration to pages of any origin, unless the client token lists allowed domains', async () => {
    const merchant = await startMerchant()
    const anywhere = await openPage(merchant)
    const { body } = await anywhere.get('configuration')
    expect(body).toMatchObject({ merchantId: 'sandbox_merchant', paypalEnabled: true })
    const allowed = await anywhere.post(
      'payment_methods/credit_cards',
      { creditCard: CARD },
      { origin: 'https://shop.example' },
    )
    expect(allowed.headers.get('access-control-allow-origin')).toBe('*')
    const atHome = await openPage(merchant, { domains: ['shop.example'] })
    const from = (origin: string) =>
      atHome.post('payment_methods/credit_cards', { creditCard: CARD }, { origin })
    expect((await from('https://www.shop.example')).status).toBe(201)
    expect((await from('https://evilshop.example')).status).toBe(403)
  })

  it('answers CORS preflight requests, and responds to unknown paths with 404', async () => {
    const merchant = await startMerchant()
    const { token, post } = await openPage(merchant)
    const preflight = await fetch(token.configUrl, { method: 'OPTIONS' })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('content-type')
    expect((await post('payment_methods/venmo_accounts', {})).status).toBe(404)
  })
})

describe('3-D Secure in the API that pages call', () => {
  const ASKS = { ...CARD, number: '4000000000002503' }
  const path = (nonce: string, step: string) => `payment_methods/${nonce}/three_d_secure/${step}`

  /**
   * Looks up a card whose bank requires a challenge, and returns the challenge's possible results.
   */
  async function challenge(merchant: Merchant) {
    const page = await openPage(merchant)
    const { nonce } = await page.addCard(ASKS)
    const { status, body } = await page.post(path(nonce, 'lookup'), { amount: '10.00' })
    const asked = body.paymentMethod.nonce as string
    const html = await (await fetch(body.lookup.acsUrl)).text()
    const [passed = '', failed = ''] = [...html.matchAll(/data-jwt="([^"]+)"/g)].map(
      ([, jwt]) => jwt,
    )
    return { page, nonce, asked, status, body, passed, failed }
  }

  it('returns a new nonce at each step of the authentication, and the last nonce contains the result', async () => {
    const merchant = await startMerchant()
    const { page, nonce, asked, status, body, passed } = await challenge(merchant)
    expect([status, body.threeDSecureInfo]).toEqual([
      201,
      { liabilityShifted: false, liabilityShiftPossible: true },
    ])
    expect((await page.post(path(nonce, 'lookup'), { amount: '10.00' })).status).toBe(404)
    const done = await page.post(path(asked, 'authenticate_from_jwt'), { jwt: passed })
    expect(done.body.threeDSecureInfo.liabilityShifted).toBe(true)
    const verified = done.body.paymentMethod.nonce as string
    const { threeDSecureInfo } = await merchant.gateway.paymentMethodNonce.find(verified)
    expect(threeDSecureInfo).toMatchObject({ status: 'authenticate_successful', enrolled: 'Y' })
    const sold = await merchant.gateway.transaction.sale({
      amount: '10.00',
      paymentMethodNonce: verified,
      options: { threeDSecure: { required: true } },
    } as never)
    expect(sold.success).toBe(true)
  })

  it('accepts a result only if the bank signed it for the same card, and accepts it only once', async () => {
    const merchant = await startMerchant()
    const { page, asked, passed, failed } = await challenge(merchant)
    const other = await challenge(merchant)
    const answer = async (jwt: string, nonce = asked) =>
      (await page.post(path(nonce, 'authenticate_from_jwt'), { jwt })).status
    const [header = '', , signature = ''] = failed.split('.')
    const claims = Buffer.from(JSON.stringify({ nonce: asked, passed: true })).toString('base64url')
    const wrong = ['', 'x', 'a.b.c', `${header}.${claims}.${signature}`, other.passed]
    for (const jwt of wrong) expect([jwt, await answer(jwt)]).toEqual([jwt, 403])
    expect(await answer(failed)).toBe(201)
    expect(await answer(passed)).toBe(404)
    const { acsUrl } = other.body.lookup
    const gone = acsUrl.replace(other.asked, asked)
    expect((await fetch(gone)).status).not.toBe(200)
  })

  it("requires an amount, a card, and 3-D Secure in the merchant's settings", async () => {
    const merchant = await startMerchant()
    const page = await openPage(merchant)
    const card = await page.addCard(CARD)
    const paypal = await page.addPayPal({ consentCode: 'yes' })
    for (const amount of [undefined, '', 'ten', '-1', '1.234']) {
      expect((await page.post(path(card.nonce, 'lookup'), { amount })).status).toBe(422)
    }
    expect((await page.post(path(paypal.nonce, 'lookup'), { amount: '1' })).status).toBe(404)
    expect((await page.post(path('nothing', 'lookup'), { amount: '1' })).status).toBe(404)
    merchant.sandbox.changeSettings({ threeDSecure: false })
    expect((await page.post(path(card.nonce, 'lookup'), { amount: '1' })).status).toBe(403)
    expect(() => merchant.sandbox.changeSettings({ challenges: ['name' as never] })).toThrow(
      TypeError,
    )
  })
})

describe('the fingerprint of a client token', () => {
  it('is rejected if it is forged, altered, or a day old', async () => {
    const merchant = await startMerchant({
      merchants: [{ merchantId: 'other', publicKey: 'o', privateKey: 'o' }],
    })
    const page = await openPage(merchant)
    const statusWith = async (
      authorizationFingerprint: string,
      merchantId = 'sandbox_merchant',
    ) => {
      const url = `${merchant.sandbox.url}/merchants/${merchantId}/client_api/v1/configuration`
      const query = new URLSearchParams({ authorizationFingerprint })
      return (await fetch(`${url}?${query}`)).status
    }
    const mine = page.token.authorizationFingerprint
    expect(await statusWith(mine)).toBe(200)
    expect(await statusWith('made.up')).toBe(401)
    expect(await statusWith('')).toBe(401)
    expect(await statusWith(mine, 'other')).toBe(401)
    const [payload = '', signature = ''] = mine.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const altered = Buffer.from(JSON.stringify({ ...claims, customerId: 'ada' }))
    expect(await statusWith(`${altered.toString('base64url')}.${signature}`)).toBe(401)
    await merchant.clock.advance({ days: 1 })
    expect(await statusWith(mine)).toBe(401)
  })

  it('does not authenticate calls that require API keys', async () => {
    const merchant = await startMerchant()
    const { token } = await openPage(merchant)
    const response = await fetch(`${merchant.sandbox.url}/merchants/sandbox_merchant/customers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.authorizationFingerprint}` },
    })
    expect(response.status).toBe(401)
  })
})

describe('the client token API', () => {
  it('rejects invalid domains, and more than five domains, when a client token is created', async () => {
    const { gateway } = await startMerchant()
    const generate = async (domains: string[]) =>
      codesOf(await gateway.clientToken.generate({ domains } as never))
    expect(await generate(['example'])).toEqual(['92011'])
    expect(await generate(Array.from({ length: 6 }, (_, i) => `shop${i}.example`))).toEqual([
      '92810',
    ])
  })

  it('includes the payment method that the page should prefer in the client token', async () => {
    const { gateway } = await startMerchant()
    const { clientToken } = await gateway.clientToken.generate({
      preferredPaymentMethodToken: 'tok',
    } as never)
    const { paymentMethodIdJwt } = JSON.parse(Buffer.from(clientToken, 'base64').toString())
    const [, payload = ''] = paymentMethodIdJwt.split('.')
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual({ pmid: 'tok' })
  })
})
