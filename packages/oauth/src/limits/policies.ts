import { MIN_TOTAL_TO_NETWORK_RATIO, type RatePolicy, type TicketQuota } from './resources.ts'

const MINUTE = 60

/**
 * How many wrong user codes of devices a signed-in user may enter within 15 minutes (RFC 8628
 * §5.1).
 */
export const userCodeGuesses = { max: 20, seconds: 15 * MINUTE } as const

/**
 * How often public and self-registered clients may send requests that store data. Counted per
 * network unless stated otherwise.
 */
export const requestRates = {
  deviceCodes: { name: 'device codes', points: 300, seconds: 10 * MINUTE },
  pushedRequests: { name: 'pushed requests', points: 300, seconds: 10 * MINUTE },
  /** Client assertions of one self-registered client. Each is stored until it expires. */
  assertions: { name: 'assertions', points: 1000, seconds: 10 * MINUTE },
} as const satisfies Record<string, RatePolicy>

/**
 * How many unused tickets of each kind are stored, such as pushed requests that no person has
 * opened.
 */
export const ticketQuotas = {
  /** Self-registered clients that have not got a token yet. */
  unusedClients: createTicketQuota(100),
  /** Device codes that no user has entered yet. */
  deviceCodes: createTicketQuota(100),
  /** Pushed requests that were not used yet. */
  pushedRequests: createTicketQuota(100),
  /**
   * Requests of one confidential client registered by the operator or a user. Counted per client,
   * not per network.
   */
  ofProvenClient: { ofOneNetwork: 10_000, total: null },
} as const satisfies Record<string, TicketQuota>

function createTicketQuota(ofOneNetwork: number): TicketQuota {
  return { ofOneNetwork, total: ofOneNetwork * MIN_TOTAL_TO_NETWORK_RATIO }
}
