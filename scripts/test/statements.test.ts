import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { normalizeStatement } from '../../test-support/statements/shape.ts'
import { findSpare, findUntried } from '../statements/compare.mjs'
import { emptyRecords, readRecords } from '../statements/records.mjs'

const recorded = (file: string, sent: Record<string, string[]>, milliseconds = 1) => ({
  file,
  milliseconds,
  sent,
})

describe('the normalized form of a recorded SQL statement', () => {
  it.each([
    ['select * from "a" where "b" in (?, ?, ?)', 'select * from "a" where "b" in (?…)'],
    ['select * from "a" where "b" in (?)', 'select * from "a" where "b" in (?…)'],
    ['insert into "a" values (?, ?), (?, ?)', 'insert into "a" values (?, ?)'],
    ['insert into "a" values ($1, f($2)), ($3, f($4))', 'insert into "a" values (?, f(?))'],
    ['insert into "a" values (?, ?)', 'insert into "a" values (?, ?)'],
    ['select $1, $2', 'select ?, ?'],
  ])('does not depend on the number of values and rows: %s', (sql, shape) => {
    expect(normalizeStatement(sql)).toBe(shape)
  })
})

describe('the comparison of recorded SQL statements', () => {
  const sqlite = [
    recorded('flow.test.ts', { 'select a': ['buys', 'sells'], 'select b': ['sells'] }),
    recorded('pages.test.ts', { 'select a': ['shows'], 'select c': ['shows'] }),
  ]

  it('finds statements that ran on SQLite only, by file or by test', () => {
    const postgres = [recorded('flow.test.ts', { 'select $a': ['buys'] })]
    expect(findUntried(sqlite, [postgres])).toEqual([
      { statement: 'select b', test: 'flow.test.ts > sells' },
      { statement: 'select c', test: 'pages.test.ts > shows' },
    ])
  })

  it('requires that each statement is tested on every database', () => {
    const both = sqlite.map(({ file, sent }) => recorded(file, sent))
    expect(findUntried(sqlite, [both, both])).toEqual([])
    expect(findUntried(sqlite, [both, both.slice(0, 1)])).toHaveLength(1)
  })

  it('accepts the same statement from any test', () => {
    const here = [recorded('pages.test.ts', { 'select "a" from `b`': ['shows'] })]
    const there = [recorded('other.test.ts', { 'select `a` from `b`': ['buys'] })]
    expect(findUntried(here, [there])).toEqual([])
    expect(findUntried(here, [there, []])).toHaveLength(1)
  })

  it('finds test files that are not needed, the slowest first, but not two that replace each other', () => {
    const files = [
      recorded('quick.test.ts', { 'select a': [''] }, 1),
      recorded('slow.test.ts', { 'select a': [''] }, 9),
      recorded('only.test.ts', { 'select a': [''], 'select b': [''] }, 5),
      recorded('same.test.ts', { 'select c': [''] }, 4),
      recorded('twin.test.ts', { 'select c': [''] }, 3),
    ]
    const spare = findSpare(files).map(({ file }) => file)
    expect(spare).toEqual(['slow.test.ts', 'same.test.ts', 'quick.test.ts'])
  })
})

describe('the folder of recorded SQL statements', () => {
  function folderWith(records: ReadonlyArray<readonly [project: string, database: string]>) {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-statements-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    for (const [project, database] of records) {
      mkdirSync(join(folder, project))
      const record = { database, ...recorded(`${project}.test.ts`, {}) }
      writeFileSync(join(folder, project, 'a.test.ts.json'), JSON.stringify(record))
    }
    return folder
  }
  const filesOf = (folder: string, database: string) =>
    readRecords(folder, database)?.map(({ file }) => file)

  it('is read separately for each database, for all projects in which a file ran', () => {
    const folder = folderWith([
      ['sqlite', 'sqlite'],
      ['slow', 'sqlite'],
      ['postgres', 'postgres'],
    ])
    expect(filesOf(folder, 'sqlite')?.sort()).toEqual(['slow.test.ts', 'sqlite.test.ts'])
    expect(filesOf(folder, 'postgres')).toEqual(['postgres.test.ts'])
    expect(readRecords(folder, 'mariadb')).toBeNull()
    expect(readRecords(join(folder, 'nowhere'), 'sqlite')).toBeNull()
  })

  it('loses only the records of the projects that run again', () => {
    const folder = folderWith([
      ['sqlite', 'sqlite'],
      ['slow', 'sqlite'],
      ['postgres', 'postgres'],
    ])
    emptyRecords(folder, ['slow', 'postgres', 'mariadb', 'chromium'])
    expect(filesOf(folder, 'sqlite')).toEqual(['sqlite.test.ts'])
    expect(readRecords(folder, 'postgres')).toBeNull()
  })
})
