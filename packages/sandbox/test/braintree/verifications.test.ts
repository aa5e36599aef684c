import { describe, expect, it } from 'vitest'
import { codesOf, collect, type Merchant, startMerchant } from './support.ts'

const CARD = { number: '4111111111111111', expirationDate: '12/2030', cardholderName: 'Ada' }

interface Verification {
  readonly id: string
  readonly status: string
  readonly amount: string
  readonly creditCard: { readonly last4: string; readonly accountType: string | null }
}

/** Half of these are missing from @types/braintree. */
interface Verifications {
  create(params: object): Promise<{ success: boolean; verification: Verification }>
  find(id: string): Promise<Verification>
  search(
    build: (query: Record<string, () => { is(value: string): void }>) => void,
  ): NodeJS.ReadableStream
}

function verificationsOf({ gateway }: Merchant): Verifications {
  return gateway.creditCardVerification as unknown as Verifications
}

describe('a verification of a card at Braintree', () => {
  it('verifies a card without storing it', async () => {
    const merchant = await startMerchant()
    const { verification } = await verificationsOf(merchant).create({
      creditCard: CARD,
      options: { amount: '1.00' },
    })
    expect(verification).toMatchObject({
      status: 'verified',
      amount: '1.00',
      creditCard: { last4: '1111', cardholderName: 'Ada' },
    })
    expect(await verificationsOf(merchant).find(verification.id)).toMatchObject({
      id: verification.id,
    })
    const unknown = verificationsOf(merchant).find('nope')
    await expect(unknown).rejects.toMatchObject({ type: 'notFoundError' })
  })

  it('is stored for a declined card too', async () => {
    const merchant = await startMerchant()
    const declined = await verificationsOf(merchant).create({
      creditCard: { ...CARD, number: '4000111111111115' },
    })
    expect(declined).toMatchObject({
      success: false,
      verification: { status: 'processor_declined', processorResponseCode: '2000' },
    })
    const { id } = declined.verification
    expect(await verificationsOf(merchant).find(id)).toMatchObject({
      status: 'processor_declined',
    })
  })

  it.each([
    [{ options: { amount: '-1' } }, ['94201']],
    [{ options: { amount: '0.001' } }, ['94202']],
    [{ options: { amount: '21474836.48' } }, ['94207']],
    [{ options: { merchantAccountId: 'nope' } }, ['94204']],
    [{ options: { accountType: 'ach' } }, ['942184']],
    [{ options: { accountType: 'debit' } }, ['942185']],
    [{ creditCard: { ...CARD, number: '4111' } }, ['81716']],
  ])('is rejected with the parameters %o', async (given, codes) => {
    const merchant = await startMerchant()
    const refused = await verificationsOf(merchant).create({ creditCard: CARD, ...given })
    expect(codesOf(refused)).toEqual(codes)
  })

  it('returns the requested account type (credit or debit) of a Brazilian card', async () => {
    const merchant = await startMerchant()
    merchant.sandbox.defineMerchantAccount({ id: 'brazil', currency: 'BRL' })
    const { verification } = await verificationsOf(merchant).create({
      creditCard: { ...CARD, number: '6370950000000005' },
      options: { merchantAccountId: 'brazil', accountType: 'debit' },
    })
    expect(verification.creditCard).toMatchObject({ accountType: 'debit', cardType: 'Hiper' })
  })

  it.each([
    ['91739', '-1'],
    ['91740', '0.001'],
    ['91752', '21474836.48'],
  ])(
    'is rejected with the error code %s for the amount %s when a card is stored',
    async (code, amount) => {
      const { gateway } = await startMerchant()
      const { customer } = await gateway.customer.create({})
      const refused = await gateway.creditCard.create({
        customerId: customer.id,
        ...CARD,
        options: { verifyCard: true, verificationAmount: amount },
      } as never)
      expect(codesOf(refused)).toEqual([code])
    },
  )

  it('is found by its card, customer and token', async () => {
    const merchant = await startMerchant()
    await merchant.gateway.customer.create({
      id: 'ada',
      email: 'ada@example.com',
      creditCard: {
        ...CARD,
        token: 'tok',
        billingAddress: { postalCode: '94107' },
        options: { verifyCard: true },
      },
    } as never)
    await verificationsOf(merchant).create({ creditCard: CARD })
    const find = async (criteria: Record<string, string>) => {
      const found = verificationsOf(merchant).search((query) => {
        for (const [name, value] of Object.entries(criteria)) query[name]?.().is(value)
      })
      return (await collect<Verification>(found)).length
    }
    expect(await find({ creditCardNumber: '4111111111111111' })).toBe(2)
    expect(await find({ creditCardNumber: '4012888888881881' })).toBe(0)
    expect(await find({ customerId: 'ada', customerEmail: 'ada@example.com' })).toBe(1)
    expect(await find({ paymentMethodToken: 'tok' })).toBe(1)
    expect(await find({ billingAddressDetailsPostalCode: '94107' })).toBe(1)
    expect(await find({ status: 'processor_declined' })).toBe(0)
  })
})

