import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Billing } from '@tollgate/billing'
import type { Database } from '@tollgate/database'
import type { AuthorizationServer } from '@tollgate/oauth'
import { UsageError } from '../usage-error.ts'
import { preventServers } from './prevent-servers.ts'

/** The instances that an application's module exports for `--config`. */
export interface Application {
  /** Path of the module, as it was given. */
  readonly file: string
  readonly database: Database
  /** The authorization server. `null` if the module exports none. */
  readonly oauth: AuthorizationServer | null
  /** Billing. `null` if the module exports none. */
  readonly billing: Billing | null
  /** Receives the audit entries. `null` if the module exports none. */
  readonly logger: AuditLogger | null
}

/** A logger such as pino or `console`. */
export interface AuditLogger {
  info(fields: object, message: string): void
}

/** The exports that are used, the function that makes each, and members that its result has. */
const EXPORTS = {
  database: { made: 'connect()', members: ['kysely', 'dialect', 'unitOfWork'] },
  oauth: { made: 'createAuthorizationServer()', members: ['clients', 'tokens', 'endEverything'] },
  billing: { made: 'createBilling()', members: ['user', 'subscriptions', 'deliveries'] },
  logger: { made: 'a logger with the method info()', members: ['info'] },
} as const

type Name = keyof typeof EXPORTS

/**
 * Loads the module that `--config` names, in TypeScript or JavaScript.
 * @throws UsageError if it cannot be loaded, starts a server, or lacks the exports.
 */
export async function loadApplication(file: string): Promise<Application> {
  const path = resolve(file)
  if (!existsSync(path)) throw new UsageError(`--config names ${path}, which does not exist`)
  // An unhandled rejection would end the process with a stack trace.
  const rejected: unknown[] = []
  const note = (reason: unknown) => void rejected.push(reason)
  process.on('unhandledRejection', note)
  // Without a listener, Node warns of exports that had rejected before they were awaited.
  process.on('rejectionHandled', () => {})
  try {
    const application = await readApplication(path, file)
    if (rejected.length > 0) throw cannotBeLoaded(file, rejected[0])
    return application
  } finally {
    process.off('unhandledRejection', note)
  }
}

async function readApplication(path: string, file: string): Promise<Application> {
  const exported = await importModule(path, file)
  const found = Object.fromEntries(
    await Promise.all(
      Object.keys(EXPORTS).map(async (name) => [
        name,
        await readExport(exported, name as Name, file),
      ]),
    ),
  ) as { [Each in Name]: Application[Each] | null }
  const { database, oauth, billing } = found
  if (!oauth && !billing) {
    const names = Object.keys(exported).filter((name) => name !== 'default')
    throw new UsageError(
      `${file} exports neither \`oauth\` nor \`billing\`, but ${names.join(', ') || 'nothing'}. Export the values that createAuthorizationServer() and createBilling() return, under these names`,
    )
  }
  if (!database) {
    throw new UsageError(
      `${file} exports no \`database\`. Export the value that connect() returns, which \`oauth\` and \`billing\` use`,
    )
  }
  return { ...found, file, database }
}

function cannotBeLoaded(file: string, error: unknown): UsageError {
  const reason = error instanceof Error ? error.message : String(error)
  return new UsageError(`${file} cannot be loaded: ${reason}`)
}

/** Imports the module. Its default export may be an object that holds the instances. */
async function importModule(path: string, file: string): Promise<Record<string, unknown>> {
  // Node 20 does not load TypeScript, and loading jiti takes time that other commands save.
  const { createJiti } = await import('jiti')
  const servers = preventServers()
  let loaded: Record<string, unknown>
  try {
    loaded = await createJiti(import.meta.url).import<Record<string, unknown>>(path)
  } catch (error) {
    throw cannotBeLoaded(file, error)
  }
  const address = await servers.first()
  if (address !== null) {
    throw new UsageError(
      `${file} starts a server (${address}) when it is loaded; the server was not started, and nothing was changed. Export the instances from a module that starts none, and import that module where the server starts`,
    )
  }
  const { default: main } = loaded
  return { ...(typeof main === 'object' ? main : {}), ...loaded }
}

async function readExport(
  exported: Record<string, unknown>,
  name: Name,
  file: string,
): Promise<object | null> {
  const { made, members } = EXPORTS[name]
  let value: unknown
  try {
    // `export const database = connect(…)` exports a promise.
    value = await exported[name]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${file}: \`${name}\` cannot be opened: ${reason}`)
  }
  if (value === undefined || value === null) return null
  if (typeof value === 'object' && members.every((member) => member in value)) return value
  throw new UsageError(
    `${file} exports a \`${name}\` of another kind (${typeof value}). Expected ${made}${name === 'logger' ? '' : ', or a promise of its result'}`,
  )
}
