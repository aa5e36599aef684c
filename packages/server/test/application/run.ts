import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createColumnDefinitions, createTable } from '@tollgate/database'
import type { TestDatabase } from '../../../../test-support/create-test-database.ts'

// Built by `npm test` before the tests run.
const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** The module of an application, as `--config` names it. */
export const APP = fileURLToPath(new URL('./app.ts', import.meta.url))

/** Runs `tollgate` as its own process, without any of the service's settings. */
export async function run(args: readonly string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout, stderr, json: () => JSON.parse(stdout) }
}

export const ADA = '7d9f1c1e-52a7-4c0e-9f0a-3f1d2b6c8a01'

/** Creates the tables of the application, whose users are not those of the service. */
export async function createOwnTables({ database }: TestDatabase): Promise<void> {
  const columns = createColumnDefinitions(database)
  await createTable(database, 'users', {
    columns: { key: columns.id, login: columns.string(100), label: columns.string(100).nullable() },
    primaryKey: ['key'],
  })
  await createTable(database, 'teams', {
    columns: { id: columns.counter, contact: columns.string(100), title: columns.string(100) },
  })
  const ada = { key: ADA, login: 'ada@example.com', label: 'Ada' }
  await database.kysely.insertInto('users').values(ada).execute()
}
