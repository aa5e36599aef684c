import { Unsupported } from '../errors.ts'
import type { Gateway } from '../gateways/contract/gateway.ts'
import { isChargedByUs, type Meter } from '../gateways/contract/parts/money/usage.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { ProviderName } from '../provider-name.ts'
import { requireText, requireWord } from '../values/arguments.ts'

/** What is to be counted. */
export interface NewMeter {
  /** What people read. */
  readonly name: string
  /** What reports call it. */
  readonly eventName: string
  /** How reports make a sum: added up, counted, or the last one of a period. Default `sum`. */
  readonly aggregation?: Meter['aggregation']
}

/** Where meters are. */
export interface MeterOptions {
  /** Default: the first provider that counts usage. */
  readonly provider?: ProviderName
}

/** What a provider counts. */
export interface Meters {
  /** All that there are. Unsupported where no provider counts usage. */
  meters(options?: MeterOptions): Promise<Meter[]>
  /** Makes one, or gives the one that has this name for events already; InvalidArgument where that adds up otherwise. */
  createMeter(meter: NewMeter, options?: MeterOptions): Promise<Meter>
}

const AGGREGATIONS: readonly Meter['aggregation'][] = ['sum', 'count', 'last']

export function createMeters(context: {
  /** Those that count usage. */
  readonly providers: readonly ProviderName[]
  readonly defaultProvider: ProviderName
  gateway(name: ProviderName): Promise<Gateway>
}): Meters {
  const partOf = async ({ provider: wanted }: MeterOptions) => {
    const [first = context.defaultProvider] = context.providers
    const provider = wanted ?? first
    if (context.providers.includes(provider)) {
      const part = requirePart(await context.gateway(provider), 'usage')
      if (!isChargedByUs(part)) return part
    }
    throw new Unsupported(`${provider} has no meters`, { provider, capability: 'usage' })
  }
  return {
    meters: async (options = {}) => (await partOf(options)).meters(),
    async createMeter({ name, eventName, aggregation = 'sum' }, options = {}) {
      requireText('name of the meter', name)
      requireText('name of its events', eventName)
      requireWord('What a meter makes of its events', aggregation, AGGREGATIONS)
      return (await partOf(options)).createMeter({ name, eventName, aggregation })
    },
  }
}
