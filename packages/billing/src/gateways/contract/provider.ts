import type { ProviderName } from '../../provider-name.ts'
import type { Logger } from '../../values/logger.ts'
import type { Statuses } from '../../values/subscription-state.ts'
import type { Gateway } from './gateway.ts'
import type { WebhookHandler } from './handlers.ts'
import type { Capability } from './parts.ts'

/** What can be said of a provider before its SDK is loaded. */
export interface ProviderFacts {
  /** Stored with every user and subscription, so it never changes. */
  readonly name: ProviderName
  /** Where its webhooks arrive, unless the application says otherwise. */
  readonly webhookPath: string
  /** Whether it asks by GET if that address is ours. Its gateway then has `answerChallenge`. */
  readonly challenges?: boolean
  /** Events after which something of ours may be out of date. All others are kept and acknowledged. */
  readonly events: readonly string[]
  /**
   * Events that tell of usage which was taken and is dropped. They are only named, and registered by themselves: its
   * `webhookEndpoints` make `thin` ones. Its gateway then has `usage.readDropped`.
   */
  readonly usageEvents?: readonly string[]
  /** How many digits of a report of usage it counts exactly, those behind the point included. Default: all that are stored. */
  readonly usageDigits?: number
  /** Its words for a subscription's state that do not mean that it runs. */
  readonly statuses: Statuses
  /** `us` where we count usage and charge it; default: the provider counts it. Its part `usage` says the same. */
  readonly usageCountedBy?: 'us'
  /** The parts that its gateway has. */
  readonly can: readonly Capability[]
}

/** What a gateway may use of the application. */
export interface ProviderTools {
  /** The application's, for what no caller can be told. */
  readonly logger: Logger
}

/** A provider with its options: what `createBilling` takes. */
export interface Provider extends ProviderFacts {
  /** Ids of the plans that are sold; any other is refused before a call. Default: all are taken. */
  readonly plans?: readonly string[]
  /** `handle<Event>` methods for events whose names the compiler does not know. */
  readonly handlers?: Readonly<Record<string, WebhookHandler>>
  /** Makes the gateway, once, when it is first needed: the moment to load an SDK. Without `tools` it reports to `console`. */
  connect(tools?: ProviderTools): Promise<Gateway>
}

/**
 * A provider whose gateway has every part that `can` names; the compiler looks.
 * @example
 * const paddle = (options: PaddleOptions) =>
 *   defineProvider({ name: 'paddle', can: ['quantities'], connect: () => createGateway(options), … })
 */
export function defineProvider<const Can extends Capability>(
  provider: Provider & {
    readonly can: readonly Can[]
    connect(tools?: ProviderTools): Promise<Gateway<Can>>
  },
): Provider {
  return provider
}
