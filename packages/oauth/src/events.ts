import type { Logger } from './logger.ts'

/** A change that an operator made with the command line, or tried to make. */
export interface AuditEntry {
  /** Identifies the entry. */
  readonly id: string
  /** When the entry was written. */
  readonly at: Date
  /** The person or script: `id` is the name given with `--as`. */
  readonly actor: { readonly kind: string; readonly id: string }
  /** Name of the operation, such as `clients.create`. */
  readonly operation: string
  /**
   * `started` is followed by `done` or `failed`, with `intentId`. If neither follows, the outcome is
   * unknown.
   */
  readonly outcome: 'done' | 'started' | 'failed' | 'refused'
  /** The changed object. `null` if there is none. */
  readonly subject: { readonly kind: string; readonly id: string } | null
  /** Id of the user whom the changed object belongs to. `null` if there is none. */
  readonly ownerId: string | null
  /** Further facts, without secrets and personal data. */
  readonly details: Readonly<Record<string, unknown>>
  /** Id of the `started` entry whose outcome this is. `null` for all other entries. */
  readonly intentId: string | null
}

/** The payload of each event, by event name. */
export interface OAuthEvents {
  /** Emitted after any grant has issued an access token. */
  AccessTokenCreated: {
    readonly tokenId: string
    readonly userId: string | null
    readonly clientId: string
  }
  /** Emitted after a refresh token was issued together with an access token. */
  RefreshTokenCreated: { readonly refreshTokenId: string; readonly accessTokenId: string }
  /**
   * Emitted when a client presents a refresh token again more than ten seconds after it was used,
   * and gets the same successor again. The client most likely never received the first response.
   */
  RefreshTokenRepeatedLate: {
    readonly refreshTokenId: string
    readonly accessTokenId: string
    readonly userId: string | null
    readonly clientId: string
  }
  /** Emitted after a token was revoked. */
  AccessTokenRevoked: { readonly tokenId: string }
  /**
   * Emitted after an operator changed something with `tollgate --config`, or was refused. The
   * command waits for the listeners before it ends.
   */
  AuditEntryAdded: AuditEntry
}

/** The name of an event. */
export type EventName = keyof OAuthEvents
/**
 * A function that is called after an event of the server. Errors that it throws are logged and have
 * no other effect.
 */
export type Listener<Name extends EventName> = (event: OAuthEvents[Name]) => void | Promise<void>

/** Subscribes to the events of the server. */
export interface Events {
  /** Adds a listener. Returns a function that removes it. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
  /**
   * Calls the listeners of `AuditEntryAdded`, and resolves when all have finished. The command line
   * calls it. Call it for changes that operators make in your application, if the same listeners
   * should record them. Errors of listeners are logged, not thrown.
   */
  audit(entry: AuditEntry): Promise<void>
}

/** Emits the events of the server to their listeners, and subscribes listeners. */
export interface Emitter extends Events {
  /** Calls the listeners asynchronously, after the commit if the caller runs in a unit of work. */
  emit<Name extends EventName>(name: Name, event: OAuthEvents[Name]): void
}

/**
 * Creates the event emitter. Listeners run after the commit and independently: one that throws or
 * hangs affects no other and no request.
 */
export function createEmitter(
  logger: Logger,
  afterCommit: (run: () => void) => void = (run) => run(),
): Emitter {
  const listeners = new Map<EventName, Set<Listener<EventName>>>()
  async function call<Name extends EventName>(name: Name, event: OAuthEvents[Name]) {
    const calls = [...(listeners.get(name) ?? [])].map(async (listener) => {
      try {
        await listener(event)
      } catch (error) {
        logger.error(`A listener of ${name} failed`, error)
      }
    })
    await Promise.all(calls)
  }
  return {
    on(name, listener) {
      const known = listeners.get(name) ?? new Set()
      listeners.set(name, known)
      known.add(listener as Listener<EventName>)
      return () => known.delete(listener as Listener<EventName>)
    },
    emit(name, event) {
      if (!listeners.get(name)?.size) return
      afterCommit(() => queueMicrotask(() => void call(name, event)))
    },
    audit: (entry) => call('AuditEntryAdded', entry),
  }
}
