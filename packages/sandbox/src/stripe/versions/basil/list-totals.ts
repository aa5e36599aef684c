import type { VersionChange } from '../basics/version-change.ts'

/** A list could be asked, by `expand`, how long it is. */
export const listTotals: VersionChange = {
  since: '2025-03-31',
  name: 'list-totals',
  expandable: { list: ['total_count'] },
}
