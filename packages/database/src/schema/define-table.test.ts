import { describe, expect, expectTypeOf, it } from 'vitest'
import { defineTable, type RecordOf, type RowOf } from './define-table.ts'
import { field } from './fields.ts'

const fields = {
  id: field.id,
  owner_name: field.string(20).nullable(),
  tags: field.json<readonly string[]>(),
  kind: field.id.as<'big' | 'small'>(),
  is_open: field.flag,
  size: field.integer,
  last_seen_at: field.instant.nullable(),
}
const things = defineTable('things', fields, { primaryKey: ['id'] })

const record: RecordOf<typeof fields> = {
  id: 'a',
  ownerName: null,
  tags: ['x', 'y'],
  kind: 'big',
  isOpen: true,
  size: 3,
  lastSeenAt: new Date(5),
}
const row: RowOf<typeof fields> = {
  id: 'a',
  owner_name: null,
  tags: '["x","y"]',
  kind: 'big',
  is_open: 1,
  size: 3,
  last_seen_at: 5,
}

describe('defineTable()', () => {
  it('converts records to rows and back', () => {
    expect(things.toRow(record)).toEqual(row)
    expect(things.fromRow(row)).toEqual(record)
    expect(things.fromRow({ ...row, last_seen_at: null }).lastSeenAt).toBeNull()
  })

  it('infers the types of rows and records', () => {
    expectTypeOf(record.lastSeenAt).toEqualTypeOf<Date | null>()
    expectTypeOf(record.kind).toEqualTypeOf<'big' | 'small'>()
    expectTypeOf(row.is_open).toEqualTypeOf<number>()
    expectTypeOf<keyof typeof record>().toEqualTypeOf<
      'id' | 'ownerName' | 'tags' | 'kind' | 'isOpen' | 'size' | 'lastSeenAt'
    >()
    // @ts-expect-error: a column without a value
    things.toRow({ ...record, size: undefined })
  })

  it('converts only the columns that a change contains', () => {
    expect(things.toChange({ isOpen: false, lastSeenAt: null, size: undefined })).toEqual({
      is_open: 0,
      last_seen_at: null,
    })
  })

  it('lists its columns and their parameter types', () => {
    expect(things.columns).toEqual(Object.keys(fields))
    expect(things.paramTypes).toMatchObject({ id: 'text', tags: 'text', size: 'bigint' })
  })

  it('converts only the columns that pick() and omit() leave', () => {
    const some = things.pick('owner_name', 'last_seen_at')
    expect(some.columns).toEqual(['owner_name', 'last_seen_at'])
    expect(some.fromRow({ owner_name: 'Ada', last_seen_at: 7 })).toEqual({
      ownerName: 'Ada',
      lastSeenAt: new Date(7),
    })
    const rest = things.omit('id', 'tags')
    expect(rest.columns).toEqual(Object.keys(fields).filter((name) => !/^(id|tags)$/.test(name)))
    expectTypeOf(rest.toRow).parameter(0).not.toHaveProperty('id')
    expect(rest.toRow(record)).not.toHaveProperty('id')
  })
})
