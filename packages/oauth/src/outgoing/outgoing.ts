import {
  createPinnedRequest,
  type OutgoingSettings,
  type ResolvedAddress,
  resolveOutgoing as resolveRules,
  type SendRequest,
} from '@tollgate/http/outgoing'
import type { Clock } from '../clock.ts'
import { parseSeconds } from '../lifetimes.ts'
import { createDocumentFetcher, type DocumentFetcher } from './documents.ts'
import { createFetchSlots, type FetchSlots } from './fetch-slots.ts'

/**
 * Settings for outgoing requests to client-supplied URLs (`jwks_uri`, client ID metadata
 * documents).
 */
export interface OutgoingOptions {
  /**
   * Non-public addresses and networks, such as `10.0.0.0/8`, that requests may go to. This lets
   * anyone who can register a client reach the services there.
   * @default []
   */
  readonly privateAddresses?: readonly string[]
  /** Certificates to trust in addition to those of Node, as PEM. */
  readonly certificates?: readonly string[]
  /**
   * Timeout for the whole response, from 1 to 30 seconds.
   * @default 5
   */
  readonly timeout?: string | number
  /** Resolves a host name to addresses. By default, the system's resolver. */
  resolve?(host: string): Promise<readonly ResolvedAddress[]>
}

const MAX_TIMEOUT = 30

export function resolveOutgoing(options: OutgoingOptions = {}): OutgoingSettings {
  const seconds = parseSeconds('outgoing: timeout', options.timeout ?? 5)
  if (seconds > MAX_TIMEOUT) {
    throw new TypeError(`outgoing: timeout must be 1 to ${MAX_TIMEOUT} seconds.`)
  }
  return resolveRules('outgoing', options, seconds * 1000)
}

/** Sends requests to other servers. */
export interface OutgoingRequests {
  /** Sends one request to a checked address. */
  readonly send: SendRequest
  /** Fetches JSON documents and caches them as long as their servers allow. */
  readonly documents: DocumentFetcher
  /**
   * Limits how many concurrent requests one network may cause. Used for requests other than
   * `documents`, which apply the limit themselves.
   */
  readonly slots: FetchSlots
}

export function createOutgoingRequests(settings: OutgoingSettings, clock: Clock): OutgoingRequests {
  const send = createPinnedRequest(settings)
  const slots = createFetchSlots()
  return { send, documents: createDocumentFetcher(send, slots, clock), slots }
}
