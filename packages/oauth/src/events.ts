import type { Logger } from './logger.ts'

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
}

/** Emits the events of the server to their listeners, and subscribes listeners. */
export interface Emitter extends Events {
  /** Calls the listeners asynchronously, after the current step. */
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
  return {
    on(name, listener) {
      const known = listeners.get(name) ?? new Set()
      listeners.set(name, known)
      known.add(listener as Listener<EventName>)
      return () => known.delete(listener as Listener<EventName>)
    },
    emit(name, event) {
      if (!listeners.get(name)?.size) return
      afterCommit(() => {
        for (const listener of listeners.get(name) ?? []) {
          queueMicrotask(async () => {
            try {
              await listener(event)
            } catch (error) {
              logger.error(`A listener of ${name} failed`, error)
            }
          })
        }
      })
    },
  }
}
