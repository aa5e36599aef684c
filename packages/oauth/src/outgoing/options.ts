import {
  type OutgoingSettings,
  type ResolvedAddress,
  resolveOutgoing as resolveRules,
} from '@tollgate/http/outgoing'
import { parseSeconds } from '../lifetimes.ts'

/** How the server asks at addresses that clients have told it: their keys, their documents. */
export interface OutgoingOptions {
  /**
   * Addresses and networks such as `10.0.0.0/8` that it may ask though they are not public. Default: none. Whoever
   * may register a client can then reach what listens there.
   */
  readonly privateAddresses?: readonly string[]
  /** Certificates to trust beside those of Node, as PEM. */
  readonly certificates?: readonly string[]
  /** The longest time for a whole response, 1 to 30 seconds. Default 5 seconds. */
  readonly timeout?: string | number
  /** Finds the addresses of a name. Default: the system's own resolver. */
  resolve?(host: string): Promise<readonly ResolvedAddress[]>
}

const LONGEST_TIMEOUT = 30

export function resolveOutgoing(options: OutgoingOptions = {}): OutgoingSettings {
  const seconds = parseSeconds('outgoing: timeout', options.timeout ?? 5)
  if (seconds > LONGEST_TIMEOUT) {
    throw new TypeError(`outgoing: timeout must be 1 to ${LONGEST_TIMEOUT} seconds.`)
  }
  return resolveRules('outgoing', options, seconds * 1000)
}
