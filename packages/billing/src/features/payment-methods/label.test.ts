import { describe, expect, it } from 'vitest'
import { describeBraintreePaymentMethod as describeBraintree } from '../../providers/braintree/describe-method.ts'
import { describeStripePaymentMethod as describeStripe } from '../../providers/stripe/describe-method.ts'
import { PaymentMethod } from './payment-method.ts'

const NOW = new Date('2026-01-15T10:00:00Z')

/** Payment methods of Stripe with their kind, and their label in English and German. */
const STRIPE: readonly (readonly [given: object, kind: string, label: string, german: string])[] = [
  [
    { type: 'card', card: { brand: 'visa', last4: '4242', exp_month: 1, exp_year: 2026 } },
    'card',
    'Visa •••• 4242',
    'Visa •••• 4242',
  ],
  [
    { type: 'card', card: { brand: 'unknown', last4: '0001', exp_month: 1, exp_year: 2030 } },
    'card',
    'Card •••• 0001',
    'Karte •••• 0001',
  ],
  [
    { type: 'sepa_debit', sepa_debit: { last4: '3000', bank_code: '37040044' } },
    'bank_debit',
    'Bank debit •••• 3000',
    'Lastschrift •••• 3000',
  ],
  [
    { type: 'us_bank_account', us_bank_account: { last4: '6789', bank_name: 'TEST BANK' } },
    'bank_debit',
    'Bank debit (TEST BANK) •••• 6789',
    'Lastschrift (TEST BANK) •••• 6789',
  ],
  [
    { type: 'paypal', paypal: { payer_email: 'jane@example.com' } },
    'paypal',
    'PayPal (jane@example.com)',
    'PayPal (jane@example.com)',
  ],
  [{ type: 'paypal', paypal: { payer_email: null } }, 'paypal', 'PayPal', 'PayPal'],
  [{ type: 'link', link: { email: 'jane@example.com' } }, 'wallet', 'Link', 'Link'],
  [{ type: 'klarna', klarna: {} }, 'other', 'klarna', 'klarna'],
]

const BRAINTREE: readonly (readonly [given: object, kind: string, label: string])[] = [
  [
    { cardType: 'Visa', last4: '1881', expirationMonth: '01', expirationYear: '2026' },
    'card',
    'Visa •••• 1881',
  ],
  [{ cardType: 'Unknown', last4: '1881' }, 'card', 'Card •••• 1881'],
  [{ email: 'jane@example.com' }, 'paypal', 'PayPal (jane@example.com)'],
  [
    { bankName: 'TEST BANK', routingNumber: '1', last4: '1234' },
    'bank_debit',
    'Bank debit (TEST BANK) •••• 1234',
  ],
  [
    { mandateType: 'RECURRENT', last4: '5678', email: 'jane@example.com' },
    'bank_debit',
    'Bank debit •••• 5678',
  ],
  [{ venmoUserId: '1', username: 'jane' }, 'wallet', 'Venmo'],
  [
    { paymentInstrumentName: 'Visa 8886', cardType: 'Apple Pay - Visa', last4: '8886' },
    'wallet',
    'Apple Pay •••• 8886',
  ],
  [
    { sourceCardType: 'Visa', sourceCardLast4: '1111', last4: '2222', cardType: 'Visa' },
    'wallet',
    'Google Pay •••• 1111',
  ],
  [{}, 'other', 'Payment method'],
]

describe('a payment method', () => {
  it.each(STRIPE)(
    'gets its kind and label from Stripe’s data: %j',
    (given, kind, label, german) => {
      const described = describeStripe({ id: 'pm_1', ...given } as never, 'pm_1')
      const method = new PaymentMethod(described, NOW)
      expect(method).toMatchObject({ kind, isDefault: true })
      expect([method.label(), method.label('de-AT')]).toEqual([label, german])
    },
  )

  it.each(BRAINTREE)('gets its kind and label from Braintree’s data: %j', (given, kind, label) => {
    const method = new PaymentMethod(
      describeBraintree({ token: 'a', ...given } as never, false),
      NOW,
    )
    expect(method).toMatchObject({ id: 'a', kind, isDefault: false })
    expect(method.label()).toBe(label)
  })

  it.each([
    ['ar', 'بطاقة •••• 1'],
    ['he-IL', 'כרטיס •••• 1'],
    ['nb', 'Kort •••• 1'],
    ['no', 'Kort •••• 1'],
    ['ja', 'Card •••• 1'],
  ])('has a label in the language of the locale %s', (locale, label) => {
    const method = describeBraintree({ token: 'a', last4: '1' } as never, false)
    expect(new PaymentMethod(method, NOW).label(locale)).toBe(label)
  })

  it('is valid until the end of its expiry month, and counts as expiring in the 30 days before', () => {
    const expiring = (now: string, at?: string) => {
      const card = { token: 'a', last4: '1', expirationMonth: '02', expirationYear: '2026' }
      const method = new PaymentMethod(describeBraintree(card as never, false), new Date(now))
      return method.isExpiring(...(at === undefined ? [] : [new Date(at)]))
    }
    expect(expiring('2026-01-29T23:59:59.999Z')).toBe(false)
    expect(expiring('2026-01-30T00:00:00Z')).toBe(true)
    expect(expiring('2030-01-01T00:00:00Z', '2026-02-28T23:59:59.999Z')).toBe(false)
    expect(expiring('2020-01-01T00:00:00Z', '2026-03-01T00:00:00Z')).toBe(true)
  })
})
