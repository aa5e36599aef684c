import { resolveOutgoing } from '@tollgate/http/outgoing'
import type { Clock } from '@tollgate/oauth'
import type { Config } from '../config/config.ts'
import { createProvider } from './providers/kinds.ts'
import type { UpstreamProvider } from './providers/provider.ts'
import { createProviderFetch } from './providers/requests.ts'
import { createSealedCookie, type SealedCookie } from './sealed-cookie.ts'

/** An attempt to sign in with another provider, which the browser keeps until the response. */
export interface SignInAttempt {
  readonly provider: string
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
  readonly returnTo: string
  readonly isFresh: boolean
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number
  /** The session of the person who wants to link the provider. `null` for a sign-in. */
  readonly linkFor: { readonly userId: string; readonly sessionId: string } | null
}

/** An identity that is linked as soon as its person signs in to the account. */
export interface PendingLink {
  readonly userId: string
  readonly provider: string
  readonly subject: string
  /** The verified address, which must still be that of the account. */
  readonly email: string
}

/** The other providers that people can sign in with. */
export interface Upstream {
  /** The providers in the order of their buttons. */
  readonly providers: readonly UpstreamProvider[]
  find(id: string): UpstreamProvider | null
  readonly attempt: SealedCookie<SignInAttempt>
  readonly pendingLink: SealedCookie<PendingLink>
}

const TEN_MINUTES = 600

const LOOPBACK = ['127.0.0.0/8', '::1']

/** Creates the providers of the setting `signInWith`. Sends no request. */
export function createUpstream(options: {
  readonly config: Pick<Config, 'signInWith' | 'settings' | 'mode' | 'secrets'>
  readonly url: string
  readonly clock: Clock
}): Upstream {
  const { config, url, clock } = options
  const rules = config.settings.signInRequests
  // A demo may use a provider on this machine, where everything is being tried.
  const tried = config.mode === 'demo' ? LOOPBACK : []
  const outgoing = resolveOutgoing(
    'signInRequests',
    { ...rules, privateAddresses: [...rules.privateAddresses, ...tried] },
    rules.timeout * 1000,
  )
  const tools = { fetch: createProviderFetch(outgoing), now: () => clock.now() }
  const providers = config.signInWith.map((each) => createProvider(each, tools))
  const cookie = {
    secrets: config.secrets,
    secure: url.startsWith('https:'),
    lifetimeSeconds: TEN_MINUTES,
    now: () => clock.now().getTime(),
  }
  return {
    providers,
    find: (id) => providers.find((provider) => provider.id === id) ?? null,
    attempt: createSealedCookie({ ...cookie, name: 'tollgate_sign_in_with' }),
    pendingLink: createSealedCookie({ ...cookie, name: 'tollgate_pending_link' }),
  }
}

/** Path of the address to which a provider returns people. Each provider has its own. */
export const callbackPath = (provider: string) => `/login/with/${provider}/callback`
