import { describe, expect, it } from 'vitest'
import type { Revocation } from '../storage/repositories.ts'
import { createCursor } from './cursor.ts'

function entry(id: number, at = 1_000_000): Revocation {
  return { id, kind: 'token', subject: `t${id}`, at: new Date(at), until: new Date(at + 1000) }
}

describe('the cursor of the revocation feed', () => {
  it('moves over ids that follow each other', () => {
    const cursor = createCursor()
    for (const id of [1, 2, 3]) expect(cursor.isNew(entry(id))).toBe(true)
    cursor.advance(0)
    expect(cursor.position()).toBe(3)
  })

  it('waits before a hole and takes the late entry in', () => {
    const cursor = createCursor()
    for (const id of [1, 3]) cursor.isNew(entry(id))
    cursor.advance(0)
    expect(cursor.position()).toBe(1)
    expect(cursor.isNew(entry(3))).toBe(false)
    expect(cursor.isNew(entry(2))).toBe(true)
    cursor.advance(100)
    expect(cursor.position()).toBe(3)
  })

  it('gives a hole up when no transaction can fill it any more', () => {
    const cursor = createCursor()
    for (const id of [1, 3]) cursor.isNew(entry(id))
    cursor.advance(0)
    cursor.advance(15_001)
    expect(cursor.position()).toBe(3)
  })

  it('does not wait for holes a purge left long ago', () => {
    const cursor = createCursor()
    cursor.isNew(entry(5, 1_000_000))
    cursor.isNew(entry(9, 1_000_000))
    cursor.isNew(entry(10, 5_000_000))
    cursor.advance(0)
    expect(cursor.position()).toBe(10)
  })
})
