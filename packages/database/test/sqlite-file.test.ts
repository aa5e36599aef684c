import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Database, isUnavailable } from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startChild } from './child-process.ts'
import { createThing, createThings, findThings, insertThings, type TestTables } from './things.ts'

let folder: string
let path: string
let url: string
const open: Database<TestTables>[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-file-'))
  path = join(folder, 'app.db')
  url = `sqlite:${path}`
})
afterEach(async () => {
  for (const database of open.splice(0)) await database.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Opens a database with one row. It is closed at the end of the test at the latest. */
async function openWithRow(at = url): Promise<Database<TestTables>> {
  const database = await connect<TestTables>(at)
  open.push(database)
  await createThings(database as Database)
  await insertThings(database, createThing('a'))
  return database
}

const namesOf = async (database: Database<TestTables>) =>
  (await findThings(database)).map(({ id }) => id)

describe.runIf(process.env.TEST_DATABASE === 'sqlite')('an SQLite file', () => {
  it('can be read only by its owner, like the files beside it', async () => {
    const before = process.umask(0)
    try {
      await openWithRow()
    } finally {
      process.umask(before)
    }
    for (const name of ['app.db', 'app.db-wal', 'app.db-shm', 'app.db.marker']) {
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
    }
  })

  it('contains all data, without its write-ahead log, once it was closed', async () => {
    const database = await openWithRow()
    await database.close()
    copyFileSync(path, join(folder, 'copy.db'))
    const copy = await connect<TestTables>(`sqlite:${folder}/copy.db`)
    open.push(copy)
    expect(await namesOf(copy)).toEqual(['a'])
  })

  it('has no write-ahead log beside it after its last process has ended', async () => {
    const child = startChild('migrate', url, '0')
    expect(await child.ended).toBe(0)
    expect(readdirSync(folder).sort()).toEqual(['app.db', 'app.db.marker'])
  })

  it.each([
    ['deleted', () => rmSync(path)],
    ['replaced by another database', () => renameSync(join(folder, 'other.db'), path)],
    ['without its write-ahead log', () => rmSync(`${path}-wal`)],
  ])('is unavailable while it is %s, and available again once it is restored', async (_, harm) => {
    await (await openWithRow(`sqlite:${folder}/other.db`)).close()
    const database = await openWithRow()
    const kept = ['', '-wal'].map((end) => [`${folder}/kept${end}`, `${path}${end}`] as const)
    for (const [name, part] of kept) linkSync(part, name)
    harm()
    await expect(findThings(database)).rejects.toSatisfy(isUnavailable)
    await expect(insertThings(database, createThing('b'))).rejects.toSatisfy(isUnavailable)
    const write = database.transaction((tx) => insertThings(tx, createThing('b')))
    await expect(write).rejects.toSatisfy(isUnavailable)
    await expect(write).rejects.toThrow(/moved, deleted or replaced .* restart/s)
    for (const [name, part] of kept) renameSync(name, part)
    await insertThings(database, createThing('c'))
    expect(await namesOf(database)).toEqual(['a', 'c'])
  })

  it('is not created again if it existed before and is now missing or empty', async () => {
    await (await openWithRow()).close()
    rmSync(path)
    for (const state of ['missing', 'empty']) {
      if (state === 'empty') writeFileSync(path, '')
      const refused = await connect(url).catch((error) => error)
      expect(refused.message).toMatch(`app.db is ${state}, but a database existed there before`)
      expect(refused.message).toMatch(`delete ${path}.marker`)
      expect(existsSync(path)).toBe(state === 'empty')
    }
    // The fix that the error message suggests.
    rmSync(`${path}.marker`)
    expect(await namesOf(await openWithRow())).toEqual(['a'])
  })

  it('is created again if `beginAnew` is set, and opens normally afterwards', async () => {
    await (await openWithRow()).close()
    rmSync(path)
    const anew = await connect<TestTables>(url, { beginAnew: true })
    open.push(anew)
    await createThings(anew as Database)
    expect(await namesOf(anew)).toEqual([])
    await anew.close()
    expect(await namesOf(await openWithRow())).toEqual(['a'])
  })

  it('is accepted if it is restored from a backup', async () => {
    await (await openWithRow()).close()
    copyFileSync(path, `${folder}/backup.db`)
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    copyFileSync(`${folder}/backup.db`, path)
    const restored = await connect<TestTables>(url)
    open.push(restored)
    expect(await namesOf(restored)).toEqual(['a'])
  })

  it('is created once if several processes start concurrently', async () => {
    const children = [1, 2, 3].map(() => startChild('migrate', url, '50'))
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0])
    const again = startChild('migrate', url, '0')
    expect(await again.ended).toBe(0)
    expect(again.lines).toEqual(['applied '])
  })
})
