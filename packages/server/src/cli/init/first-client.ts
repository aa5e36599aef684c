import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { connect, type Database, findDatabaseFile } from '@tollgate/database'
import { clientCredentials, createAuthorizationServer } from '@tollgate/oauth'
import type { UndoSteps } from './changes.ts'
import type { Settings } from './env-file.ts'

/** The client that was created, with its secret, which is shown only once. */
export interface FirstClient {
  readonly id: string
  readonly secret: string
}

/** Resolves the file of a SQLite database as the application will, in the folder of the project. */
function resolveUrl(folder: string, url: string | undefined): string | undefined {
  const path = /^(?:sqlite|file):(?!\/|:memory:)(.+)$/s.exec(url ?? '')?.[1]
  return path === undefined ? url : `sqlite:${resolve(folder, path)}`
}

/**
 * Opens the application's database and runs `work`. A SQLite file that this creates is deleted by
 * `undo`.
 */
async function withDatabase<T>(
  folder: string,
  settings: Settings,
  undo: UndoSteps,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const url = resolveUrl(folder, settings.DATABASE_URL)
  const file = findDatabaseFile(url)
  if (file !== null) {
    const before = listDatabaseFiles(file)
    undo.add(() => {
      const created = listDatabaseFiles(file).filter((each) => !before.includes(each))
      for (const each of created) rmSync(each)
    })
  }
  const database = await connect(url, { recordsTime: false })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Lists the files of a SQLite database: its own, the log, and others whose names begin alike. */
function listDatabaseFiles(file: string): string[] {
  if (!existsSync(dirname(file))) return []
  const names = readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)))
  return names.map((name) => join(dirname(file), name))
}

/**
 * Checks that a database server answers, before anything is changed. A database in a file is not
 * opened, because that would create it.
 */
export async function assertReachable(folder: string, settings: Settings, undo: UndoSteps) {
  if (findDatabaseFile(resolveUrl(folder, settings.DATABASE_URL)) !== null) return
  await withDatabase(folder, settings, undo, async () => {})
}

/**
 * Creates the tables and the first signing key, and a client for the client credentials grant.
 * Returns `null` if the database has clients already.
 */
export function createFirstClient(
  folder: string,
  settings: Settings,
  undo: UndoSteps,
): Promise<FirstClient | null> {
  return withDatabase(folder, settings, undo, async (database) => {
    const oauth = createAuthorizationServer({
      issuer: settings.TOLLGATE_URL ?? '',
      secret: settings.TOLLGATE_SECRET,
      database,
      users: { findById: () => null },
      grants: [clientCredentials()],
    })
    try {
      await oauth.ready()
      const { clients } = await oauth.clients.page({ limit: 1 })
      if (clients.length > 0) return null
      const { client, secret } = await oauth.clients.create({
        name: 'First client',
        grants: ['client_credentials'],
      })
      return { id: client.id, secret: secret ?? '' }
    } finally {
      await oauth.close()
    }
  })
}
