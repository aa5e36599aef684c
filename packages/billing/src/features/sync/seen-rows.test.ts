import { describe, expect, it } from 'vitest'
import { RowIdSet } from './sync-run.ts'

describe('RowIdSet, a set of row ids', () => {
  const ids = [1, 2, 7, 8, 9, 63, 64, 511, 512, 100_003]
  const missing = [0, 3, 10, 65, 510, 100_002, 100_004, 9_000_000]

  it('contains exactly the ids that were added, also after it was written as text and parsed', () => {
    const seen = new RowIdSet()
    for (const id of ids) seen.add(id)
    for (const each of [seen, new RowIdSet(seen.toString())]) {
      expect(ids.filter((id) => !each.has(id))).toEqual([])
      expect(missing.filter((id) => each.has(id))).toEqual([])
    }
  })

  it('needs one bit for each row', () => {
    const seen = new RowIdSet()
    for (let id = 1; id <= 100_000; id++) seen.add(id)
    expect(seen.size).toBeLessThanOrEqual(25_000)
  })
})
