import type { Logger } from './logger.ts'

/** Every event by its name. */
export interface OAuthEvents {
  /** A token was issued, by whatever grant. */
  AccessTokenCreated: {
    readonly tokenId: string
    readonly userId: string | null
    readonly clientId: string
  }
  /** A refresh token was issued with it. */
  RefreshTokenCreated: { readonly refreshTokenId: string; readonly accessTokenId: string }
  /**
   * A refresh token came again long after its use and was given its successor: its client never
   * got our response.
   */
  RefreshTokenRepeatedLate: {
    readonly refreshTokenId: string
    readonly accessTokenId: string
    readonly userId: string | null
    readonly clientId: string
  }
  /** A token was revoked. */
  AccessTokenRevoked: { readonly tokenId: string }
}

/** The name of an event. */
export type EventName = keyof OAuthEvents
/** Is called after it happened; what it throws is logged and stops nothing. */
export type Listener<Name extends EventName> = (event: OAuthEvents[Name]) => void | Promise<void>

/** Where the application hears of what happened. */
export interface Events {
  /** Returns a function that takes the listener off again. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
}

/** The events, and a way to raise one. */
export interface Emitter extends Events {
  /** Tells the listeners, after the present step and on their own. */
  emit<Name extends EventName>(name: Name, event: OAuthEvents[Name]): void
}

/** Listeners run after the commit and on their own: one that fails or hangs harms nobody. */
export function createEmitter(logger: Logger): Emitter {
  const listeners = new Map<EventName, Set<Listener<EventName>>>()
  return {
    on(name, listener) {
      const known = listeners.get(name) ?? new Set()
      listeners.set(name, known)
      known.add(listener as Listener<EventName>)
      return () => known.delete(listener as Listener<EventName>)
    },
    emit(name, event) {
      for (const listener of listeners.get(name) ?? []) {
        queueMicrotask(async () => {
          try {
            await listener(event)
          } catch (error) {
            logger.error(`A listener of ${name} failed`, error)
          }
        })
      }
    },
  }
}
