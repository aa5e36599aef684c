import type { VersionChange } from '../basics/version-change.ts'

/** Usage could have any number of digits, of which the last were lost; now it has 15 at most. */
export const meterValueDigits: VersionChange = {
  since: '2026-04-22',
  name: 'meter-value-digits',
  ends: 'long-meter-values',
}
