import { connect, type Database } from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../../test-support/create-test-database.ts'
import { startChild } from './child-process.ts'
import {
  createThing,
  createThingsDatabase,
  findThings,
  insertThings,
  type TestTables,
} from './things.ts'

let test: TestDatabase
let database: Database<TestTables>
beforeEach(async () => {
  test = await createThingsDatabase()
  database = test.database
})
afterEach(() => test.drop())

describe('many writers of one database', () => {
  it('all succeed in three concurrent processes [threat R2]', async () => {
    const children = ['x', 'y', 'z'].map((p) => startChild('insert', test.url, p, '200', '8'))
    const mine = Array.from({ length: 50 }, (_, i) =>
      insertThings(database, createThing(`mine${i}`)),
    )
    await Promise.all(mine)
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0])
    expect(await findThings(database)).toHaveLength(650)
  })
})

describe('a process that is killed while it writes', () => {
  it('loses no acknowledged row, and stores no transaction in part [threat F1]', async () => {
    for (const [round, after] of [10, 100, 250].entries()) {
      const child = startChild('insert', test.url, `${round}-`, '100000', '4')
      await child.untilLines(after)
      child.kill()
      await child.ended
      const again = await connect<TestTables>(test.url)
      const there = new Map((await findThings(again)).map((row) => [row.id, row]))
      await again.close()
      // The kill may have cut the last line.
      const acknowledged = child.lines.slice(0, -1)
      expect(acknowledged.filter((id) => !there.has(id))).toEqual([])
      const halves = [...there.values()].filter(({ id, amount }) => {
        const number = Number(id.split('-')[1])
        return amount !== number % 2
      })
      expect(halves).toEqual([])
    }
  })
})
