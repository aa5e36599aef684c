import { describe, expect, it } from 'vitest'
import type { Revocation } from '../storage/records.ts'
import { createFeedCursor } from './cursor.ts'

const NOW = 10_000_000
const HOUR = 3_600_000

function entry(id: number, fields: Partial<Revocation> = {}): Revocation {
  const at = new Date(NOW)
  const own = { at, until: at, mark: `mark ${id}`, writtenAt: at }
  return { id, kind: 'token', subject: 'same', ...own, ...fields }
}

const written = (milliseconds: number) => ({ writtenAt: new Date(milliseconds) })

/**
 * Performs one read of the feed. Returns how each entry compares with the known ones, and whether
 * all known entries were read again.
 */
function read(cursor: ReturnType<typeof createFeedCursor>, entries: Revocation[], monotonic = 0) {
  cursor.begin(monotonic)
  const verdicts = entries.map((each) => cursor.compare(each))
  const sawAll = cursor.sawAll()
  cursor.advance(NOW)
  return { verdicts, sawAll, position: cursor.position() }
}

describe('the position in the revocation feed up to which a process has read', () => {
  it('moves over consecutive ids to the last one', () => {
    const cursor = createFeedCursor()
    expect(read(cursor, [entry(1), entry(2), entry(3)])).toEqual({
      verdicts: ['new', 'new', 'new'],
      sawAll: true,
      position: 3,
    })
    expect(read(cursor, [entry(3), entry(4)])).toEqual({
      verdicts: ['known', 'new'],
      sawAll: true,
      position: 4,
    })
  })

  it('stays before a gap in the ids, and the entry that fills the gap later is read', () => {
    const cursor = createFeedCursor()
    expect(read(cursor, [entry(1), entry(3)]).position).toBe(1)
    expect(read(cursor, [entry(1), entry(2), entry(3)], 100)).toEqual({
      verdicts: ['known', 'new', 'known'],
      sawAll: true,
      position: 3,
    })
  })

  it('moves past a gap in the ids once no open transaction can fill it', () => {
    const cursor = createFeedCursor()
    read(cursor, [entry(1), entry(3)])
    expect(read(cursor, [entry(1), entry(3)], 15_001).position).toBe(3)
  })

  it('moves past old gaps when the whole feed is read for the first time', () => {
    const cursor = createFeedCursor()
    const old = written(NOW - HOUR - 1)
    expect(read(cursor, [entry(5, old), entry(9, old), entry(10)]).position).toBe(10)
  })

  // A regression test: recent entries of a process whose clock was ahead made all others look an
  // hour old.
  it.each<[string, Partial<Revocation>]>([
    ['is a day ahead', { at: new Date(NOW + 24 * HOUR) }],
    ['is decades behind', { at: new Date(0) }],
  ])(
    'stays before a gap in the ids even if an entry was written by a process whose clock %s',
    (_, fields) => {
      const cursor = createFeedCursor()
      read(cursor, [entry(1)])
      expect(read(cursor, [entry(1), entry(3), entry(4, fields)]).position).toBe(1)
      expect(read(createFeedCursor(), [entry(2), entry(4, fields)]).position).toBe(0)
    },
  )

  it("stays before a gap after the first read, even if the entry after the gap is old by the database's clock", () => {
    const cursor = createFeedCursor()
    read(cursor, [entry(1)])
    expect(read(cursor, [entry(1), entry(3, written(0))]).position).toBe(1)
  })
})

describe('a loss of entries from the revocation feed', () => {
  const standing = () => {
    const cursor = createFeedCursor()
    read(cursor, [entry(1), entry(2), entry(3), entry(5)])
    return cursor
  }

  it.each<[string, Revocation[]]>([
    ['the feed is empty', []],
    ['the entry read last is gone', [entry(5)]],
    ['another entry has the id of the one read last', [entry(3, { mark: 'another' }), entry(5)]],
    ['an entry after a gap is gone', [entry(3)]],
    [
      'another entry has the id of one after a gap',
      [entry(3), entry(4), entry(5, { mark: 'another' })],
    ],
    ['the feed has only higher ids', [entry(6), entry(7)]],
  ])('is detected when %s', (_, entries) => {
    const { verdicts, sawAll } = read(standing(), entries)
    expect(verdicts.includes('other') || !sawAll).toBe(true)
  })

  it('is not reported on the first read, which cannot be compared with an earlier one', () => {
    expect(read(createFeedCursor(), [])).toEqual({ verdicts: [], sawAll: true, position: 0 })
    expect(read(createFeedCursor(), [entry(7)]).sawAll).toBe(true)
  })
})