describe('results of 3-D Secure that another service has created', () => {
  const FOUND = { eciFlag: '05', cavv: 'some_cavv', threeDSecureVersion: '2.2.0' }
  const WRONG = [
    [{ threeDSecureVersion: undefined }, '117', '119'],
    [{ threeDSecureVersion: 'two' }, '119', '119'],
    [{ eciFlag: undefined }, '113', '113'],
    [{ eciFlag: '99' }, '114', '114'],
    [{ cavv: undefined }, '116', '116'],
    [{ authenticationResponse: '?' }, '120', '120'],
    [{ directoryResponse: '?' }, '121', '121'],
    [{ cavvAlgorithm: 'x' }, '122', '122'],
    [{ network: 'Carte' }, '128', '128'],
    [{ network: 'Mastercard' }, '139', '139'],
  ] as const

  it('are accepted with a card, a verification and a sale', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const threeDSecurePassThru = { ...FOUND, network: 'Visa', authenticationResponse: 'Y' }
    const creditCard = { ...CARD, threeDSecurePassThru, options: { verifyCard: true } }
    expect((await gateway.customer.create({ creditCard } as never)).success).toBe(true)
    const params = { creditCard: CARD, threeDSecurePassThru }
    expect((await verificationsOf(merchant).create(params)).success).toBe(true)
    const sold = await gateway.transaction.sale({ amount: '5.00', ...params } as never)
    expect(sold.success).toBe(true)
  })

  it.each(WRONG)('are rejected with the parameters %o', async (wrong, ofCard, ofSale) => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const threeDSecurePassThru = { ...FOUND, ...wrong }
    const creditCard = { ...CARD, threeDSecurePassThru }
    expect(codesOf(await gateway.customer.create({ creditCard } as never))).toEqual([
      `942${ofCard}`,
    ])
    const params = { creditCard: CARD, threeDSecurePassThru }
    expect(codesOf(await verificationsOf(merchant).create(params))).toEqual([`942${ofCard}`])
    const sold = await gateway.transaction.sale({ amount: '5.00', ...params } as never)
    expect(codesOf(sold)).toEqual([`915${ofSale}`])
  })
})

describe('the search for expiring cards', () => {
  interface Cards {
    expired(): NodeJS.ReadableStream
    expiringBetween(start: Date, end: Date): NodeJS.ReadableStream
  }

  it('finds expired cards, and cards that expire in a range of months', async () => {
    const merchant = await startMerchant({ now: '2026-06-15T00:00:00Z' })
    const { gateway } = merchant
    const { customer } = await gateway.customer.create({})
    for (const expirationDate of ['05/2026', '06/2026', '08/2026']) {
      await gateway.creditCard.create({ ...CARD, customerId: customer.id, expirationDate })
    }
    await gateway.paymentMethod.create({
      customerId: customer.id,
      paymentMethodNonce: 'fake-paypal-billing-agreement-nonce',
    })
    const cards = gateway.creditCard as unknown as Cards
    const datesOf = async (stream: NodeJS.ReadableStream) =>
      (await collect<{ expirationDate: string }>(stream)).map((card) => card.expirationDate)
    expect(await datesOf(cards.expired())).toEqual(['05/2026'])
    const between = cards.expiringBetween(new Date(2026, 5, 1), new Date(2026, 7, 1))
    expect(await datesOf(between)).toEqual(['08/2026', '06/2026'])
  })
})
