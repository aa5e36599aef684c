import { describe, expect, it } from 'vitest'
import type { Revocation } from '../storage/records.ts'
import { createCursor } from './cursor.ts'

const NOW = 10_000_000
const HOUR = 3_600_000

function entry(id: number, fields: Partial<Revocation> = {}): Revocation {
  const at = new Date(NOW)
  const own = { at, until: at, mark: `mark ${id}`, writtenAt: at }
  return { id, kind: 'token', subject: 'same', ...own, ...fields }
}

const written = (milliseconds: number) => ({ writtenAt: new Date(milliseconds) })

/** One read: what each entry is, and whether all that was known came again. */
function read(cursor: ReturnType<typeof createCursor>, entries: Revocation[], monotonic = 0) {
  cursor.begin(monotonic)
  const verdicts = entries.map((each) => cursor.compare(each))
  const sawAll = cursor.sawAll()
  cursor.advance(NOW)
  return { verdicts, sawAll, position: cursor.position() }
}

describe('the cursor of the revocation feed', () => {
  it('moves over ids that follow each other, and stands on the last', () => {
    const cursor = createCursor()
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

  it('waits before a hole and takes the late entry in', () => {
    const cursor = createCursor()
    expect(read(cursor, [entry(1), entry(3)]).position).toBe(1)
    expect(read(cursor, [entry(1), entry(2), entry(3)], 100)).toEqual({
      verdicts: ['known', 'new', 'known'],
      sawAll: true,
      position: 3,
    })
  })

  it('gives a hole up when no transaction can fill it any more', () => {
    const cursor = createCursor()
    read(cursor, [entry(1), entry(3)])
    expect(read(cursor, [entry(1), entry(3)], 15_001).position).toBe(3)
  })

  it('does not wait for old holes when it reads the whole feed', () => {
    const cursor = createCursor()
    const old = written(NOW - HOUR - 1)
    expect(read(cursor, [entry(5, old), entry(9, old), entry(10)]).position).toBe(10)
  })

  // Today's entries of a process whose clock is ahead once made all others look an hour old.
  it.each<[string, Partial<Revocation>]>([
    ['says it is tomorrow', { at: new Date(NOW + 24 * HOUR) }],
    ['says it was last year', { at: new Date(0) }],
  ])('waits before a hole whatever the clock of a process %s', (_, fields) => {
    const cursor = createCursor()
    read(cursor, [entry(1)])
    expect(read(cursor, [entry(1), entry(3), entry(4, fields)]).position).toBe(1)
    expect(read(createCursor(), [entry(2), entry(4, fields)]).position).toBe(0)
  })

  it('does not take the time of the store for a proof once it follows', () => {
    const cursor = createCursor()
    read(cursor, [entry(1)])
    expect(read(cursor, [entry(1), entry(3, written(0))]).position).toBe(1)
  })
})

describe('a feed whose history broke', () => {
  const standing = () => {
    const cursor = createCursor()
    read(cursor, [entry(1), entry(2), entry(3), entry(5)])
    return cursor
  }

  it.each<[string, Revocation[]]>([
    ['it is empty', []],
    ['the entry it stands on is gone', [entry(5)]],
    ['the entry it stands on is another', [entry(3, { mark: 'another' }), entry(5)]],
    ['an entry behind a hole is gone', [entry(3)]],
    ['an entry behind a hole is another', [entry(3), entry(4), entry(5, { mark: 'another' })]],
    ['only later ids are there', [entry(6), entry(7)]],
  ])('is noticed when %s', (_, entries) => {
    const { verdicts, sawAll } = read(standing(), entries)
    expect(verdicts.includes('other') || !sawAll).toBe(true)
  })

  it('is not taken for one when nothing was known', () => {
    expect(read(createCursor(), [])).toEqual({ verdicts: [], sawAll: true, position: 0 })
    expect(read(createCursor(), [entry(7)]).sawAll).toBe(true)
  })

  it('is noticed by what an older version wrote, which has no mark', () => {
    const cursor = createCursor()
    const unmarked = { mark: null, writtenAt: null }
    read(cursor, [entry(1, unmarked)])
    expect(read(cursor, [entry(1, unmarked)]).verdicts).toEqual(['known'])
    expect(read(cursor, [entry(1, { ...unmarked, subject: 'other' })]).verdicts).toEqual(['other'])
  })
})
