import { NETWORKS_IN_TOTAL, type RatePolicy, type SharePolicy } from './resources.ts'

const MINUTE = 60

/** Codes that people type for a device (RFC 8628 §5.1): places for failures of one person. */
export const userCodeGuesses = { most: 20, seconds: 15 * MINUTE } as const

/** What clients without a secret of theirs may ask for from one network. */
export const rates = {
  deviceCodes: { name: 'device codes', points: 300, seconds: 10 * MINUTE },
  pushedRequests: { name: 'pushed requests', points: 300, seconds: 10 * MINUTE },
  /** Assertions by which one client that registered itself proves itself: each is a row until it has expired. */
  assertions: { name: 'assertions', points: 1000, seconds: 10 * MINUTE },
} as const satisfies Record<string, RatePolicy>

/** What is kept for strangers until somebody uses it. */
export const shares = {
  /** Clients that registered themselves, or came by a document, and got no token yet. */
  unusedClients: shareOf(100),
  /** Codes of devices that nobody has typed yet. */
  deviceCodes: shareOf(100),
  /** Pushed requests that nobody has answered yet. */
  pushedRequests: shareOf(100),
  /** The same of one client that has proven itself and that the operator has registered: only its own count. */
  ofProvenClient: { ofOneNetwork: 10_000, total: null },
} as const satisfies Record<string, SharePolicy>

function shareOf(ofOneNetwork: number): SharePolicy {
  return { ofOneNetwork, total: ofOneNetwork * NETWORKS_IN_TOTAL }
}
