import type { BlockList } from 'node:net'
import { parseAddresses } from './addresses.ts'

/** An address that a name stands for. */
export interface ResolvedAddress {
  /** `192.0.2.1` or `2001:db8::1`. */
  readonly address: string
  /** 4 or 6. */
  readonly family: number
}

/** Where a request may go beside public addresses, and whom it trusts there. */
export interface OutgoingRules {
  /** Addresses and networks such as `10.0.0.0/8` that may be asked though they are not public. Default: none. */
  readonly privateAddresses?: readonly string[]
  /** Certificates to trust beside those of Node, as PEM. */
  readonly certificates?: readonly string[]
  /** Finds the addresses of a name. Default: the system's own resolver. */
  resolve?(host: string): Promise<readonly ResolvedAddress[]>
}

/** The same, checked. */
export interface OutgoingSettings {
  /** What may be asked though it is not public. */
  readonly allowed: BlockList
  /** Trusted beside those of Node. */
  readonly certificates: readonly string[]
  /** For a whole response, in milliseconds. */
  readonly timeout: number
  /** Finds the addresses of a name; null for the system's own way. */
  readonly resolve: ((host: string) => Promise<readonly ResolvedAddress[]>) | null
}

/** `option` is what the application calls them: a TypeError says where something is wrong. */
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
