import { type OutgoingRules, type OutgoingSettings, resolveOutgoing } from '@tollgate/http/outgoing'
import { type BillingEventType, billingEventTypes } from '../../core/events/billing-event.ts'
import { requireSecret } from '../../providers/secrets.ts'
import { parseDeliverySecret } from './signature.ts'

/** An endpoint of the application that receives billing events as webhooks. */
export interface DeliveryEndpoint {
  /**
   * URL of the endpoint, with https. Plain http is only allowed for addresses listed in
   * `privateAddresses`.
   */
  readonly url: string
  /**
   * Signing secret: `whsec_` followed by 24 to 64 random bytes in base64. While you rotate secrets,
   * pass several: each delivery is signed with all of them.
   */
  readonly secret: string | readonly string[] | undefined
  /** Types of events to send. Default: all types of billing events, and no `applicationTypes`. */
  readonly types?: readonly (BillingEventType | (string & {}))[]
  /**
   * Name of the endpoint in lists and logs. Keep the name when you change the URL, so that waiting
   * deliveries are sent to the new URL. Default: the URL without its query, which may contain a
   * secret.
   */
  readonly name?: string
}

/**
 * Endpoints of the application that receive billing events as signed webhooks (Standard Webhooks),
 * and settings for the requests.
 */
export interface DeliveryOptions extends OutgoingRules {
  /** The endpoints. Each receives the types of events that it lists in `types`. */
  readonly endpoints: readonly DeliveryEndpoint[]
  /**
   * Types of further events, which the application sends with `billing.deliveries.send()`. They go
   * only to endpoints that list the type in `types`.
   * @default none
   */
  readonly applicationTypes?: readonly string[]
  /**
   * Addresses and networks such as `10.0.0.0/8` to which events may be sent although they are not
   * public.
   */
  readonly privateAddresses?: readonly string[]
  /**
   * Seconds to wait for an endpoint's response, 1 to 30.
   * @default 15
   */
  readonly timeout?: number
}

export interface EndpointSettings {
  readonly name: string
  readonly url: URL
  readonly keys: readonly Buffer[]
  wants(type: string): boolean
}

export interface DeliverySettings {
  /** Types of the events that the application may send. */
  readonly applicationTypes: readonly string[]
  readonly endpoints: readonly EndpointSettings[]
  readonly outgoing: OutgoingSettings
}

const MAX_TIMEOUT = 30
/** Length of the database column. */
const MAX_NAME_LENGTH = 255

export function resolveDeliveries(options: DeliveryOptions = { endpoints: [] }): DeliverySettings {
  const { timeout = 15, applicationTypes = [] } = options
  if (!Number.isFinite(timeout) || timeout < 1 || timeout > MAX_TIMEOUT) {
    throw new TypeError(`deliveries.timeout: expected 1 to ${MAX_TIMEOUT} seconds.`)
  }
  checkApplicationTypes(applicationTypes)
  const endpoints = options.endpoints.map((endpoint, at) =>
    resolveEndpoint(endpoint, `deliveries.endpoints.${at}`, applicationTypes),
  )
  const names = endpoints.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) {
    throw new TypeError(
      `deliveries.endpoints: two are called '${twice}': give one of them another name.`,
    )
  }
  return {
    endpoints,
    applicationTypes,
    outgoing: resolveOutgoing('deliveries', options, timeout * 1000),
  }
}

const isBillingType = (type: string) => (billingEventTypes as readonly string[]).includes(type)

function checkApplicationTypes(types: readonly string[]): void {
  const invalid = types.find((type) => !/^[\w.-]{1,64}$/.test(type) || isBillingType(type))
  if (invalid === undefined) return
  throw new TypeError(
    `deliveries.applicationTypes: '${invalid}' must have 1 to 64 letters, digits, dots, hyphens or underscores, and must not be an event type of billing.`,
  )
}

function resolveEndpoint(
  { url: text, secret, types, name: given }: DeliveryEndpoint,
  option: string,
  applicationTypes: readonly string[],
): EndpointSettings {
  const url = requireUrl(option, text)
  const name = given ?? `${url.origin}${url.pathname}`
  if (name.trim() === '' || name.length > MAX_NAME_LENGTH) {
    throw new TypeError(`${option}.name: expected 1 to ${MAX_NAME_LENGTH} characters.`)
  }
  const unknown = types?.find((type) => !isBillingType(type) && !applicationTypes.includes(type))
  if (unknown !== undefined) {
    throw new TypeError(`${option}.types: there is no event '${unknown}'.`)
  }
  const secrets = typeof secret === 'string' ? [secret] : (secret ?? [])
  if (secrets.length === 0) requireSecret(`${option}.secret`, undefined)
  const keys = secrets.map((each) => {
    requireSecret(`${option}.secret`, each)
    return parseDeliverySecret(`${option}.secret`, each)
  })
  return { name, url, keys, wants: (type) => types?.includes(type) ?? isBillingType(type) }
}

/** Checks the URL of an endpoint. The error never repeats it, because it may contain a password. */
function requireUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`${option}.url: expected a URL such as https://app.example.com/events.`)
  }
  if (url.username === '' && url.password === '') return url
  throw new TypeError(
    `${option}.url: it has a user name or a password, which are not sent: remove them.`,
  )
}

declare module '../../options.ts' {
  interface BillingOptions<User> {
    /**
     * Endpoints that receive billing events as signed webhooks, for example applications in other
     * languages.
     */
    readonly deliveries?: DeliveryOptions
  }

  interface ResolvedOptions {
    readonly deliveries: DeliverySettings
  }
}
