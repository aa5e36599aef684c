import type { ServerContext } from '../../context.ts'
import type { FeatureRoute } from '../../grants/grant.ts'
import type { Feature } from '../feature.ts'
import { deliverLogouts } from './back-channel.ts'
import { type ClientSessions, createClientSessions, type SessionClient } from './client-sessions.ts'
import { createLogoutEndpoint } from './logout.ts'
import type { LogoutSettings, OpenIdSettings } from './settings.ts'

export interface LogoutSupport {
  readonly routes: readonly FeatureRoute[]
  /**
   * Records that a client gets an ID token for a session, so that the client is notified when the
   * session ends.
   */
  record(sessionClient: SessionClient, context: ServerContext): Promise<void>
  readonly hooks: Pick<Feature, 'endSessions' | 'deliver' | 'start'>
}

/** Creates the parts of `openid()` that let clients sign people out. */
export function createLogoutSupport(
  settings: OpenIdSettings,
  logout: LogoutSettings,
): LogoutSupport {
  const running = new WeakMap<ServerContext, ServerState>()

  /**
   * Returns the state for one server, because the same feature object may be listed in the options
   * of several servers.
   */
  function stateOf(context: ServerContext): ServerState {
    const known = running.get(context)
    if (known) return known
    const closing = new AbortController()
    const parts = { settings, context, signal: closing.signal, inProgress: new Set<string>() }
    const deliver = () => deliverLogouts(parts)
    const deliverNow = () => {
      deliver().catch((error) => {
        if (closing.signal.aborted) return
        context.logger.error('Logout notifications could not be delivered to clients yet', error)
      })
    }
    const { afterCommit = (run) => run() } = context.storage
    const sessions = createClientSessions(logout.giveUpAfter, context, () =>
      afterCommit(deliverNow),
    )
    const made = { sessions, deliver, stop: () => closing.abort() }
    running.set(context, made)
    return made
  }

  const endpoint = createLogoutEndpoint(settings)
  return {
    routes: [
      { method: 'GET', path: '/logout', endpoint, isPage: true, answersHead: false },
      { method: 'POST', path: '/logout', endpoint, isPage: true, needsClock: false },
    ],
    record: (sessionClient, context) => stateOf(context).sessions.record(sessionClient),
    hooks: {
      endSessions: (selector, context: ServerContext) => stateOf(context).sessions.end(selector),
      deliver: (context: ServerContext) => stateOf(context).deliver(),
      start: (context: ServerContext) => stateOf(context).stop,
    },
  }
}

interface ServerState {
  readonly sessions: ClientSessions
  deliver(): Promise<number>
  stop(): void
}
