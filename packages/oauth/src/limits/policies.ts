import { NETWORKS_IN_TOTAL, type RatePolicy, type SharePolicy } from './resources.ts'

const MINUTE = 60

/** Limit for device user codes (RFC 8628 §5.1): failures per user. */
export const userCodeGuesses = { max: 20, seconds: 15 * MINUTE } as const

/**
 * Limits for how often clients without a secret and self-registered clients may send costly
 * requests. Counted per network unless stated otherwise.
 */
export const rates = {
  deviceCodes: { name: 'device codes', points: 300, seconds: 10 * MINUTE },
  pushedRequests: { name: 'pushed requests', points: 300, seconds: 10 * MINUTE },
  /** Client assertions of one self-registered client. Each is stored until it expires. */
  assertions: { name: 'assertions', points: 1000, seconds: 10 * MINUTE },
} as const satisfies Record<string, RatePolicy>

/** Limits for data that is stored for unauthenticated callers until it is used. */
export const shares = {
  /** Self-registered clients that have not got a token yet. */
  unusedClients: shareOf(100),
  /** Device codes that no user has entered yet. */
  deviceCodes: shareOf(100),
  /** Pushed requests that were not used yet. */
  pushedRequests: shareOf(100),
  /**
   * Requests of one confidential client registered by the operator or a user. Counted per client,
   * not per network.
   */
  ofProvenClient: { ofOneNetwork: 10_000, total: null },
} as const satisfies Record<string, SharePolicy>

function shareOf(ofOneNetwork: number): SharePolicy {
  return { ofOneNetwork, total: ofOneNetwork * NETWORKS_IN_TOTAL }
}
