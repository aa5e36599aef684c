import { describe, expect, it } from 'vitest'
import { startMerchant } from './support.ts'

const nonceOf = (name: string) => `fake-three-d-secure-${name}-nonce`
const idOf = (name: string) => `fake-three-d-secure-${name}-id`

describe('results of 3-D Secure authentication in the browser', () => {
  it.each([
    ['visa-full-authentication', 'authenticate_successful', 'Y', true, true],
    ['visa-attempts-non-participating', 'authenticate_attempt_successful', 'Y', true, true],
    ['visa-failed-signature', 'authenticate_signature_verification_failed', 'Y', false, true],
    ['visa-failed-authentication', 'authenticate_failed', 'Y', false, true],
    ['visa-not-enrolled', 'lookup_not_enrolled', 'N', false, false],
    ['visa-lookup-timeout', 'lookup_error', 'U', false, false],
    ['visa-bypassed-authentication', 'lookup_bypassed', 'B', false, false],
    ['two-visa-successful-frictionless-authentication', 'authenticate_successful', 'Y', true, true],
  ])(
    'are returned with the payment method nonce, and with a sale that charges this nonce: %s',
    async (name, status, enrolled, shifted, possible) => {
      const { gateway } = await startMerchant()
      const info = {
        status,
        enrolled,
        liabilityShifted: shifted,
        liabilityShiftPossible: possible,
      }
      const nonce = await gateway.paymentMethodNonce.find(nonceOf(name))
      expect(nonce.threeDSecureInfo).toMatchObject(info)
      const sale = await gateway.transaction.sale({
        amount: '10.00',
        paymentMethodNonce: nonceOf(name),
      })
      expect(sale.transaction.threeDSecureInfo).toMatchObject(info)
      const found = await gateway.transaction.find(sale.transaction.id)
      expect(found.threeDSecureInfo).toMatchObject(info)
    },
  )

  it('are stored with the verification when a card is stored, and are lost if the card is not verified', async () => {
    const { gateway } = await startMerchant()
    const keep = async (verifyCard: boolean) => {
      const { customer } = await gateway.customer.create({
        paymentMethodNonce: nonceOf('visa-full-authentication'),
        creditCard: { options: { verifyCard } },
      } as Parameters<typeof gateway.customer.create>[0])
      return customer
    }
    const verified = await keep(true)
    const [method] = verified.paymentMethods as unknown as [{ token: string; verification: object }]
    expect(method.verification).toMatchObject({
      threeDSecureInfo: { status: 'authenticate_successful', eciFlag: '05' },
    })
    const sale = await gateway.transaction.sale({
      amount: '10.00',
      paymentMethodToken: method.token,
    })
    expect(sale.transaction.threeDSecureInfo).toBeNull()
    const [plain] = (await keep(false)).paymentMethods as unknown as [{ verification?: object }]
    expect(plain.verification).toBeUndefined()
  })

  it('can be sent by authentication id together with the token of a stored card', async () => {
    const { gateway } = await startMerchant()
    const { customer } = await gateway.customer.create({ paymentMethodNonce: 'fake-valid-nonce' })
    const pay = (threeDSecureAuthenticationId: string) =>
      gateway.transaction.sale({
        amount: '10.00',
        paymentMethodToken: customer.paymentMethods?.[0]?.token ?? '',
        threeDSecureAuthenticationId,
      } as Parameters<typeof gateway.transaction.sale>[0])
    const { transaction } = await pay(idOf('visa-full-authentication'))
    expect(transaction.threeDSecureInfo).toMatchObject({ status: 'authenticate_successful' })
    const refused = await pay('nobody-has-this')
    expect(refused.success).toBe(false)
    expect(refused.errors.deepErrors()).toMatchObject([
      { attribute: 'three_d_secure_authentication_id', code: '915196' },
    ])
  })

  const full = idOf('visa-full-authentication')
  const threeDSecurePassThru = {
    eciFlag: '05',
    cavv: 'some_cavv',
    xid: 'some_xid',
    threeDSecureVersion: '2.2.0',
  }

  it.each([
    ['an empty id', 'fake-valid-nonce', { threeDSecureAuthenticationId: null }, '196'],
    ['a card of another brand', 'fake-valid-mastercard-nonce', {}, '197'],
    ['a PayPal account', 'fake-paypal-billing-agreement-nonce', {}, '197'],
    ['a nonce with another result', nonceOf('visa-failed-authentication'), {}, '198'],
    ['together with a pass-thru', 'fake-valid-nonce', { threeDSecurePassThru }, '199'],
    ['together with its own nonce', nonceOf('visa-full-authentication'), {}, null],
  ])(
    'must belong to the charged or verified card: %s',
    async (_what, paymentMethodNonce, more, code) => {
      const { gateway } = await startMerchant()
      const given = { paymentMethodNonce, threeDSecureAuthenticationId: full, ...more }
      const sale = await gateway.transaction.sale({ amount: '10.00', ...given } as never)
      const attribute = 'three_d_secure_authentication_id'
      const wrong = (start: string) => (code ? [{ attribute, code: `${start}${code}` }] : undefined)
      expect(sale.errors?.deepErrors()).toEqual(
        wrong('915')?.map((each) => expect.objectContaining(each)),
      )
      if (paymentMethodNonce.includes('paypal')) return
      // The types lack this call.
      const verifications = gateway.creditCardVerification as unknown as {
        create(params: object): Promise<typeof sale>
      }
      const creditCard = { number: '4111111111111111', expirationDate: '12/2030' }
      const verified = await verifications.create({ creditCard, ...given })
      expect(verified.errors?.deepErrors()).toEqual(
        wrong('942')?.map((each) => expect.objectContaining(each)),
      )
    },
  )

  it.each([
    ['fake-valid-nonce', false],
    [nonceOf('visa-failed-authentication'), false],
    [nonceOf('visa-full-authentication'), true],
    [nonceOf('visa-attempts-non-participating'), true],
  ])(
    'satisfy a sale that requires 3-D Secure only if the authentication succeeded: %s',
    async (paymentMethodNonce, success) => {
      const { gateway } = await startMerchant()
      const result = await gateway.transaction.sale({
        amount: '10.00',
        paymentMethodNonce,
        options: { threeDSecure: { required: true } },
      })
      expect(result.success).toBe(success)
      expect(result.transaction).toMatchObject(
        success
          ? { status: 'authorized' }
          : { status: 'gateway_rejected', gatewayRejectionReason: 'three_d_secure' },
      )
    },
  )
})
