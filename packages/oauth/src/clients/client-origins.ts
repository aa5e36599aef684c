import type { ServerContext } from '../context.ts'
import type { Client } from '../storage/records.ts'
import { isOrigin } from './settings/checks.ts'

/** The origins of the pages of registered clients. */
export interface ClientOrigins {
  /** Of any client. */
  readonly all: ReadonlySet<string>
  /** Of those that somebody here has registered. */
  readonly vouchedFor: ReadonlySet<string>
}

export interface OriginReader {
  /** From memory while it is fresh. */
  known(): ClientOrigins | null
  /** Reads them again, unless that was done just before. */
  read(): Promise<ClientOrigins>
  /** A client has changed or was deleted. */
  forget(): void
}

/** A new client may have to wait so long, should its page call at once. */
const FRESH_FOR = 60_000
const SHORTEST_PAUSE = 2000
/** A hundredth of the time at most goes into reading, however many clients there are. */
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
    const found = originsOf(await storage.clients.list())
    const endedAt = performance.now()
    pause = Math.max(SHORTEST_PAUSE, (endedAt - startedAt) * PAUSE_FACTOR)
    if (changes === changesBefore) {
      origins = found
      readAt = startedAt
    }
    return found
  }

  return {
    known: () => (performance.now() - readAt < Math.max(FRESH_FOR, pause) ? origins : null),
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

function originsOf(clients: readonly Client[]): ClientOrigins {
  const living = clients.filter(({ revokedAt }) => revokedAt === null)
  const vouched = living.filter(({ settings }) => settings.self_registered === undefined)
  return {
    all: new Set(living.flatMap(originsOfClient)),
    vouchedFor: new Set(vouched.flatMap(originsOfClient)),
  }
}

/** Plain http only where it is listed: what comes by it may be another's page. */
export function originsOfClient({ redirectUris, settings }: Client): string[] {
  const ofRedirects = redirectUris
    .filter((uri) => uri.startsWith('https://') && URL.canParse(uri))
    .map((uri) => new URL(uri).origin)
  // Only who was registered here may name more: others would name origins that are not theirs.
  const listed = settings.self_registered ? [] : (settings.allowed_origins ?? [])
  return [...ofRedirects, ...listed.filter(isOrigin)]
}
