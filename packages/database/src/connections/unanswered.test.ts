import { expect, it } from 'vitest'
import { decidePlace, SILENCE, SPARE_CONNECTIONS, type StopResult } from './unanswered.ts'

it.each<[StopResult, number, number, string]>([
  ['gone', 0, 0, 'close'],
  ['heard', 0, 0, 'keep'],
  ['silent', 0, 0, 'keep'],
  ['silent', SILENCE - 1, 0, 'keep'],
  ['silent', SILENCE, 0, 'close'],
  ['silent', SILENCE, SPARE_CONNECTIONS, 'close'],
  ['heard', SILENCE - 1, 0, 'keep'],
  ['heard', SILENCE, 0, 'replace'],
  ['heard', SILENCE, SPARE_CONNECTIONS - 1, 'replace'],
  ['heard', SILENCE, SPARE_CONNECTIONS, 'keep'],
  ['heard', 3_600_000, SPARE_CONNECTIONS, 'keep'],
])(
  'decidePlace for a server that is %s after %i ms, with %i connections replaced, returns %s',
  (result, waited, replaced, place) => {
    expect(decidePlace(result, waited, replaced)).toBe(place)
  },
)
