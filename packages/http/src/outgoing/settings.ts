import type { BlockList } from 'node:net'
import { parseAddresses } from './addresses.ts'

/** An IP address that a host name resolves to. */
export interface ResolvedAddress {
  /** The IP address, such as `192.0.2.1` or `2001:db8::1`. */
  readonly address: string
  /** IP version: 4 or 6. */
  readonly family: number
}

/**
 * Exceptions for outgoing requests: private addresses that are allowed and certificates that are
 * trusted.
 */
export interface OutgoingRules {
  /**
   * Addresses and networks such as `10.0.0.0/8` that may be requested although they are not public.
   * @default []
   */
  readonly privateAddresses?: readonly string[]
  /** Certificates to trust in addition to those of Node, as PEM. */
  readonly certificates?: readonly string[]
  /** Resolves a host name. Defaults to the system's resolver. */
  resolve?(host: string): Promise<readonly ResolvedAddress[]>
}

/** Validated `OutgoingRules`. */
export interface OutgoingSettings {
  /** Addresses that may be requested although they are not public. */
  readonly allowed: BlockList
  /** Certificates to trust in addition to those of Node, as PEM. */
  readonly certificates: readonly string[]
  /** Timeout for a whole response, in milliseconds. */
  readonly timeout: number
  /** Resolves a host name. `null` for the system's resolver. */
  readonly resolve: ((host: string) => Promise<readonly ResolvedAddress[]>) | null
}

/**
 * Validates `OutgoingRules`. `option` is the name of the application's option, for errors.
 * @throws {TypeError} for an invalid address.
 */
export function resolveOutgoing(
  option: string,
  rules: OutgoingRules,
  timeout: number,
): OutgoingSettings {
  return {
    allowed: parseAddresses(`${option}: privateAddresses`, rules.privateAddresses ?? []),
    certificates: [...(rules.certificates ?? [])],
    timeout,
    resolve: rules.resolve ? (host) => rules.resolve?.(host) ?? Promise.resolve([]) : null,
  }
}
