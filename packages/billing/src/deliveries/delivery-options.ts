import { type OutgoingRules, type OutgoingSettings, resolveOutgoing } from '@tollgate/http/outgoing'
import { type BillingEventType, billingEventTypes } from '../events/billing-event.ts'
import { requireSecret } from '../gateways/contract/secrets.ts'
import { parseKey } from './signature.ts'

/** An address of an application, in whatever language, that is told of events. */
export interface DeliveryEndpoint {
  /** By https; plain http only where `privateAddresses` opens the address. */
  readonly url: string
  /** `whsec_` and 24 to 64 random bytes in base64. Several while one is being changed: all of them sign. */
  readonly secret: string | readonly string[] | undefined
  /** Only these types of event. Default: all. */
  readonly types?: readonly BillingEventType[]
  /**
   * What lists and the log call it. A new address under the name of an old one gets what waited there. Default: the
   * address without its query, which may hold a secret.
   */
  readonly name?: string
}

/** Where events go as signed webhooks (Standard Webhooks), and how. */
export interface DeliveryOptions extends OutgoingRules {
  /** Each gets the events that it wants. */
  readonly endpoints: readonly DeliveryEndpoint[]
  /** Addresses and networks such as `10.0.0.0/8` that events may be sent to though they are not public. */
  readonly privateAddresses?: readonly string[]
  /** Seconds for a response, 1 to 30. Default 15. */
  readonly timeout?: number
}

export interface EndpointSettings {
  readonly name: string
  readonly url: URL
  readonly keys: readonly Buffer[]
  wants(type: BillingEventType): boolean
}

export interface DeliverySettings {
  readonly endpoints: readonly EndpointSettings[]
  readonly outgoing: OutgoingSettings
}

const LONGEST_TIMEOUT = 30
/** Of the column. */
const LONGEST_NAME = 255

export function resolveDeliveries(options: DeliveryOptions = { endpoints: [] }): DeliverySettings {
  const { timeout = 15 } = options
  if (!Number.isFinite(timeout) || timeout < 1 || timeout > LONGEST_TIMEOUT) {
    throw new TypeError(`deliveries.timeout: expected 1 to ${LONGEST_TIMEOUT} seconds.`)
  }
  const endpoints = options.endpoints.map(resolveEndpoint)
  const names = endpoints.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) {
    throw new TypeError(`deliveries.endpoints: two are called '${twice}': give one a name.`)
  }
  return { endpoints, outgoing: resolveOutgoing('deliveries', options, timeout * 1000) }
}

function resolveEndpoint(
  { url: text, secret, types, name: given }: DeliveryEndpoint,
  at: number,
): EndpointSettings {
  const option = `deliveries.endpoints.${at}`
  const url = requireUrl(option, text)
  const name = given ?? `${url.origin}${url.pathname}`
  if (name.trim() === '' || name.length > LONGEST_NAME) {
    throw new TypeError(`${option}.name: expected 1 to ${LONGEST_NAME} characters.`)
  }
  const unknown = types?.find((type) => !billingEventTypes.includes(type))
  if (unknown !== undefined) {
    throw new TypeError(`${option}.types: there is no event '${unknown}'.`)
  }
  const secrets = typeof secret === 'string' ? [secret] : (secret ?? [])
  if (secrets.length === 0) requireSecret(`${option}.secret`, undefined)
  const keys = secrets.map((each) => {
    requireSecret(`${option}.secret`, each)
    return parseKey(`${option}.secret`, each)
  })
  return { name, url, keys, wants: (type) => types?.includes(type) ?? true }
}

/** Never repeats it: it may hold a password. */
function requireUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `${option}.url: expected an address such as https://app.example.com/events.`,
    )
  }
  if (url.username === '' && url.password === '') return url
  throw new TypeError(`${option}.url: it has a user or a password, which are not sent.`)
}
