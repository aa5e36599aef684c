import type { Logger } from '../core/values/logger.ts'
import type { Observe } from '../core/values/observer.ts'
import type { ProviderName } from '../core/values/provider-name.ts'
import type { StandingsByStatus } from '../core/values/subscription-state.ts'
import type { Gateway } from './gateway.ts'
import type { Capability } from './gateway-parts.ts'
import type { WebhookHandler } from './handlers.ts'

/** The properties of a provider that are known without loading its SDK. */
export interface ProviderManifest {
  /** Name of the provider. Stored with every user and subscription, so it must never change. */
  readonly name: ProviderName
  /** Default path for its webhooks. */
  readonly webhookPath: string
  /**
   * Whether the provider verifies the webhook URL with a GET request. Its gateway then has
   * `answerChallenge`.
   */
  readonly challenges?: boolean
  /**
   * Event types after which our rows may be outdated. All other events are only stored and
   * acknowledged.
   */
  readonly events: readonly string[]
  /**
   * Event types that report usage which was accepted but then dropped. They need a separate
   * endpoint for `thin` events, which contain only ids. The gateway then has `usage.readDropped`.
   */
  readonly usageEvents?: readonly string[]
  /**
   * Number of digits of a usage value that the provider counts exactly, including decimals.
   * @default all stored digits
   */
  readonly usageDigits?: number
  /**
   * The meaning of the provider's subscription statuses, by status. A status that is missing here
   * means `open`.
   */
  readonly statuses: StandingsByStatus
  /**
   * `us` if billing counts usage and charges it. Unset: the provider counts it. Must match the
   * capability `usage`.
   */
  readonly usageCountedBy?: 'us'
  /** The capabilities of the provider's gateway. */
  readonly can: readonly Capability[]
}

/** Parts of the application that a gateway may use. */
export interface GatewayDependencies {
  /** The application's logger, for errors that no caller sees. */
  readonly logger: Logger
  /**
   * Sends a request and reports it to the application's observer. `undefined` if the application
   * has no observer.
   * @see BillingOptions.observe
   */
  readonly observe?: Observe
}

/** A configured provider, as passed to `createBilling()`. */
export interface Provider extends ProviderManifest {
  /**
   * Ids of the prices on sale. Others are rejected before any request is sent.
   * @default all prices
   */
  readonly prices?: readonly string[]
  /**
   * Webhook handlers (`handle<Event>` methods) for events whose names the compiler does not know.
   */
  readonly handlers?: Readonly<Record<string, WebhookHandler>>
  /**
   * Creates the gateway. Called once, on first use: load the SDK here. Without `tools`, errors are
   * logged to `console`.
   */
  connect(tools?: GatewayDependencies): Promise<Gateway>
}

/**
 * Defines a provider. The compiler checks that its gateway has every capability listed in `can`.
 * @example
 * const paddle = (options: PaddleOptions) =>
 *   defineProvider({ name: 'paddle', can: ['quantities'], connect: () => createGateway(options), … })
 */
export function defineProvider<const Can extends Capability>(
  provider: Provider & {
    readonly can: readonly Can[]
    connect(tools?: GatewayDependencies): Promise<Gateway<Can>>
  },
): Provider {
  return provider
}
