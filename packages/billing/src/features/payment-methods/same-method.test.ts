import { describe, expect, it } from 'vitest'
import { isSameMethod } from './payment-method.ts'

type Method = Parameters<typeof isSameMethod>[0]

const CARD: Method = {
  id: 'pm_1',
  kind: 'card',
  brand: 'visa',
  lastFour: '4242',
  email: null,
  expires: { month: 4, year: 2030 },
  fingerprint: 'a',
}
const PLAIN: Method = { ...CARD, fingerprint: null }
const PAYPAL: Method = {
  ...PLAIN,
  kind: 'paypal',
  brand: null,
  lastFour: null,
  email: 'ada@example.com',
  expires: null,
}
const WALLET: Method = { ...PLAIN, kind: 'wallet', brand: 'venmo', lastFour: null, expires: null }
const other = { id: 'pm_2' }

describe('two payment methods', () => {
  it.each<[string, Method, Partial<Method>]>([
    ['a method and itself', WALLET, { id: 'pm_1' }],
    ['a card entered twice', CARD, other],
    ['a card without a fingerprint, entered twice', PLAIN, other],
    ['a card with a fingerprint on one side only', CARD, { ...other, fingerprint: null }],
    ['a card whose brand is written differently', PLAIN, { ...other, brand: 'Visa' }],
    ['a card with an expiry on one side only', CARD, { ...other, expires: null }],
    ['a PayPal account', PAYPAL, other],
  ])('are recognized as the same: %s', (_name, method, change) => {
    expect(isSameMethod(method, { ...method, ...change })).toBe(true)
    expect(isSameMethod({ ...method, ...change }, method)).toBe(true)
  })

  it.each<[string, Method, Partial<Method>]>([
    ['cards with different numbers and the same last digits', CARD, { fingerprint: 'b' }],
    ['cards with different last digits', PLAIN, { lastFour: '4444' }],
    ['cards of different brands', PLAIN, { brand: 'mastercard' }],
    ['a card and its renewal', CARD, { expires: { month: 4, year: 2034 } }],
    ['different PayPal accounts', PAYPAL, { email: 'king@example.com' }],
    ['a card and a PayPal account', PLAIN, PAYPAL],
    ['a card and the same card in a wallet', CARD, { kind: 'wallet' }],
    ['two wallets without any details', WALLET, {}],
  ])('are recognized as different: %s', (_name, method, change) => {
    const changed = { ...method, ...change, ...other }
    expect(isSameMethod(method, changed)).toBe(false)
    expect(isSameMethod(changed, method)).toBe(false)
  })
})
