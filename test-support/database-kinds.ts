import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { inject } from 'vitest'

/** A database that nobody has opened. */
export interface Created {
  readonly url: string
  remove(): Promise<void>
}

/** How databases of one kind are made for tests. */
export interface DatabaseKind {
  createEmpty(): Promise<Created>
  /** With all that the other holds; nobody has the other open. */
  copy(from: Created): Promise<Created>
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
  copy: ({ url }) => createInPostgres(nameIn(url)),
}

async function createInPostgres(template: string): Promise<Created> {
  const server = inject('postgresUrl')
  const name = createName('test_')
  // Without its usual log of every page a copy takes half the time.
  await askPostgres(server, `create database ${name} template ${template} strategy file_copy`)
  return {
    url: withDatabase(server, name),
    remove: () => askPostgres(server, `drop database if exists ${name} with (force)`),
  }
}

async function askPostgres(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

const mariadb: DatabaseKind = {
  async createEmpty() {
    const { url, prefix } = inject('mariadb')
    const name = createName(prefix)
    await askMysql(url, (connection) => connection.query(`create database ${name}`))
    return {
      url: withDatabase(url, name),
      remove: () => askMysql(url, (connection) => connection.query(`drop database ${name}`)),
    }
  },
  async copy(from) {
    const created = await mariadb.createEmpty()
    const old = nameIn(from.url)
    await askMysql(created.url, async (connection) => {
      const [rows] = await connection.query<mysql.RowDataPacket[]>(
        'select table_name as name from information_schema.tables where table_schema = ?',
        [old],
      )
      const copies = rows.flatMap(({ name }) => [
        `create table \`${name}\` like ${old}.\`${name}\``,
        `insert into \`${name}\` select * from ${old}.\`${name}\``,
      ])
      if (copies.length > 0) await connection.query(copies.join(';'))
    })
    return created
  },
}

async function askMysql(
  url: string,
  ask: (connection: mysql.Connection) => Promise<unknown>,
): Promise<void> {
  const connection = await mysql.createConnection({ uri: url, multipleStatements: true })
  try {
    await ask(connection)
  } finally {
    await connection.end()
  }
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

function nameIn(url: string): string {
  return new URL(url).pathname.slice(1)
}
