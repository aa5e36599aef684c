import { generateRandomCodeVerifier, generateRandomNonce, generateRandomState } from 'oauth4webapi'
import type { UpstreamAttempt, UpstreamProvider } from './providers/provider.ts'
import { callbackPath, type KeptAttempt } from './upstream.ts'

/** Creates an attempt with new random values. */
export function createAttempt(
  provider: UpstreamProvider,
  more: Pick<KeptAttempt, 'returnTo' | 'isFresh' | 'linkFor'>,
  now: Date,
): KeptAttempt {
  return {
    provider: provider.id,
    state: generateRandomState(),
    nonce: generateRandomNonce(),
    codeVerifier: generateRandomCodeVerifier(),
    startedAt: now.getTime(),
    ...more,
  }
}

/** Returns the attempt as the provider's module needs it. `url` is that of this service. */
export function toUpstreamAttempt(kept: KeptAttempt, url: string): UpstreamAttempt {
  const { state, nonce, codeVerifier, isFresh, startedAt } = kept
  return {
    state,
    nonce,
    codeVerifier,
    isFresh,
    startedAt: new Date(startedAt),
    redirectUri: `${url}${callbackPath(kept.provider)}`,
  }
}
