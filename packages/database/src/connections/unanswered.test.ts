import { expect, it } from 'vitest'
import {
  decidePoolSlot,
  MAX_SPARE_CONNECTIONS,
  SILENT_NETWORK_TIMEOUT_MS,
  type StopResult,
} from './unanswered.ts'

it.each<[StopResult, number, number, string]>([
  ['gone', 0, 0, 'close'],
  ['heard', 0, 0, 'keep'],
  ['silent', 0, 0, 'keep'],
  ['silent', SILENT_NETWORK_TIMEOUT_MS - 1, 0, 'keep'],
  ['silent', SILENT_NETWORK_TIMEOUT_MS, 0, 'close'],
  ['silent', SILENT_NETWORK_TIMEOUT_MS, MAX_SPARE_CONNECTIONS, 'close'],
  ['heard', SILENT_NETWORK_TIMEOUT_MS - 1, 0, 'keep'],
  ['heard', SILENT_NETWORK_TIMEOUT_MS, 0, 'replace'],
  ['heard', SILENT_NETWORK_TIMEOUT_MS, MAX_SPARE_CONNECTIONS - 1, 'replace'],
  ['heard', SILENT_NETWORK_TIMEOUT_MS, MAX_SPARE_CONNECTIONS, 'keep'],
  ['heard', 3_600_000, MAX_SPARE_CONNECTIONS, 'keep'],
])(
  "decidePoolSlot(), for a connection whose statement was stopped with the result '%s' after %i ms (%i connections already replaced), returns '%s'",
  (result, waited, replaced, place) => {
    expect(decidePoolSlot(result, waited, replaced)).toBe(place)
  },
)
