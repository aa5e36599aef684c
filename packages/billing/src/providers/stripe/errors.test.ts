import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { NoCustomer, ProviderMisconfigured, UnknownPrice } from '../../core/errors/errors.ts'
import { isMissingObjectError, toBillingError } from './errors.ts'

function missing(message: string, param: string) {
  const raw = { message, param, code: 'resource_missing', type: 'invalid_request_error' } as const
  return new Stripe.errors.StripeInvalidRequestError(raw)
}

const LIVE = 'a similar object exists in live mode, but a test mode key was used'
const TEST = 'a similar object exists in test mode, but a live mode key was used'

describe('toBillingError() and isMissingObjectError(), for an object that Stripe does not find', () => {
  it.each([
    ["No such customer: 'cus_1'", 'id', NoCustomer, true],
    ["No such price: 'monthly'", 'items[0][price]', UnknownPrice, true],
    [
      `No such customer: 'cus_1'; ${LIVE} to make this request.`,
      'id',
      ProviderMisconfigured,
      false,
    ],
    [
      `No such customer: 'cus_1'; ${TEST} to make this request.`,
      'id',
      ProviderMisconfigured,
      false,
    ],
    [
      `No such price: 'monthly'; ${LIVE} to make this request.`,
      'price',
      ProviderMisconfigured,
      false,
    ],
  ])('convert Stripe’s error "%s"', (message, param, expected, isGone) => {
    const error = missing(message, param)
    expect(toBillingError(error)).toBeInstanceOf(expected)
    expect(isMissingObjectError(error)).toBe(isGone)
  })
})
