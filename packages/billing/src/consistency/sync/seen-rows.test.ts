import { describe, expect, it } from 'vitest'
import { SeenRows } from './seen-rows.ts'

describe('SeenRows', () => {
  const ids = [1, 2, 7, 8, 9, 63, 64, 511, 512, 100_003]
  const missing = [0, 3, 10, 65, 510, 100_002, 100_004, 9_000_000]

  it('knows the ids that were added, and no others, also after it was kept as text', () => {
    const seen = new SeenRows()
    for (const id of ids) seen.add(id)
    for (const each of [seen, new SeenRows(seen.toString())]) {
      expect(ids.filter((id) => !each.has(id))).toEqual([])
      expect(missing.filter((id) => each.has(id))).toEqual([])
    }
  })

  it('takes an eighth of a byte for each row', () => {
    const seen = new SeenRows()
    for (let id = 1; id <= 100_000; id++) seen.add(id)
    expect(seen.size).toBeLessThanOrEqual(25_000)
  })
})
