import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A client that the demo registered. */
export interface DemoClient {
  /** Its `client_id`. */
  readonly id: string
  /** Its `client_secret`; null for a public client. */
  readonly secret: string | null
}

/**
 * Credentials that a demo created. They are stored, so that the next start finds them again, and
 * are of no use outside the demo.
 */
export interface DemoState {
  /** E-mail address of the demo's user. */
  readonly email: string
  /** Password of the demo's user, generated at the first start. */
  readonly password: string
  /** One client of each kind. Empty with the setting `fapi2`, which rejects them. */
  readonly clients: Readonly<Partial<Record<DemoClientName, DemoClient>>>
  /** The endpoint for the sandbox's Stripe events, and its signing secret. */
  readonly stripeWebhook: { readonly url: string; readonly secret: string }
  /**
   * Address and keys of the sandbox when the service last started, for commands that run beside it.
   */
  readonly running: RunningSandbox
}

/** Addresses and keys of a demo's payment sandbox. */
export interface RunningSandbox {
  /** Base URL of the Stripe sandbox. */
  readonly stripe: string
  /** Stripe's secret key. */
  readonly stripeKey: string
  /** Base URL of the Braintree sandbox. */
  readonly braintree: string
  /** Braintree's merchant id and API keys. */
  readonly braintreeKeys: {
    readonly merchantId: string
    readonly publicKey: string
    readonly privateKey: string
  }
  /** URL of the page that controls the sandbox. `null` if there is none. */
  readonly controlRoom: string | null
}

/** The kinds of the demo's clients. */
export type DemoClientName = 'web' | 'password' | 'public' | 'implicit' | 'service'

const fileIn = (dataDir: string) => join(dataDir, 'demo.json')

export function readStateFile(dataDir: string): Partial<DemoState> {
  const file = fileIn(dataDir)
  if (!existsSync(file)) return {}
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Error(`${file} cannot be read; delete it to let the demo begin anew`, { cause })
  }
}

/** Base URL of the service when the demo last started. `null` if it never did. */
export function serviceUrlIn(dataDir: string): string | null {
  const { stripeWebhook } = readStateFile(dataDir)
  return stripeWebhook ? new URL(stripeWebhook.url).origin : null
}

export function writeStateFile(dataDir: string, state: Partial<DemoState>): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = fileIn(dataDir)
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
