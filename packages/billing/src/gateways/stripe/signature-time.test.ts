import { describe, expect, it } from 'vitest'
import { InvalidSignature } from '../../errors.ts'
import { requireFresh } from './signature-time.ts'

const NOW = 1_800_000_000

describe('the time of a signature', () => {
  it.each([-300, -1, 0, 1, 300])('is believed %d seconds from ours', (apart) => {
    requireFresh(`t=${NOW + apart},v1=00`, new Date(NOW * 1000))
  })

  it.each([-301, 301, 310, 3600, 31_536_000])('is refused %d seconds from ours', (apart) => {
    expect(() => requireFresh(`t=${NOW + apart},v1=00`, new Date(NOW * 1000))).toThrow(
      InvalidSignature,
    )
  })

  it.each([
    ['missing', 'v1=00'],
    ['empty', 't=,v1=00'],
    ['there twice, the second good', `t=1,t=${NOW},v1=00`],
    ['there twice, the first good', `t=${NOW},v1=00,t=1`],
    ['there twice and the same', `t=${NOW},t=${NOW},v1=00`],
    ['there twice, one with a blank', `t=${NOW}, t =1,v1=00`],
    ['in milliseconds', `t=${NOW * 1000},v1=00`],
    ['no number', 't=now,v1=00'],
    ['negative', `t=-${NOW},v1=00`],
    ['a fraction', `t=${NOW}.5,v1=00`],
    ['nothing at all', ''],
  ])('is refused when it is %s', (_what, signature) => {
    expect(() => requireFresh(signature, new Date(NOW * 1000))).toThrow(InvalidSignature)
  })
})
