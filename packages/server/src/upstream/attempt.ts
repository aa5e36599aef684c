import { generateRandomCodeVerifier, generateRandomNonce, generateRandomState } from 'oauth4webapi'
import type { Logger } from 'pino'
import type { UpstreamAttempt, UpstreamFailure, UpstreamProvider } from './providers/provider.ts'
import { callbackPath, type SignInAttempt } from './upstream.ts'

/**
 * Creates an attempt to sign in with a provider, with a new random state, nonce and PKCE verifier.
 */
export function createAttempt(
  provider: UpstreamProvider,
  more: Pick<SignInAttempt, 'returnTo' | 'isFresh' | 'linkFor'>,
  now: Date,
): SignInAttempt {
  return {
    provider: provider.id,
    state: generateRandomState(),
    nonce: generateRandomNonce(),
    codeVerifier: generateRandomCodeVerifier(),
    startedAt: now.getTime(),
    ...more,
  }
}

/**
 * Converts an attempt to the form that providers take, with the redirect URI. `url` is the base URL
 * of this service.
 */
export function toUpstreamAttempt(attempt: SignInAttempt, url: string): UpstreamAttempt {
  const { state, nonce, codeVerifier, isFresh, startedAt } = attempt
  return {
    state,
    nonce,
    codeVerifier,
    isFresh,
    startedAt: new Date(startedAt),
    redirectUri: `${url}${callbackPath(attempt.provider)}`,
  }
}

/** Logs why a sign-in failed, unless the person cancelled it. Without codes and tokens. */
export function logFailure(
  logger: Logger,
  provider: UpstreamProvider,
  { reason, message }: UpstreamFailure,
): void {
  if (reason === 'cancelled') return
  const line = { provider: provider.id, reason, problem: message }
  logger.warn(line, 'A sign-in with another provider failed')
}
