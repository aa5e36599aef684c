import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, isUnavailable } from '@tollgate/database'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'

describe('connect()', () => {
  it('sets, on every connection, the settings that transactions need', async () => {
    const { database, drop } = await createTestDatabase({ timeout: 1500 })
    const ask = async (text: string) => {
      const { rows } = await database.transaction((tx) =>
        sql<Record<string, unknown>>`${sql.raw(text)}`.execute(tx.kysely),
      )
      return Object.values(rows[0] ?? {})[0]
    }
    const expected: Record<string, [string, unknown][]> = {
      sqlite: [
        ['pragma journal_mode', 'wal'],
        ['pragma synchronous', 2],
        ['pragma foreign_keys', 1],
      ],
      postgres: [
        ['show transaction_isolation', 'read committed'],
        ['show synchronous_commit', 'on'],
        ['show idle_in_transaction_session_timeout', '5s'],
        ['show statement_timeout', '1500ms'],
      ],
      mysql: [
        ['select @@transaction_isolation', 'READ-COMMITTED'],
        ['select @@sql_mode like "%STRICT_ALL_TABLES%"', 1],
        ['select @@sql_mode like "%NO_BACKSLASH_ESCAPES%"', 0],
        ['select @@time_zone', '+00:00'],
        ['select @@character_set_client', 'utf8mb4'],
        ['select @@idle_transaction_timeout', 5],
      ],
    }
    for (const [text, value] of expected[database.dialect.name] ?? []) {
      const asked = text.replace('@@transaction_isolation', '@@tx_isolation')
      expect([text, await ask(asked)]).toEqual([text, value])
    }
    await drop()
  })

  it.each([
    ['poolSize', 0],
    ['poolSize', 1.5],
    ['timeout', -1],
    ['timeout', Number.NaN],
  ])('rejects the option %s with the value %s', async (name, value) => {
    await expect(connect('sqlite::memory:', { [name]: value })).rejects.toThrow(name)
  })
})

describe.runIf(process.env.TEST_DATABASE === 'sqlite')('an SQLite URL', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-connect-'))
    mkdirSync(join(folder, 'a folder'))
    writeFileSync(join(folder, 'not-a-database'), 'x'.repeat(5000))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('isolates transactions in memory in the same way as in a file', async () => {
    const database = await connect('sqlite::memory:')
    await database.kysely.schema.createTable('t').addColumn('n', 'integer').execute()
    let seen: unknown[] | undefined
    let reading: Promise<void> | undefined
    await database.transaction(async (tx) => {
      await tx.kysely.insertInto('t').values({ n: 1 }).execute()
      const all = database.kysely.selectFrom('t').selectAll().execute()
      reading = all.then((rows) => {
        seen = rows
      })
      await new Promise((resolve) => setTimeout(resolve, 10))
      expect(seen).toBeUndefined()
    })
    await reading
    expect(seen).toEqual([{ n: 1 }])
    await database.close()
  })

  it('may be absolute or relative, and may contain spaces or a second and third slash', async () => {
    const urls = [
      `sqlite:${folder}/one.db`,
      `file:${folder}/two.db`,
      `sqlite://${folder}/three.db`,
      `sqlite:${folder}/a%20folder/four.db`,
      `sqlite:${folder}/one.db?mode=rw`,
    ]
    for (const url of urls) await (await connect(url)).close()
  })

  it.each([
    ['without its folder', () => `sqlite:${folder}/missing/x.db`, /mkdir -p .*missing/],
    ['of a folder', () => `sqlite:${folder}/a%20folder`, /not a file/],
    ['that ends in a slash', () => `sqlite:${folder}/`, /names no file/],
    ['of something else', () => `sqlite:${folder}/not-a-database`, /not a database/],
    ['that must exist but does not', () => `sqlite:${folder}/new.db?mode=rw`, /mode=rw/],
  ])('is rejected with a reason if it is a URL %s', async (_, url, reason) => {
    await expect(connect(url())).rejects.toThrow(reason)
  })

  it('is rejected with a reason if the file cannot be written', async () => {
    const path = join(folder, 'read-only.db')
    await (await connect(`sqlite:${path}`)).close()
    chmodSync(folder, 0o755)
    chmodSync(path, 0o444)
    const restore = dropRootPrivileges()
    try {
      const refused =
        /cannot be read and written|needs read and write access|readonly|unable to open/i
      await expect(connect(`sqlite:${path}`)).rejects.toThrow(refused)
      await expect(connect(`sqlite:${folder}/new.db`)).rejects.toThrow(refused)
    } finally {
      restore()
    }
  })

  it('makes the database unavailable if the file is damaged, and leaves the file unchanged', async () => {
    const error = await connect(`sqlite:${folder}/not-a-database`).catch((e) => e)
    expect(isUnavailable(error)).toBe(true)
  })
})

/** Root may write to every file, so tests that run as root drop that privilege for a moment. */
function dropRootPrivileges(): () => void {
  if (process.getuid?.() !== 0) return () => {}
  process.seteuid?.(65534)
  return () => process.seteuid?.(0)
}
