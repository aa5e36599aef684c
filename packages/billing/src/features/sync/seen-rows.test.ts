import { describe, expect, it } from 'vitest'
import { SeenRows } from './sync-run.ts'

describe('SeenRows', () => {
  const ids = [1, 2, 7, 8, 9, 63, 64, 511, 512, 100_003]
  const missing = [0, 3, 10, 65, 510, 100_002, 100_004, 9_000_000]

  it('contains exactly the ids that were added, also after a round trip through text', () => {
    const seen = new SeenRows()
    for (const id of ids) seen.add(id)
    for (const each of [seen, new SeenRows(seen.toString())]) {
      expect(ids.filter((id) => !each.has(id))).toEqual([])
      expect(missing.filter((id) => each.has(id))).toEqual([])
    }
  })

  it('takes one bit for each row', () => {
    const seen = new SeenRows()
    for (let id = 1; id <= 100_000; id++) seen.add(id)
    expect(seen.size).toBeLessThanOrEqual(25_000)
  })
})
