import { describe, expect, it } from 'vitest'
import { withoutNotNull } from './drop-not-null.ts'

describe('withoutNotNull(), which makes a column of an SQLite table nullable,', () => {
  it.each([
    [
      'create table t ("a" integer not null , b text not null)',
      'a',
      '"a" integer null , b text not',
    ],
    [
      'create table t ("a" integer not null , b text not null)',
      'b',
      'integer not null , b text null)',
    ],
    [
      'create table t (`a` text NOT\n NULL check (a is not null))',
      'a',
      '`a` text NULL check (a is not null)',
    ],
    ['create table t ([a] text check (a is not null) not null)', 'a', '(a is not null) null)'],
    [`create table t (a text default 'not null, b' not null)`, 'a', `'not null, b' null)`],
    ['create table t (a text -- not null, (\n not null)', 'a', '-- not null, (\n null)'],
    ['create table t (a text /* not null */ not null)', 'a', '/* not null */ null)'],
    [
      'create table t (x decimal(9, 2) not null, a text not null)',
      'a',
      '(9, 2) not null, a text null',
    ],
    [
      'create table "a" (b text not null, "a" text not null)',
      'a',
      'b text not null, "a" text null',
    ],
    ['create table t ("a ""b""" text not null)', 'a "b"', '"a ""b""" text null)'],
    [
      'create table t (a text constraint set not null on conflict fail)',
      'a',
      'null on conflict fail',
    ],
  ])(
    'changes the statement %s so that the column %s is nullable',
    (statement, column, expected) => {
      const changed = withoutNotNull(statement, column)
      expect(changed).toContain(expected)
      expect(statement.length - changed.length).toBeGreaterThanOrEqual('not '.length)
    },
  )

  it("rejects a statement in which it cannot find the column's NOT NULL", () => {
    expect(() => withoutNotNull('create table t (a text, b text not null)', 'a')).toThrow(
      'of a was',
    )
    expect(() => withoutNotNull('create table t (a text default (b is not null))', 'a')).toThrow()
  })
})
