import { randomBytes } from 'node:crypto'
import mysql from 'mysql2/promise'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    mariadb: { readonly url: string; readonly prefix: string }
  }
}

/**
 * Chooses names for the databases of a project on the server of TEST_MYSQL_URL. Those that are left
 * are dropped at the end.
 */
export default function setup(project: TestProject): () => Promise<void> {
  const url = process.env.TEST_MYSQL_URL
  if (!url) throw new Error('TEST_MYSQL_URL is not set; expected e.g. mysql://root@127.0.0.1')
  const prefix = `test_${randomBytes(4).toString('hex')}_`
  project.provide('mariadb', { url, prefix })
  return async () => {
    const connection = await mysql.createConnection(url)
    const [rows] = await connection.query<mysql.RowDataPacket[]>('show databases like ?', [
      `${prefix}%`,
    ])
    for (const row of rows) await connection.query(`drop database ${Object.values(row)[0]}`)
    await connection.end()
  }
}
