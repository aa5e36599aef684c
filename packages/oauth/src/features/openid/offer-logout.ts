import type { ServerContext } from '../../context.ts'
import type { FeatureRoute } from '../../grants/grant.ts'
import type { Feature } from '../feature.ts'
import { deliverLogouts } from './back-channel.ts'
import { type ClientSessions, createClientSessions, type ToldClient } from './client-sessions.ts'
import { logoutEndpoint } from './logout.ts'
import type { LogoutSettings, OpenIdSettings } from './settings.ts'

export interface OfferedLogout {
  readonly routes: readonly FeatureRoute[]
  /** A client gets an ID token. */
  note(told: ToldClient, context: ServerContext): Promise<void>
  readonly hooks: Pick<Feature, 'endSessions' | 'deliver' | 'start'>
}

/** What `openid()` has besides when clients can sign people out. */
export function offerLogout(settings: OpenIdSettings, logout: LogoutSettings): OfferedLogout {
  const running = new WeakMap<ServerContext, Running>()

  /** Of one server: the same feature may be listed in several. */
  function runningIn(context: ServerContext): Running {
    const known = running.get(context)
    if (known) return known
    const closing = new AbortController()
    const parts = { settings, context, signal: closing.signal, underWay: new Set<string>() }
    const deliver = () => deliverLogouts(parts)
    const sessions = createClientSessions(logout.giveUpAfter, context, () => {
      deliver().catch((error) => {
        if (closing.signal.aborted) return
        context.logger.error('Clients could not be told that somebody has signed out yet', error)
      })
    })
    const made = { sessions, deliver, stop: () => closing.abort() }
    running.set(context, made)
    return made
  }

  const endpoint = logoutEndpoint(settings)
  return {
    routes: [
      { method: 'GET', path: '/logout', endpoint, isPage: true, answersHead: false },
      { method: 'POST', path: '/logout', endpoint, isPage: true, needsClock: false },
    ],
    note: (told, context) => runningIn(context).sessions.note(told),
    hooks: {
      endSessions: (selector, context: ServerContext) => runningIn(context).sessions.end(selector),
      deliver: (context: ServerContext) => runningIn(context).deliver(),
      start: (context: ServerContext) => runningIn(context).stop,
    },
  }
}

interface Running {
  readonly sessions: ClientSessions
  deliver(): Promise<number>
  stop(): void
}
