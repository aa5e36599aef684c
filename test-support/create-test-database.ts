import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectOptions, connect, type Database } from '@tollgate/database'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly url: string
  readonly database: Database
  /** Closes the connection and removes the database with all it holds. */
  drop(): Promise<void>
}

/** A new, empty database of the kind that this test project is for. */
export async function createTestDatabase(options: ConnectOptions = {}): Promise<TestDatabase> {
  const { url, remove } = await create[requireKind()]()
  const database = await connect(url, options)
  return {
    url,
    database,
    async drop() {
      await database.close()
      await remove()
    },
  }
}

interface Created {
  readonly url: string
  remove(): Promise<void>
}

const create: Record<'sqlite' | 'postgres' | 'mariadb', () => Promise<Created>> = {
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-'))
    return {
      url: `sqlite:${join(folder, 'test.db')}`,
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
  async postgres() {
    const server = inject('postgresUrl')
    const name = createName()
    await askPostgres(server, `create database ${name}`)
    return {
      url: withDatabase(server, name),
      remove: () => askPostgres(server, `drop database if exists ${name} with (force)`),
    }
  },
  async mariadb() {
    const server = process.env.TEST_MYSQL_URL
    if (!server) throw new Error('TEST_MYSQL_URL is not set; expected e.g. mysql://root@127.0.0.1')
    const name = createName()
    await askMysql(server, `create database ${name}`)
    return {
      url: withDatabase(server, name),
      remove: () => askMysql(server, `drop database if exists ${name}`),
    }
  },
}

function requireKind(): keyof typeof create {
  const kind = process.env.TEST_DATABASE
  if (kind === 'sqlite' || kind === 'postgres' || kind === 'mariadb') return kind
  throw new Error(`TEST_DATABASE is "${kind}"; expected sqlite, postgres or mariadb`)
}

function createName(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
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

async function askMysql(server: string, sql: string): Promise<void> {
  const connection = await mysql.createConnection(server)
  try {
    await connection.query(sql)
  } finally {
    await connection.end()
  }
}
