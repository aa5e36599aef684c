import { Unsupported } from '../../core/errors/errors.ts'
import { requireOneOf, requireText } from '../../core/values/arguments.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { isChargedByUs, type UsageMeter } from './contract.ts'

/** A meter to create at the provider. */
export interface NewMeter {
  /** Display name of the meter. */
  readonly name: string
  /** Event name of the meter, such as `api_calls`. Usage reports refer to the meter by it. */
  readonly eventName: string
  /**
   * How the reported values of a period are combined: their sum, their number, or the last value.
   * @default 'sum'
   */
  readonly aggregation?: UsageMeter['aggregation']
}

/** Options for `meters()` and `createMeter()`. */
export interface MeterOptions {
  /** The provider of the meters. Default: the first provider that counts usage itself. */
  readonly provider?: ProviderName
}

/** Methods for meters, which count usage such as API calls at a provider. */
export interface UsageMeters {
  /**
   * Lists all meters of the provider account.
   * @throws {Unsupported} if no provider counts usage.
   */
  meters(options?: MeterOptions): Promise<UsageMeter[]>
  /**
   * Creates a meter, or returns the existing one with this event name.
   * @throws {InvalidArgument} if the existing meter combines values differently.
   * @throws {Unsupported} if no provider counts usage.
   * @example
   * ```ts
   * await billing.usage.createMeter({ name: 'API calls', eventName: 'api_calls' })
   * ```
   */
  createMeter(meter: NewMeter, options?: MeterOptions): Promise<UsageMeter>
}

const AGGREGATIONS: readonly UsageMeter['aggregation'][] = ['sum', 'count', 'last']

export function createMeters(context: {
  /** The providers that count usage. */
  readonly providers: readonly ProviderName[]
  readonly defaultProvider: ProviderName
  gateway(name: ProviderName): Promise<Gateway>
}): UsageMeters {
  const partOf = async ({ provider: wanted }: MeterOptions) => {
    const [first = context.defaultProvider] = context.providers
    const provider = wanted ?? first
    if (context.providers.includes(provider)) {
      const part = requireGatewayPart(await context.gateway(provider), 'usage')
      if (!isChargedByUs(part)) return part
    }
    throw new Unsupported(`${provider} has no meters`, { provider, capability: 'usage' })
  }
  return {
    meters: async (options = {}) => (await partOf(options)).meters(),
    async createMeter({ name, eventName, aggregation = 'sum' }, options = {}) {
      requireText('name of the meter', name)
      requireText('event name of the meter', eventName)
      requireOneOf('aggregation', aggregation, AGGREGATIONS)
      return (await partOf(options)).createMeter({ name, eventName, aggregation })
    },
  }
}
