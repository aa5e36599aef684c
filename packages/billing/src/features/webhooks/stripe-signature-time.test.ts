import { describe, expect, it } from 'vitest'
import { InvalidSignature } from '../../core/errors/errors.ts'
import { requireRecentSignature } from './stripe-signature-time.ts'

const NOW = 1_800_000_000

describe('the timestamp in a Stripe webhook signature', () => {
  it.each([-300, -1, 0, 1, 300])(
    'is accepted if it differs by %d seconds from our time',
    (apart) => {
      requireRecentSignature(`t=${NOW + apart},v1=00`, new Date(NOW * 1000))
    },
  )

  it.each([-301, 301, 310, 3600, 31_536_000])(
    'is rejected if it differs by %d seconds from our time',
    (apart) => {
      expect(() => requireRecentSignature(`t=${NOW + apart},v1=00`, new Date(NOW * 1000))).toThrow(
        InvalidSignature,
      )
    },
  )

  it.each([
    ['missing', 'v1=00'],
    ['empty', 't=,v1=00'],
    ['there twice, the second one valid', `t=1,t=${NOW},v1=00`],
    ['there twice, the first one valid', `t=${NOW},v1=00,t=1`],
    ['there twice and the same', `t=${NOW},t=${NOW},v1=00`],
    ['there twice, one with a space', `t=${NOW}, t =1,v1=00`],
    ['in milliseconds', `t=${NOW * 1000},v1=00`],
    ['not a number', 't=now,v1=00'],
    ['negative', `t=-${NOW},v1=00`],
    ['a fraction', `t=${NOW}.5,v1=00`],
    ['nothing at all', ''],
  ])('is rejected if it is %s', (_what, signature) => {
    expect(() => requireRecentSignature(signature, new Date(NOW * 1000))).toThrow(InvalidSignature)
  })
})
