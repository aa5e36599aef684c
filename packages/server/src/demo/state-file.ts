import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A client that the demo has registered. */
export interface DemoClient {
  /** Its `client_id`. */
  readonly id: string
  /** Its `client_secret`; null for a public client. */
  readonly secret: string | null
}

/** What a demo has made, kept so that the next start finds it again. It opens nothing but the demo. */
export interface DemoState {
  /** Of the demo's user. */
  readonly email: string
  /** Of the demo's user, made up at the first start. */
  readonly password: string
  /** One of each kind; none with the setting `fapi2`, whose clients have keys of their own. */
  readonly clients: Readonly<Partial<Record<DemoClientName, DemoClient>>>
  /** Where the sandbox sends Stripe's events, and what it signs them with. */
  readonly stripeWebhook: { readonly url: string; readonly secret: string }
  /** Where the sandbox was reached when the service last started, for commands run beside it. */
  readonly running: RunningSandbox
}

/** Where a demo's payment providers are reached, and with which keys. */
export interface RunningSandbox {
  /** Where Stripe is. */
  readonly stripe: string
  /** Stripe's secret key. */
  readonly stripeKey: string
  /** Where Braintree is. */
  readonly braintree: string
  /** Braintree's API key. */
  readonly braintreeKeys: {
    readonly merchantId: string
    readonly publicKey: string
    readonly privateKey: string
  }
  /** Where the sandbox is steered from a browser; null where it has no such page. */
  readonly controlRoom: string | null
}

/** What each of the demo's clients is for. */
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

/** Where the demo was when it last started; null where it never did. */
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
