import { describe, expect, it } from 'vitest'
import {
  buildBraintreeIdempotencyKey,
  buildOrderId,
  listPossibleOrderKeys,
} from './braintree-order-key.ts'

const key = (length: number) => 'k'.repeat(length)
const HASH = /^[0-9a-f]{64}$/

describe('an idempotency key, as sent to Braintree', () => {
  it.each([
    ['an order id', 127, '', buildOrderId(key(127)), key(127)],
    ['an order id', 128, '', buildOrderId(key(128)), HASH],
    [
      'the order id of a refund',
      120,
      'refund:',
      buildOrderId(key(120), 'refund:'),
      `refund:${key(120)}`,
    ],
    ['the order id of a refund', 121, 'refund:', buildOrderId(key(121), 'refund:'), HASH],
    ['a request key', 255, '', buildBraintreeIdempotencyKey(key(255), 0), key(255)],
    [
      'a request key after a decline',
      253,
      '',
      buildBraintreeIdempotencyKey(key(253), 1),
      `${key(253)}:1`,
    ],
    [
      'a request key after a decline',
      254,
      '',
      buildBraintreeIdempotencyKey(key(254), 1).replace(/:1$/, ''),
      HASH,
    ],
    [
      'a request key after two declines',
      17,
      '',
      buildBraintreeIdempotencyKey(key(17), 2),
      `${key(17)}:2`,
    ],
    [
      'the request key of a refund',
      248,
      'refund:',
      buildBraintreeIdempotencyKey(key(248), 0, 'refund:'),
      `refund:${key(248)}`,
    ],
    [
      'the request key of a refund',
      249,
      'refund:',
      buildBraintreeIdempotencyKey(key(249), 0, 'refund:'),
      HASH,
    ],
  ])(
    'is short enough for %s even if the key has %i characters',
    (_what, length, prefix, name, expected) => {
      if (typeof expected === 'string') expect(name).toBe(expected)
      else {
        expect(name.startsWith(prefix)).toBe(true)
        expect(name.slice(prefix.length)).toMatch(expected)
        expect(listPossibleOrderKeys(key(length))).toContain(name.slice(prefix.length))
      }
    },
  )
})
