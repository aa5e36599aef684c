import { describe, expect, it } from 'vitest'
import { classifyUsageError } from './stripe.ts'

const invalid = 'StripeInvalidRequestError'
const connection = 'StripeConnectionError'

describe('classifyUsageError()', () => {
  it.each([
    [{ type: invalid, code: 'duplicate_meter_event' }, 'sent'],
    [
      { type: invalid, param: 'identifier', message: 'An event already exists with identifier a.' },
      'sent',
    ],
    [
      { type: invalid, param: 'identifier', message: 'Invalid string: at most 100 characters' },
      'refused',
    ],
    [{ type: invalid, code: 'no_meter' }, 'refused'],
    [{ type: invalid, code: 'meter_event_customer_not_found' }, 'refused'],
    [{ type: invalid, code: 'timestamp_too_far_in_past' }, 'refused'],
    [{ type: invalid, code: 'timestamp_in_future' }, 'unknown'],
    [{ type: 'StripeRateLimitError' }, 'unknown'],
    [{ type: 'StripeAuthenticationError' }, 'later'],
    [{ type: 'StripePermissionError' }, 'later'],
    [{ type: connection, detail: { code: 'ECONNREFUSED' } }, 'unknown'],
    [{ type: connection, detail: { code: 'ENOTFOUND' } }, 'unknown'],
    [{ type: connection, detail: { code: 'ECONNRESET' } }, 'unknown'],
    [{ type: connection }, 'unknown'],
    [{ type: 'StripeAPIError' }, 'unknown'],
    [new TypeError('a bug'), 'unknown'],
  ])('maps the error %j to the outcome "%s"', (error, state) => {
    expect(classifyUsageError(error)).toBe(state)
  })
})
