import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A client that the demo registered. */
export interface DemoClient {
  /** The `client_id`. */
  readonly id: string
  /** The `client_secret`. `null` for a public client. */
  readonly secret: string | null
}

/**
 * State of a demo that is stored in its data folder: the generated credentials and the address of
 * the sandbox.
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
   * Address and keys of the sandbox at the last start, for commands that run in another process.
   */
  readonly running: RunningSandbox
}

/** Addresses and keys of a demo's payment sandbox. */
export interface RunningSandbox {
  /** Base URL of the Stripe sandbox. */
  readonly stripe: string
  /** Secret API key for the Stripe sandbox. */
  readonly stripeKey: string
  /** Base URL of the Braintree sandbox. */
  readonly braintree: string
  /** Merchant id and API keys for the Braintree sandbox. */
  readonly braintreeKeys: {
    readonly merchantId: string
    readonly publicKey: string
    readonly privateKey: string
  }
  /** URL of the page that controls the sandbox. `null` if there is none. */
  readonly controlRoom: string | null
  /** URL of the mail server whose mailbox the control room shows. `null` if there is none. */
  readonly mailbox?: string | null
}

/** Names of the demo's clients, one for each kind of client. */
export type DemoClientName = 'web' | 'password' | 'public' | 'implicit' | 'service'

const fileIn = (dataDir: string) => join(dataDir, 'demo.json')

export function readStateFile(dataDir: string): Partial<DemoState> {
  const file = fileIn(dataDir)
  if (!existsSync(file)) return {}
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Error(`${file} cannot be read; delete it to start the demo from scratch`, { cause })
  }
}

/**
 * Returns the base URL of the service at the last start of the demo. `null` if the demo was never
 * started.
 */
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
