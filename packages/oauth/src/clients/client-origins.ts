import type { ServerContext } from '../context.ts'
import type { Client } from '../storage/records.ts'
import { isOrigin } from './settings/checks.ts'

/** Origins from which pages of registered clients may call the server. */
export interface ClientOrigins {
  /** Origins of all clients. */
  readonly all: ReadonlySet<string>
  /** Origins of clients registered by the operator or by a user, not by the clients themselves. */
  readonly trusted: ReadonlySet<string>
}

export interface OriginReader {
  /** Returns the cached origins of all clients. `null` if they are outdated. */
  known(): ClientOrigins | null
  /** Reads the origins of all clients. Returns the cached ones if they were read moments ago. */
  read(): Promise<ClientOrigins>
  /** Discards the cached origins. Call it after a client has changed or was deleted. */
  forget(): void
}

/**
 * How long origins stay cached, in milliseconds. A page of a new client may have to wait this long.
 */
const MAX_AGE = 60_000
const MIN_PAUSE = 2000
/** Limits reading to one hundredth of the time, no matter how many clients there are. */
const PAUSE_FACTOR = 100

export function createOriginReader({ storage }: Pick<ServerContext, 'storage'>): OriginReader {
  let origins: ClientOrigins | null = null
  let readAt = Number.NEGATIVE_INFINITY
  let pause = 0
  let changes = 0
  let reading: Promise<ClientOrigins> | null = null

  async function readAll(): Promise<ClientOrigins> {
    const startedAt = performance.now()
    const changesBefore = changes
    const found = collectClientOrigins(await storage.clients.list())
    const endedAt = performance.now()
    pause = Math.max(MIN_PAUSE, (endedAt - startedAt) * PAUSE_FACTOR)
    if (changes === changesBefore) {
      origins = found
      readAt = startedAt
    }
    return found
  }

  return {
    known: () => (performance.now() - readAt < Math.max(MAX_AGE, pause) ? origins : null),
    async read() {
      if (origins && performance.now() - readAt < pause) return origins
      reading ??= readAll().finally(() => {
        reading = null
      })
      return reading
    },
    forget() {
      changes += 1
      origins = null
      readAt = Number.NEGATIVE_INFINITY
    },
  }
}

function collectClientOrigins(clients: readonly Client[]): ClientOrigins {
  const living = clients.filter(({ revokedAt }) => revokedAt === null)
  const trusted = living.filter(({ settings }) => settings.self_registered === undefined)
  return {
    all: new Set(living.flatMap(listClientOrigins)),
    trusted: new Set(trusted.flatMap(listClientOrigins)),
  }
}

/**
 * Returns the web origins of a client: those of its https redirect URIs and, unless the client
 * registered itself, those in the setting `allowed_origins`. Origins of http redirect URIs are left
 * out, because anyone on the network could serve pages under them.
 */
export function listClientOrigins({ redirectUris, settings }: Client): string[] {
  const ofRedirects = redirectUris
    .filter((uri) => uri.startsWith('https://') && URL.canParse(uri))
    .map((uri) => new URL(uri).origin)
  // Self-registered clients could list origins that are not theirs.
  const listed = settings.self_registered ? [] : (settings.allowed_origins ?? [])
  return [...ofRedirects, ...listed.filter(isOrigin)]
}
