import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { inject } from 'vitest'

/** A database that was created but not opened. */
export interface CreatedDatabase {
  readonly url: string
  remove(): Promise<void>
}

/** Creates databases of one kind for tests. */
export interface DatabaseKind {
  createEmpty(): Promise<CreatedDatabase>
  /** Creates a copy of another database, which must not be open. */
  copy(from: CreatedDatabase): Promise<CreatedDatabase>
}

const sqlite: DatabaseKind = {
  async createEmpty() {
    const folder = mkdtempSync(join(inject('sqliteFolder'), 'test-'))
    return {
      url: `sqlite:${join(folder, 'test.db')}`,
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
  async copy(from) {
    const created = await sqlite.createEmpty()
    copyFileSync(from.url.slice('sqlite:'.length), created.url.slice('sqlite:'.length))
    return created
  },
}

const postgres: DatabaseKind = {
  createEmpty: () => createInPostgres('template1'),
  copy: ({ url }) => createInPostgres(getDatabaseName(url)),
}

async function createInPostgres(template: string): Promise<CreatedDatabase> {
  const name = createName('test_')
  // Copying files instead of logging every page halves the time.
  await runOnPostgres(`create database ${name} template ${template} strategy file_copy`)
  return {
    url: withDatabase(inject('postgresUrl'), name),
    remove: () => runOnPostgres(`drop database if exists ${name} with (force)`),
  }
}

let postgresPool: pg.Pool | undefined

/**
 * Runs a statement on a connection that this process keeps: opening one costs Postgres as much as
 * dropping a database.
 */
async function runOnPostgres(sql: string): Promise<void> {
  postgresPool ??= new pg.Pool({
    connectionString: inject('postgresUrl'),
    allowExitOnIdle: true,
  }).on('error', () => {}) // the server may end before the process does
  await postgresPool.query(sql)
}

const mariadb: DatabaseKind = {
  async createEmpty() {
    const { url, prefix } = inject('mariadb')
    const name = createName(prefix)
    await runOnMariadb(`create database ${name}`)
    return {
      url: withDatabase(url, name),
      async remove() {
        await runOnMariadb(`drop database ${name}`)
      },
    }
  },
  async copy(from) {
    const created = await mariadb.createEmpty()
    const [old, name] = [getDatabaseName(from.url), getDatabaseName(created.url)]
    const tables = await findTables(old)
    const copies = tables.flatMap(({ table, isEmpty }) => [
      `create table ${name}.\`${table}\` like ${old}.\`${table}\``,
      ...(isEmpty ? [] : [`insert into ${name}.\`${table}\` select * from ${old}.\`${table}\``]),
    ])
    if (copies.length > 0) await runOnMariadb(copies.join(';'))
    return created
  },
}

interface FoundTable {
  readonly table: string
  readonly isEmpty: boolean
}

/** Tables of each template. Templates never change. */
const foundTables = new Map<string, Promise<FoundTable[]>>()

function findTables(database: string): Promise<FoundTable[]> {
  const found = foundTables.get(database) ?? readTables(database)
  foundTables.set(database, found)
  return found
}

async function readTables(database: string): Promise<FoundTable[]> {
  const tables = await runOnMariadb(
    `select table_name as name from information_schema.tables where table_schema = '${database}'`,
  )
  return Promise.all(
    tables.map(async ({ name }) => {
      const rows = await runOnMariadb(`select 1 from ${database}.\`${name}\` limit 1`)
      return { table: name, isEmpty: rows.length === 0 }
    }),
  )
}

let mariadbPool: mysql.Pool | undefined

/** Runs a statement on a connection that this process keeps. */
async function runOnMariadb(sql: string): Promise<mysql.RowDataPacket[]> {
  mariadbPool ??= mysql.createPool({ uri: inject('mariadb').url, multipleStatements: true })
  const [rows] = await mariadbPool.query<mysql.RowDataPacket[]>(sql)
  return rows
}

export const databaseKinds = { sqlite, postgres, mariadb }

function createName(prefix: string): string {
  return `${prefix}${randomBytes(8).toString('hex')}`
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

function getDatabaseName(url: string): string {
  return new URL(url).pathname.slice(1)
}
